// Who wins where: three keys in a plane, and every place of the plane as a query that belongs to the key with the highest score.
import { make, svg, set, choice, button, speaker, draggable, paced, softmax, dot, number } from './kit.js';

const SIZE = 400, UNIT = 76, FAR = 2.5, WIDE = 660;
const START = { query: [1, 0.5], keys: [[1.6, 1.2], [-0.8, 1.4], [0.5, -0.9]] };
const NAMES = ['a', 'b', 'c'];
const length = (key) => Math.hypot(...key);

/** Scores as functions of the query that are linear: `[across, up, constant]` for each key. What all keys share is left out. */
export const WAYS = {
  distance: (key) => [...key, -dot(key, key) / 2],
  product: (key) => [...key, 0],
  direction: (key) => [...key.map((part) => part / (length(key) || 1)), 0],
};
export const score = ([x, y, c], query) => x * query[0] + y * query[1] + c;

/** The part of a square around the origin where the score of key `own` is the highest: its corners, in order. */
export function region(lines, own, far = FAR) {
  let corners = [[-far, -far], [far, -far], [far, far], [-far, far]];
  lines.forEach((line, other) => {
    if (other === own) return;
    const ahead = (point) => score(lines[own], point) - score(line, point);
    corners = corners.flatMap((point, i) => {
      const next = corners[(i + 1) % corners.length], [from, to] = [ahead(point), ahead(next)];
      const cut = from / (from - to), crossing = point.map((part, d) => part + cut * (next[d] - part));
      return [...(from >= 0 ? [point] : []), ...((from >= 0) !== (to >= 0) ? [crossing] : [])];
    });
  });
  return corners;
}

const SAID = {
  distance: 'The nearest key wins, and each key has its surroundings.',
  product: 'A dot product counts length as well: a long key wins far away from itself, and a short one may win nowhere near.',
  direction: 'All keys count as equally long: the one that points most nearly the way of the query wins.',
};

export function render(root) {
  const state = structuredClone(START);
  let way = 'distance';
  const drawing = svg('svg', { viewBox: `0 0 ${WIDE} ${SIZE + 8}`, role: 'group', 'aria-label': 'three keys and a query in a plane' });
  const spot = ([x, y]) => [SIZE / 2 + UNIT * x, SIZE / 2 - UNIT * y + 4];
  const areas = NAMES.map((_, i) => svg('polygon', { class: `area k${i}` }));
  const [x0, y0] = spot([0, 0]), edge = FAR * UNIT;
  drawing.append(...areas, svg('line', { class: 'axis', x1: x0 - edge, x2: x0 + edge, y1: y0, y2: y0 }),
    svg('line', { class: 'axis', x1: x0, x2: x0, y1: y0 - edge, y2: y0 + edge }));
  const draw = paced(paint), tells = [];

  function movable(name, kind, read, write) {
    const stem = svg('line', { class: `stem ${kind}` }), end = svg('circle', { class: `end ${kind}`, r: 12 });
    const mark = svg('text', { class: 'mark', 'text-anchor': 'middle' }, name);
    drawing.append(stem, end, mark);
    const put = (point) => { write(point.map((part) => Math.round(20 * Math.min(2.4, Math.max(-2.4, part))) / 20)); draw(); };
    tells.push(draggable(end, {
      label: name === 'q' ? 'the query' : `key ${name}`,
      move: ([x, y]) => put([(x - SIZE / 2) / UNIT, (SIZE / 2 + 4 - y) / UNIT]),
      nudge: ([x, y]) => put(read().map((part, d) => part + 0.05 * [x, y][d])),
      said: () => read().map((part) => number(part)).join(', '),
    }));
    return () => {
      const [x, y] = spot(read());
      set(stem, { x1: x0, y1: y0, x2: x, y2: y });
      set(end, { cx: x, cy: y });
      set(mark, { x, y: y + 5 });
    };
  }
  const shows = [
    ...NAMES.map((name, i) => movable(name, `k${i}`, () => state.keys[i], (to) => { state.keys[i] = to; })),
    movable('q', 'query', () => state.query, (to) => { state.query = to; }),
  ];
  const left = SIZE + 30, row = (i) => 84 + 104 * i;
  const asked = svg('text', { x: left, y: 34, class: 'asked' });
  drawing.append(asked);
  const rows = NAMES.map((name, i) => {
    const place = svg('text', { x: left, y: row(i), class: `name k${i}` }), value = svg('text', { x: left, y: row(i) + 22 });
    const share = svg('text', { x: left, y: row(i) + 42 });
    const bar = svg('rect', { class: `bar k${i}`, x: left, y: row(i) + 50, height: 12 });
    drawing.append(place, value, share, bar);
    return { place, value, share, bar };
  });
  const ways = choice({
    label: 'score', value: way,
    options: [['distance', '−½ distance²'], ['product', 'dot product'], ['direction', 'direction alone']],
  }, (next) => { way = next; draw(); });
  const again = button('Start again', () => {
    Object.assign(state, structuredClone(START));
    tells.forEach((tell) => tell());
    draw();
  });
  root.append(make('p', { class: 'live-note' }, 'Drag the keys a, b and c, and the query q. The colour of a place says which key a query there would choose.'),
    make('div', { class: 'live-bar' }, ways.root, again), drawing);
  const say = speaker(root);

  function paint() {
    const lines = state.keys.map(WAYS[way]), shared = way === 'distance' ? dot(state.query, state.query) / 2 : 0;
    const scores = lines.map((line) => score(line, state.query) - shared), weights = softmax(scores);
    areas.forEach((area, i) => set(area, { points: region(lines, i).map((corner) => spot(corner).join()).join(' ') }));
    shows.forEach((show) => show());
    asked.textContent = `q = (${state.query.map((part) => number(part)).join(', ')})`;
    rows.forEach(({ place, value, share, bar }, i) => {
      place.textContent = `${NAMES[i]} = (${state.keys[i].map((part) => number(part)).join(', ')})`;
      value.textContent = `score ${number(scores[i])}`;
      share.textContent = `weight ${number(weights[i])}`;
      set(bar, { width: 200 * weights[i] });
    });
    const best = Math.max(...scores), first = NAMES.filter((_, i) => best - scores[i] < 0.005);
    say(`${first.length > 1 ? `Keys ${first.join(' and ')} share the highest score.` : `Key ${first[0]} wins, with the weight ${number(Math.max(...weights))}.`} ${SAID[way]}`);
  }
  paint();
}
