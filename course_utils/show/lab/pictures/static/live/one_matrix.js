// One matrix remembers: pairs of a key and a value are written into a state of fixed size, and asked for again.
import { make, svg, set, slider, choice, button, speaker, dot, number, seeded, normal } from './kit.js';

const D = 8, MOST = 10, CELL = 30, LEFT = 40, TOP = 40;

/** `count` keys of length 1 with `d` features, `alike` of each in common (0: independent, 1: all the same), and their values. */
export function pairs(count, alike, d = D, seed = 5) {
  const random = seeded(seed), draw = () => Array.from({ length: d }, () => normal(random)), unit = (v) => v.map((part) => part / Math.sqrt(dot(v, v)));
  const common = unit(draw());
  return Array.from({ length: count }, () => {
    const own = unit(draw()), value = draw();
    return { key: unit(own.map((part, i) => Math.sqrt(1 - alike) * part + Math.sqrt(alike) * common[i])), value };
  });
}

export const read = (state, key) => state.map((row) => dot(row, key));

/** The state (value feature, key feature) after one more pair: plain sum, sum with decay, or the delta rule. */
export function write(state, { key, value }, rule, keep = 0.8) {
  const old = rule === 'delta' ? read(state, key) : value.map(() => 0), stay = rule === 'decay' ? keep : 1;
  return state.map((row, i) => row.map((cell, j) => stay * cell + (value[i] - old[i]) * key[j]));
}

/** How far what comes back is from what was written: the length of the difference over the length of the value. */
export function error(state, { key, value }) {
  const wrong = read(state, key).map((part, i) => part - value[i]);
  return Math.sqrt(dot(wrong, wrong) / dot(value, value));
}

export function render(root) {
  let alike = 0.3, rule = 'sum', count = 3, asked = 0;
  const drawing = svg('svg', { viewBox: '0 0 720 340', role: 'group', 'aria-label': 'the state, and what comes back' });
  const label = (x, y, text, attributes = {}) => { const made = svg('text', { x, y, ...attributes }, text); drawing.append(made); return made; };
  label(LEFT, 24, 'the state: 8 × 8 numbers');
  const cells = Array.from({ length: D }, (_, i) => Array.from({ length: D }, (__, j) => {
    const cell = svg('rect', { x: LEFT + j * CELL, y: TOP + i * CELL, width: CELL - 2, height: CELL - 2, rx: 3 });
    drawing.append(cell);
    return cell;
  }));
  label(370, 24, 'written (outline), read (full)');
  const middle = 110, step = 42, tall = 70;
  drawing.append(svg('line', { class: 'zero', x1: 370, x2: 370 + D * step, y1: middle, y2: middle }));
  const outlines = Array.from({ length: D }, (_, i) => svg('rect', { class: 'written', x: 374 + i * step, width: 26 }));
  const fulls = Array.from({ length: D }, (_, i) => svg('rect', { class: 'back', x: 379 + i * step, width: 16 }));
  drawing.append(...fulls, ...outlines);
  const scale = label(370, 206, '');
  const errors = Array.from({ length: MOST }, (_, k) => svg('rect', { class: 'error', x: 372 + k * 34, width: 24 }));
  const names = Array.from({ length: MOST }, (_, k) => label(384 + k * 34, 322, String(k + 1), { 'text-anchor': 'middle' }));
  const doors = Array.from({ length: MOST }, (_, k) => svg('rect', { class: 'door', x: 367 + k * 34, y: 214, width: 34, height: 116,
    click: () => { if (k < count) { asked = k; paint(); } } }));
  drawing.append(...errors, ...doors);

  const rules = choice({ label: 'write by', options: [['sum', 'plain sum'], ['decay', 'sum with decay'], ['delta', 'delta rule']], value: rule }, (next) => { rule = next; paint(); });
  const likeness = slider({ label: 'keys alike', min: 0, max: 0.95, step: 0.05, value: alike, say: (a) => number(a) }, (a) => { alike = a; paint(); });
  const add = button('Write the next pair', () => { count = Math.min(MOST, count + 1); asked = Math.min(asked, count - 1); paint(); });
  const ask = button('Ask for the next', () => { asked = (asked + 1) % count; paint(); });
  const again = button('Start again', () => { [count, asked, alike, rule] = [3, 0, 0.3, 'sum']; likeness.value = alike; rules.value = rule; paint(); });
  root.append(
    make('p', { class: 'live-note' }, 'Write more pairs, and ask for the first one again: tap its bar. Then make the keys more alike.'),
    make('div', { class: 'live-bar' }, add, ask, again), drawing, make('div', { class: 'live-bar' }, rules.root, likeness.root),
  );
  const say = speaker(root);

  function paint() {
    const written = pairs(MOST, alike).slice(0, count);
    const state = written.reduce((before, pair) => write(before, pair, rule), Array.from({ length: D }, () => Array(D).fill(0)));
    state.forEach((row, i) => row.forEach((value, j) => {
      const share = Math.min(100, Math.round(Math.abs(value) * 55));
      set(cells[i][j], { style: `fill: color-mix(in srgb, var(${value < 0 ? '--wrong' : '--weight'}) ${share}%, var(--card))` });
    }));
    const back = read(state, written[asked].key), largest = Math.max(3.2, ...[...back, ...written[asked].value].map(Math.abs));
    const bar = (value) => ({ y: middle - (Math.max(0, value) / largest) * tall, height: Math.max(1, (Math.abs(value) / largest) * tall) });
    written[asked].value.forEach((value, i) => { set(outlines[i], bar(value)); set(fulls[i], bar(back[i])); });
    const wrong = written.map((pair) => error(state, pair)), worst = Math.max(1.5, ...wrong);
    scale.textContent = `errors, from 0 to ${number(worst, 1)}`;
    errors.forEach((one, k) => {
      const size = k < count ? (wrong[k] / worst) * 84 : 0;
      set(one, { y: 304 - size, height: Math.max(size, k < count ? 1 : 0), class: k === asked ? 'error asked' : 'error' });
      names[k].textContent = k < count ? String(k + 1) : '';
    });
    set(add, { disabled: count === MOST });
    const mean = wrong.reduce((a, b) => a + b, 0) / count;
    say(`${count} pairs lie in one matrix. Pair ${asked + 1} comes back with an error of ${number(wrong[asked])}; the mean of all is ${number(mean)}, and of the newest ${number(wrong[count - 1])}. `
      + { sum: 'A plain sum mixes the answers of all keys that are alike.', decay: 'With decay every step fades what is older: the newest is clearest, if not exact.',
        delta: 'The delta rule first takes away what the key gave before: the newest pair comes back exactly.' }[rule]);
  }
  paint();
}
