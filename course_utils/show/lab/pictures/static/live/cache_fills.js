// The cache fills: what each new token costs with keys and values kept and without, and what keeping them costs in memory.
import { make, svg, set, slider, choice, button, speaker, number, still } from './kit.js';

/** The small model that is counted: its layers, width, query heads and the width of a head. */
export const MODEL = { layers: 2, width: 64, heads: 8, head: 8 };
const MOST = 32, COLUMN = 20, LEFT = 74, TOP = [34, 84], CHART = 232, FOOT = 334, WIDE = 720;

/** Multiplications in one step that writes token `t`, in all layers: projections, scores and mixing. */
export function products(t, { kv = 8, window = Infinity, cached }) {
  const { layers, width, head } = MODEL;
  const project = 2 * width * width + 2 * width * kv * head; // query and output; key and value
  const attend = (place) => 2 * width * Math.min(place, window); // a query meets the keys it may see, then mixes their values
  const places = cached ? [t] : Array.from({ length: t }, (_, i) => i + 1);
  return layers * places.reduce((sum, place) => sum + project + attend(place), 0);
}

/** The same for all steps up to token `t`. */
export const all = (t, how) => Array.from({ length: t }, (_, i) => products(i + 1, how)).reduce((a, b) => a + b, 0);

/** Bytes that a cache holds: a key and a value for each token that is kept, each key head and each layer. */
export const bytes = (tokens, { layers, kv, head, bits }) => (2 * layers * kv * head * tokens * bits) / 8;

/** A whole number in groups of three, large ones shorter. */
export function short(value) {
  if (value < 1e5) return Math.round(value).toLocaleString('en');
  return value < 1e6 ? `${Math.round(value / 1e3)} thousand` : `${number(value / 1e6, 1)} million`;
}
function memory(value) {
  if (value < 1024) return `${value} bytes`;
  return value < 2 ** 20 ? `${number(value / 1024, 1)} KiB` : `${number(value / 2 ** 30, 2)} GiB`;
}

export function render(root) {
  let t = 12, kv = 8, window = Infinity, bits = 16, timer = null;
  const drawing = svg('svg', { viewBox: `0 0 ${WIDE} 362`, role: 'img', 'aria-label': 'tokens computed and kept, all products so far' });
  const text = (x, y, words, more = {}) => { const made = svg('text', { x, y, ...more }, words); drawing.append(made); return made; };
  text(0, 18, 'without a cache: every token is computed again');
  text(0, TOP[1] - 8, 'with a cache: the new one is computed, the others are kept');
  const x = (place) => LEFT + place * COLUMN;
  const key = text(0, TOP[1] + 40, 'keys', { class: 'small' }), value = text(0, TOP[1] + 100, 'values', { class: 'small' });
  const again = Array.from({ length: MOST }, (_, i) => svg('rect', { x: x(i), y: TOP[0], width: COLUMN - 3, height: 22, rx: 3 }));
  const kept = Array.from({ length: MOST }, (_, i) => {
    const parts = { key: svg('path', { class: 'key' }), value: svg('path', { class: 'value' }), place: x(i) };
    drawing.append(parts.key, parts.value);
    return parts;
  });
  drawing.append(...again);
  const lines = { without: svg('path', { class: 'line without' }), cached: svg('path', { class: 'line cached' }) };
  const points = { without: svg('circle', { class: 'without', r: 5 }), cached: svg('circle', { class: 'cached', r: 5 }) };
  const axis = svg('line', { class: 'axis', x1: LEFT, x2: x(MOST), y1: FOOT, y2: FOOT });
  drawing.append(axis, ...Object.values(lines), ...Object.values(points));
  const most = text(LEFT, CHART + 6, '', { class: 'small' });
  const middle = { 'text-anchor': 'middle', class: 'small' }, end = { 'text-anchor': 'end', class: 'small' };
  for (let place = 4; place <= MOST; place += 4) text(x(place - 1) + 8, FOOT + 20, String(place), middle);
  const names = { without: text(0, 0, 'without', end), cached: text(0, 0, 'with', end) };

  const next = button('Next token', () => { stop(); t = Math.min(MOST, t + 1); paint(); });
  const play = button('Write on', () => (timer ? stop() : go()));
  const where = slider({ label: 'tokens', min: 1, max: MOST, value: t, say: String }, (one) => { stop(); t = one; paint(); });
  const heads = choice({ label: 'heads of keys', options: [[8, '8, as of queries'], [2, '2, shared'], [1, '1']], value: kv },
    (one) => { kv = one; paint(); });
  const span = choice({ label: 'window', options: [[Infinity, 'all tokens'], [8, 'the last 8']], value: window },
    (one) => { window = one; paint(); });
  const fine = choice({ label: 'bits for a number', options: [16, 8], value: bits }, (one) => { bits = one; paint(); });
  const start = button('Start again', () => {
    stop();
    [t, kv, window, bits] = [12, 8, Infinity, 16];
    [heads.value, span.value, fine.value] = [kv, window, bits];
    paint();
  });
  const formula = make('p', { class: 'live-note' });
  root.append(
    make('p', { class: 'live-note' }, 'Write a few tokens. Then make the cache smaller.'),
    make('div', { class: 'live-bar' }, next, play, where.root, start), drawing,
    make('div', { class: 'live-bar' }, heads.root, span.root, fine.root), formula,
  );
  const say = speaker(root);

  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = 'Write on';
  }
  function go() {
    if (t === MOST) t = 1;
    if (still()) { t = MOST; paint(); return; }
    play.textContent = 'Pause';
    timer = setInterval(() => { t += 1; paint(); if (t >= MOST) stop(); }, 350);
  }

  function paint() {
    where.value = t;
    set(next, { disabled: t === MOST });
    const tall = (6 * bits) / 16, gap = 7 * 8; // 8 heads of 16 bits fill the room
    again.forEach((cell, i) => set(cell, { class: i < t ? 'computed' : 'waiting' }));
    kept.forEach(({ key: k, value: v, place }, i) => {
      const gone = i >= t || i < t - window, cells = (top) => Array.from({ length: kv }, (_, h) =>
        `M${place} ${top + h * (tall + 1)}h${COLUMN - 3}v${tall}h${3 - COLUMN}z`).join('');
      const kind = i === t - 1 ? 'new' : '';
      set(k, { d: gone ? '' : cells(TOP[1] + 8), class: `key ${kind}` });
      set(v, { d: gone ? '' : cells(TOP[1] + 16 + gap), class: `value ${kind}` });
    });
    set(key, { y: TOP[1] + 18 });
    set(value, { y: TOP[1] + 26 + gap });
    const ways = { without: { kv, window, cached: false }, cached: { kv, window, cached: true } };
    const top = all(MOST, { kv: 8, cached: false });
    for (const [name, how] of Object.entries(ways)) {
      let sum = 0;
      const path = Array.from({ length: MOST }, (_, i) => {
        sum += products(i + 1, how);
        return [x(i) + 8, FOOT - (sum / top) * (FOOT - CHART)];
      });
      set(lines[name], { d: `M${path.map((one) => one.map((part) => part.toFixed(1)).join(' ')).join('L')}` });
      set(points[name], { cx: path[t - 1][0], cy: path[t - 1][1] });
      set(names[name], { x: path[MOST - 4][0], y: path[MOST - 4][1] - 8 });
    }
    most.textContent = 'all products so far';
    const size = { layers: MODEL.layers, kv, head: MODEL.head, bits }, held = Math.min(t, window);
    const large = { layers: 32, kv: { 8: 32, 2: 8, 1: 1 }[kv], head: 128, bits };
    const plural = (count) => `${count} ${count > 1 ? 'heads' : 'head'}`;
    formula.textContent = `The cache: 2 · ${size.layers} layers · ${plural(kv)} · ${size.head} numbers · ${held} tokens · `
      + `${bits / 8} ${bits > 8 ? 'bytes' : 'byte'} = ${memory(bytes(held, size))}. With the sizes of `
      + `Llama-2 7B (32 layers, ${plural(large.kv)} of ${large.head}) 4,096 kept tokens take ${memory(bytes(4096, large))}.`;
    const [without, cached] = [false, true].map((one) => products(t, { kv, window, cached: one }));
    say(`Token ${t}: without a cache ${t} ${t > 1 ? 'tokens go' : 'token goes'} through the model, ${short(without)} products. `
      + `With it one token does, ${short(cached)}${t > 1 ? `, ${number(without / cached, 1)} times fewer` : ''}. `
      + `So far that makes ${short(all(t, ways.without))} against ${short(all(t, ways.cached))}.`);
  }
  paint();
  return stop;
}
