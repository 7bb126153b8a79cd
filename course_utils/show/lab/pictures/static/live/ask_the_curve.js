// Ask the curve: a query is dragged along measured points, and every point answers with its weight. The weights are a bell's height,
// the softmax of scores, or the softmax of dot products: three ways to the same numbers.
import { make, svg, set, slider, choice, button, speaker, draggable, paced, softmax, dot, number, seeded, normal } from './kit.js';

const WIDE = 720, HIGH = 300, LEFT = 34, RIGHT = 12, LOW = 262, SCORES = 84, BARS = 120, DEEP = 8;
const across = (x) => LEFT + (x / 5) * (WIDE - LEFT - RIGHT), up = (y) => LOW - ((y + 1.5) / 7.5) * (LOW - 12);
const place = (px) => ((px - LEFT) / (WIDE - LEFT - RIGHT)) * 5, height = (py) => ((LOW - py) / (LOW - 12)) * 7.5 - 1.5;
const between = (value, low, high) => Math.min(high, Math.max(low, value));

/** The true curve of the course, and `count` measurements of it with noise of deviation 0.5. */
export const truth = (x) => 2 * Math.sin(x) + x ** 0.8;
export function measured(count = 40, seed = 4) {
  const random = seeded(seed);
  const keys = Array.from({ length: count }, () => 5 * random()).sort((a, b) => a - b);
  return { keys, values: keys.map((x) => truth(x) + 0.5 * normal(random)) };
}

/** The scores of all keys for one query: minus half the squared distance in bandwidths. */
export const distanceScores = (query, keys, width) => keys.map((key) => -(((query - key) / width) ** 2) / 2);

/** The same as dot products of two features each, but for a number that all keys share: softmax does not see it. */
export function dotScores(query, keys, width) {
  const asked = [query / width ** 2, 1];
  return keys.map((key) => dot(asked, [key, -(key ** 2) / (2 * width ** 2)]));
}

/** The heights of a bell around the query, divided by their sum. Far from all points the sum is 0, and there is no answer. */
export function bellWeights(query, keys, width) {
  const heights = distanceScores(query, keys, width).map(Math.exp), sum = heights.reduce((a, b) => a + b, 0);
  return heights.map((one) => one / sum);
}

const WAYS = {
  bell: (q, keys, h) => bellWeights(q, keys, h),
  distance: (q, keys, h) => softmax(distanceScores(q, keys, h)),
  dot: (q, keys, h) => softmax(dotScores(q, keys, h)),
};
const SCORED = {
  bell: (q, keys, h) => distanceScores(q, keys, h).map(Math.exp),
  distance: distanceScores,
  dot: dotScores,
};
const NAMED = { bell: 'height of the bell at each point', distance: 'score of each point', dot: 'score of each point: a dot product' };
const SAID = {
  bell: 'The weight of a point is the height of the bell above it, divided by the sum of all heights.',
  distance: 'The score of a point is minus half its squared distance, measured in bandwidths. Softmax makes the same weights of the scores.',
  dot: 'The score is a dot product now, of two numbers made from the query and two made from the key. The weights are still the same.',
};

export function render(root, given) {
  const data = measured(), first = { query: 2.2, width: 0.35, values: [...data.values] };
  let query = first.query, last = query, way = 'bell';
  const values = [...first.values], { keys } = data;

  const drawing = svg('svg', { viewBox: `0 0 ${WIDE} ${HIGH + SCORES + BARS}`, role: 'group', 'aria-label': 'measured points and a query' });
  const axis = svg('g', { class: 'axis' });
  axis.append(svg('line', { x1: LEFT, x2: WIDE - RIGHT, y1: LOW, y2: LOW }));
  for (let x = 0; x <= 5; x += 1) axis.append(svg('text', { x: across(x), y: LOW + 18, 'text-anchor': 'middle' }, String(x)));
  for (const y of [0, 2, 4]) axis.append(svg('text', { x: LEFT - 8, y: up(y) + 5, 'text-anchor': 'end' }, String(y)));
  const bell = svg('path', { class: 'bell' }), fit = svg('path', { class: 'fit' }), down = svg('line', { class: 'down', y2: LOW });
  const level = svg('line', { class: 'level' });
  const points = values.map((_, i) => svg('circle', { class: 'point', cx: across(keys[i]) }));
  const ticks = keys.map((key) => svg('line', { class: 'tick', x1: across(key), x2: across(key), y1: LOW - 5, y2: LOW + 5 }));
  const bars = keys.map((key) => svg('rect', { class: 'bar', x: across(key) - 3, width: 6 }));
  const foot = HIGH + SCORES + BARS - 4;
  const [scoreName, barName] = [0, SCORES].map((y) => svg('text', { x: LEFT, y: HIGH + y + 4 }, 'weight of each point'));
  const [highest, most] = [0, SCORES].map((y) => svg('text', { x: WIDE - RIGHT, y: HIGH + y + 4, 'text-anchor': 'end' }));
  const scores = keys.map((key) => svg('circle', { class: 'score', cx: across(key), r: 3.5 }));
  const answer = svg('circle', { class: 'answer', r: 8 });
  const asker = svg('path', { class: 'asker', d: 'M0 -13 L11 9 L-11 9 Z' });
  drawing.append(axis, bell, fit, ...ticks, down, level, ...points, scoreName, highest, ...scores, barName, most, ...bars, answer, asker);

  const draw = paced(paint);
  const seen = new Map(); // the answers given so far: they are the fitted curve
  const forget = () => { seen.clear(); last = query; };
  const tellAsker = draggable(asker, {
    label: 'query',
    move: ([x]) => { query = between(place(x), 0, 5); draw(); },
    nudge: ([x]) => { query = between(query + 0.05 * x, 0, 5); draw(); },
    said: () => `x = ${number(query)}`,
  });
  points.forEach((point, i) => draggable(point, {
    label: `measured value at x = ${number(keys[i])}`,
    move: ([, y]) => { values[i] = between(height(y), -1.4, 5.9); forget(); draw(); },
    nudge: ([x, y]) => {
      if (x) points[between(i + Math.sign(x), 0, points.length - 1)].focus(); // one stop of the Tab key for all of them
      else { values[i] = between(values[i] + 0.1 * y, -1.4, 5.9); forget(); draw(); }
    },
    said: () => number(values[i]),
  }));
  const stop = (at) => points.forEach((point, i) => set(point, { tabindex: i === at ? 0 : -1 }));
  points.forEach((point, i) => point.addEventListener('focus', () => stop(i)));
  stop(0);
  const width = slider(
    { label: 'bandwidth', min: 0.05, max: 2, step: 0.05, value: first.width, say: (h) => number(h) },
    () => { forget(); draw(); },
  );
  drawing.addEventListener('wheel', (event) => {
    if (!drawing.contains(document.activeElement)) return;
    event.preventDefault();
    width.value = between(width.value - Math.sign(event.deltaY) * 0.05, 0.05, 2);
    forget();
    draw();
  }, { passive: false });
  const ways = choice(
    { label: 'weights from', options: [['bell', 'a bell'], ['distance', 'softmax of distances'], ['dot', 'softmax of dot products']], value: way },
    (next) => { way = next; draw(); },
  );
  const again = button('Start again', () => {
    [query, way] = [first.query, 'bell'];
    width.value = first.width;
    ways.value = 'bell';
    values.splice(0, values.length, ...first.values);
    forget();
    tellAsker();
    draw();
  });
  root.append(
    make('p', { class: 'live-note' }, 'Drag the orange query along the axis. The points can be dragged up and down.'),
    make('div', { class: 'live-bar' }, width.root, again), drawing,
    ...(given && given.ways === false ? [] : [ways.root]), // before the softmax is explained there is no choice
  );
  const say = speaker(root);

  function paint() {
    const h = width.value, weights = WAYS[way](query, keys, h), here = dot(weights, values), x = across(query);
    for (let from = Math.min(last, query); from <= Math.max(last, query); from += 0.02) { // every answer on the way, also of a jump
      seen.set(Math.round(from * 50), [across(from), up(dot(WAYS[way](from, keys, h), values))]);
    }
    last = query;
    seen.set(Math.round(query * 50), [x, up(here)]);
    set(asker, { transform: `translate(${x} ${LOW + 4})` });
    set(down, { x1: x, x2: x, y1: up(here) });
    set(level, { x1: LEFT, x2: x, y1: up(here), y2: up(here) });
    set(answer, { cx: x, cy: up(here) });
    const bellTop = (k) => LOW - 90 * Math.exp(distanceScores(query, [k], h)[0]);
    set(bell, { d: `M${LEFT} ${LOW} ${Array.from({ length: 121 }, (_, k) => `L${across(k / 24)} ${bellTop(k / 24)}`).join(' ')} L${across(5)} ${LOW}Z` });
    const trail = [...seen].sort((a, b) => a[0] - b[0]).map(([, at]) => at);
    set(fit, { d: trail.map((at, k) => `${k && Math.abs(at[0] - trail[k - 1][0]) < 60 ? 'L' : 'M'}${at.join(' ')}`).join(' ') });
    const top = Math.max(...weights);
    weights.forEach((w, i) => {
      set(points[i], { cy: up(values[i]), r: 4 + 16 * Math.sqrt(w), style: `--weight-here: ${Math.round(100 * w / top)}%` });
      set(bars[i], { y: foot - (w / top) * (BARS - 24), height: (w / top) * (BARS - 24) });
    });
    const scored = SCORED[way](query, keys, h), best = Math.max(...scored), range = way === 'bell' ? 1 : DEEP;
    const ceiling = way === 'bell' ? 1 : best; // scores more than DEEP below the best lie at the bottom: their weights are nothing
    scored.forEach((score, i) => set(scores[i], { cy: HIGH + 16 + between((ceiling - score) / range, 0, 1) * (SCORES - 36) }));
    scoreName.textContent = NAMED[way];
    highest.textContent = `largest ${number(best)}`;
    most.textContent = `largest ${number(top)}`;
    const count = weights.filter((w) => w > 0.01).length;
    say(`At x = ${number(query)} the answer is ${number(here)}: a mean of ${count} ${count === 1 ? 'point' : 'points'} with a weight over 0.01. ${SAID[way]}`);
  }
  paint();
  tellAsker();
}
