// Choosing by hand: one query, four keys and four values in two planes. Drag an arrow, and see scores, weights and output follow.
import { make, svg, set, slider, button, speaker, draggable, paced, softmax, dot, number } from './kit.js';

const SIZE = 320, GAP = 60, UNIT = 62, TABLE = 150;
const START = {
  query: [1.6, 1.1],
  keys: [[1.7, 0.6], [0.3, 1.8], [-1.6, 0.8], [0.5, -1.7]],
  values: [[1.9, 1.4], [-1.5, 1.8], [-1.7, -1.3], [1.5, -1.7]],
  scale: 1,
};
const NAMES = ['a', 'b', 'c', 'd'];

/** Scores, weights and output of attention for one query; `scale` makes the query longer. */
export function attend(query, keys, values, scale = 1) {
  const scores = keys.map((key) => (scale * dot(query, key)) / Math.sqrt(query.length));
  const weights = softmax(scores);
  return { scores, weights, output: query.map((_, d) => dot(weights, values.map((value) => value[d]))) };
}

/** The corners of the convex hull of points, in order: Andrew's monotone chain. */
export function hull(points) {
  const turns = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0;
  const half = (sorted) => sorted.reduce((chain, point) => {
    while (chain.length > 1 && !turns(chain.at(-2), chain.at(-1), point)) chain.pop();
    return [...chain, point];
  }, []);
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return [...half(sorted).slice(0, -1), ...half(sorted.reverse()).slice(0, -1)];
}

export function render(root) {
  const state = structuredClone(START);
  const drawing = svg('svg', { viewBox: `0 0 ${2 * SIZE + GAP} ${SIZE + TABLE}`, role: 'group', 'aria-label': 'query, keys and values in two planes' });
  const spot = (left, [x, y]) => [left + SIZE / 2 + UNIT * x, SIZE / 2 - UNIT * y + 8];
  const plane = (left, title) => {
    const [x, y] = spot(left, [0, 0]), far = 2.5 * UNIT;
    return svg('g', { class: 'plane' }, svg('rect', { x: left, y: 8, width: SIZE, height: SIZE, rx: 8 }),
      svg('line', { x1: x - far, x2: x + far, y1: y, y2: y }), svg('line', { x1: x, x2: x, y1: y - far, y2: y + far }),
      svg('text', { x: left + 10, y: 28 }, title));
  };
  const right = SIZE + GAP;
  drawing.append(plane(0, 'who fits: query and keys'), plane(right, 'what is carried: values'));

  const draw = paced(paint), tells = [];
  /* An arrow from the origin, or a point, with a handle at its end. */
  function movable(kind, index, left, read, write) {
    const name = kind === 'query' ? 'q' : NAMES[index];
    const stem = svg('line', { class: `stem ${kind}` }), handle = svg('circle', { class: `end ${kind}`, r: 11 });
    const mark = svg('text', { class: 'mark', 'text-anchor': 'middle' }, name);
    drawing.append(stem, handle, mark);
    const put = (point) => { write(point.map((part) => Math.min(2.4, Math.max(-2.4, part)))); draw(); };
    const tell = draggable(handle, {
      label: kind === 'query' ? 'the query' : `${kind} ${name}`,
      move: ([x, y]) => put([(x - left - SIZE / 2) / UNIT, (SIZE / 2 + 8 - y) / UNIT]),
      nudge: ([x, y]) => put(read().map((part, d) => part + 0.1 * [x, y][d])),
      said: () => read().map((part) => number(part, 1)).join(', '),
    });
    tells.push(tell);
    return (width = 2.5) => {
      const [x0, y0] = spot(left, [0, 0]), [x, y] = spot(left, read());
      if (kind !== 'value') set(stem, { x1: x0, y1: y0, x2: x, y2: y, 'stroke-width': width });
      set(handle, { cx: x, cy: y });
      set(mark, { x, y: y + 5 });
    };
  }
  const beams = NAMES.map(() => svg('line', { class: 'beam' })), field = svg('polygon', { class: 'hull' });
  drawing.append(field, ...beams);
  const showKeys = state.keys.map((_, i) => movable('key', i, 0, () => state.keys[i], (to) => { state.keys[i] = to; }));
  const showValues = state.values.map((_, i) => movable('value', i, right, () => state.values[i], (to) => { state.values[i] = to; }));
  const showQuery = movable('query', 0, 0, () => state.query, (to) => { state.query = to; });
  const output = svg('path', { class: 'output', d: 'M0 -13 L3.5 -4.5 L12.5 -4 L5.5 1.8 L7.8 10.5 L0 5.6 L-7.8 10.5 L-5.5 1.8 L-12.5 -4 L-3.5 -4.5 Z' });
  drawing.append(output);

  const column = (i) => 190 + i * 128, rowY = (k) => SIZE + 42 + 34 * k;
  ['key', 'score  q · k / √2', 'weight'].forEach((text, k) => drawing.append(svg('text', { x: 0, y: rowY(k) }, text)));
  const cells = NAMES.map((name, i) => {
    const head = svg('text', { class: 'name', x: column(i), y: rowY(0), 'text-anchor': 'middle' }, name);
    const score = svg('text', { x: column(i), y: rowY(1), 'text-anchor': 'middle' });
    const bar = svg('rect', { class: 'bar', x: column(i) - 48, y: rowY(2) + 8, height: 10 });
    const weight = svg('text', { x: column(i), y: rowY(2), 'text-anchor': 'middle' });
    drawing.append(head, score, bar, weight);
    return { score, weight, bar };
  });

  const scale = slider({ label: 'length of the query', min: 0, max: 4, step: 0.1, value: 1, say: (s) => `× ${number(s, 1)}` }, (s) => { state.scale = s; draw(); });
  const again = button('Start again', () => { Object.assign(state, structuredClone(START)); scale.value = 1; tells.forEach((tell) => tell()); draw(); });
  root.append(
    make('p', { class: 'live-note' }, 'Drag the orange query q onto a key. Then drag a green value: the star, the output, follows. It never leaves the green area.'),
    make('div', { class: 'live-bar' }, scale.root, again), drawing,
  );
  const say = speaker(root);

  function paint() {
    const { scores, weights, output: out } = attend(state.query, state.keys, state.values, state.scale);
    showQuery();
    showKeys.forEach((show) => show());
    showValues.forEach((show) => show());
    const [x, y] = spot(right, out);
    set(field, { points: hull(state.values).map((value) => spot(right, value).join()).join(' ') });
    set(output, { transform: `translate(${x} ${y})` });
    weights.forEach((w, i) => {
      const [vx, vy] = spot(right, state.values[i]);
      set(beams[i], { x1: vx, y1: vy, x2: x, y2: y, 'stroke-width': 0.5 + 9 * w });
      cells[i].score.textContent = number(scores[i]);
      cells[i].weight.textContent = number(w);
      set(cells[i].bar, { width: 96 * w });
    });
    const best = weights.indexOf(Math.max(...weights)), even = Math.max(...weights) - Math.min(...weights) < 0.02;
    say(even ? `All four weights are about ${number(0.25)}: the output is the plain mean of the values, (${out.map((part) => number(part)).join(', ')}).`
      : `The query fits key ${NAMES[best]} best: ${number(scores[best])}, a weight of ${number(weights[best])}. So the output, `
        + `(${out.map((part) => number(part)).join(', ')}), lies ${weights[best] > 0.9 ? 'almost at' : 'nearer to'} value ${NAMES[best]}.`);
  }
  paint();
}
