// Two clocks: rotary positions. The query's and the key's position turn hands of several speeds; the score sees their distance alone.
import { make, svg, set, choice, button, speaker, draggable, inside, paced, number } from './kit.js';

const PAIRS = 4, LAST = 32, WIDE = 720, HIGH = 430, RADIUS = 92, LINE = 238, CURVE = 290, FOOT = 400;
const along = (position) => 40 + (position / LAST) * (WIDE - 80);
const between = (value, low, high) => Math.min(high, Math.max(low, value));

/** Radians a position, for each pair of features: base^(-2i/d), from 1 for the first pair down. */
export const speeds = (pairs = PAIRS, base = 100) => Array.from({ length: pairs }, (_, i) => base ** (-i / pairs));

/** A vector of pairs, turned by its position: the pair i by the angle position · speeds[i]. */
export function rotated(vector, position, omega) {
  return omega.flatMap((speed, i) => {
    const [x, y] = vector.slice(2 * i, 2 * i + 2), angle = position * speed, c = Math.cos(angle), s = Math.sin(angle);
    return [x * c - y * s, x * s + y * c];
  });
}

/** The score of a query and a key that were equal before they were turned, divided by its largest value: a mean of cosines. */
export const score = (distance, omega) => omega.reduce((sum, speed) => sum + Math.cos(distance * speed), 0) / omega.length;

export function render(root) {
  const omega = speeds(), first = { query: 13, key: 9 };
  const at = { ...first };
  let picked = 1;
  const drawing = svg('svg', { viewBox: `0 0 ${WIDE} ${HIGH}`, role: 'group', 'aria-label': 'two clocks and a curve of scores' });

  const dials = ['query', 'key'].map((kind, k) => {
    const x = 180 + 360 * k, y = 108;
    drawing.append(svg('circle', { class: 'face', cx: x, cy: y, r: RADIUS }), svg('line', { class: 'noon', x1: x, y1: y - RADIUS, x2: x, y2: y - RADIUS + 8 }));
    const arc = svg('path', { class: 'arc' });
    const hands = omega.map((_, i) => svg('line', { class: `hand ${kind}`, x1: x, y1: y, 'stroke-width': 6 - i }));
    const name = svg('text', { x, y: y + RADIUS + 20, 'text-anchor': 'middle', class: kind });
    drawing.append(arc, ...hands, svg('circle', { cx: x, cy: y, r: 4, class: kind }), name);
    return { x, y, hands, arc, name, kind };
  });

  drawing.append(svg('line', { class: 'line', x1: along(0), x2: along(LAST), y1: LINE, y2: LINE }));
  const bar = svg('rect', { class: 'bar', y: LINE - 10, height: 20, rx: 10 });
  drawing.append(bar);
  const marks = ['query', 'key'].map((kind) => {
    const circle = svg('circle', { class: `end ${kind}`, cy: LINE, r: 14 });
    const text = svg('text', { class: 'mark', y: LINE + 5, 'text-anchor': 'middle' });
    drawing.append(circle, text);
    return { circle, text };
  });
  for (let p = 0; p <= LAST; p += 8) drawing.append(svg('text', { x: along(p), y: LINE + 32, 'text-anchor': 'middle', class: 'small' }, String(p)));

  const curveAt = (distance) => [WIDE / 2 + (distance / LAST) * (WIDE / 2 - 40), FOOT - ((score(distance, omega) + 1) / 2) * (FOOT - CURVE)];
  const steps = Array.from({ length: 257 }, (_, k) => curveAt(-LAST + k / 4));
  const dotNow = svg('circle', { class: 'now', r: 8 });
  drawing.append(
    ...[1, 0, -1].flatMap((tick) => {
      const y = FOOT - ((tick + 1) / 2) * (FOOT - CURVE);
      return [svg('line', { class: 'line', x1: 40, x2: WIDE - 40, y1: y, y2: y, opacity: tick ? 0.4 : 1 }),
        svg('text', { x: 34, y: y + 5, 'text-anchor': 'end', class: 'small' }, number(tick, 0))];
    }),
    svg('path', { class: 'curve', d: `M${steps.map((one) => one.join(' ')).join(' L')}` }), dotNow,
    svg('text', { x: 40, y: FOOT + 24, class: 'small' }, 'key is behind'), svg('text', { x: WIDE / 2, y: FOOT + 24, 'text-anchor': 'middle', class: 'small' }, 'distance 0'),
    svg('text', { x: WIDE - 40, y: FOOT + 24, 'text-anchor': 'end', class: 'small' }, 'key is ahead'),
  );

  const draw = paced(paint), tells = [];
  const place = (px) => Math.round(((px - 40) / (WIDE - 80)) * LAST);
  ['query', 'key'].forEach((kind, k) => tells.push(draggable(marks[k].circle, {
    label: `position of the ${kind}`,
    move: ([x]) => { at[kind] = between(place(x), 0, LAST); draw(); },
    nudge: ([x, y]) => { at[kind] = between(at[kind] + x + y, 0, LAST); draw(); },
    said: () => `position ${at[kind]}`,
  })));
  const together = (middle) => {
    const half = (at.key - at.query) / 2, least = Math.abs(half), centre = between(middle, least, LAST - least);
    at.query = Math.round(centre - half);
    at.key = Math.round(centre - half) + Math.round(2 * half);
    draw();
  };
  let held = 0; // from the middle of the bar to where it was taken
  bar.addEventListener('pointerdown', (event) => { held = inside(drawing, event)[0] - along((at.query + at.key) / 2); });
  tells.push(draggable(bar, {
    label: 'both positions',
    move: ([x]) => together(((x - held - 40) / (WIDE - 80)) * LAST),
    nudge: ([x, y]) => together((at.query + at.key) / 2 + x + y),
    said: () => `positions ${at.query} and ${at.key}`,
  }));
  const hands = choice({ label: 'look at', options: omega.map((_, i) => [i, ['hand 0, fast', 'hand 1', 'hand 2', 'hand 3, slow'][i]]), value: picked },
    (next) => { picked = next; draw(); });
  const again = button('Start again', () => { Object.assign(at, first); tells.forEach((tell) => tell()); draw(); });
  root.append(
    make('p', { class: 'live-note' },
      'Drag q or k along the line. Then drag the bar between them, which moves both. (Four pairs with base 100: the slow hand moves on so short a line, too.)'),
    drawing, make('div', { class: 'live-bar' }, hands.root, again),
  );
  const say = speaker(root);

  function paint() {
    dials.forEach(({ x, y, hands: lines, arc, name, kind }) => {
      lines.forEach((line, i) => {
        const angle = at[kind] * omega[i], length = RADIUS - 12 - 10 * (omega.length - 1 - i);
        set(line, { x2: x + length * Math.sin(angle), y2: y - length * Math.cos(angle), opacity: i === picked ? 1 : 0.25 });
      });
      const [a, b] = [at.query, at.key].sort((one, other) => one - other).map((position) => position * omega[picked]), r = 34;
      const edge = (angle) => `${x + r * Math.sin(angle)} ${y - r * Math.cos(angle)}`;
      const long = (b - a) % (2 * Math.PI) > Math.PI ? 1 : 0;
      set(arc, { d: `M${x} ${y} L${edge(a)} A${r} ${r} 0 ${long} 1 ${edge(b)} Z` });
      name.textContent = `${kind} at position ${at[kind]}`;
    });
    marks.forEach(({ circle, text }, k) => {
      const kind = ['query', 'key'][k], x = along(at[kind]);
      set(circle, { cx: x });
      set(text, { x });
      text.textContent = kind[0];
    });
    const [low, high] = [at.query, at.key].sort((a, b) => a - b).map(along);
    const half = Math.max((high - low) / 2 + 4, 40); // also when q and k stand on each other, it reaches out on both sides
    set(bar, { x: (low + high) / 2 - half, width: 2 * half });
    const distance = at.key - at.query, [cx, cy] = curveAt(distance), degrees = (Math.abs(distance) * omega[picked] * 180) / Math.PI;
    set(dotNow, { cx, cy });
    const where = distance ? `${Math.abs(distance)} ${distance < 0 ? 'behind' : 'ahead of'} the query` : 'where the query is';
    say(`The key is ${where}, so this pair of hands stands ${number(degrees, 0)}° apart`
      + `${degrees > 360 ? ' (more than a full turn)' : ''}. The score is ${number(score(distance, omega))}. Move both together: the hands turn, `
      + 'the angle between them and the score stay.');
  }
  paint();
  tells.forEach((tell) => tell());
}
