// Heads as coloured slices: what is cut, what each slice looks at, why one reshape mixes the tokens, and what W_O adds.
import { make, svg, set, slider, choice, button, speaker, softmax, dot, number, seeded, normal } from './kit.js';

export const TOKENS = ['the', 'cat', 'saw', 'the', 'dog'];
export const WIDTH = 12; // d_model
const COUNT = TOKENS.length, VERB = 2;

/* Queries and keys are designed: numbers 0 to 3 look at the token before, 4 to 7 at the same word, 8 to 11 at the verb. */
const turn = (quarters, size) => [size * Math.cos((quarters * Math.PI) / 2), size * Math.sin((quarters * Math.PI) / 2)];
const WORDS = { the: [0, 0], cat: [1, 2], saw: [2, 1], dog: [3, 3] };
const place = (t) => [...turn((4 * t) / COUNT, 2), ...turn((8 * t) / COUNT, 1.6)];
const word = (t) => WORDS[TOKENS[t]].flatMap((quarters) => turn(quarters, 1.7));
const random = seeded(4);
const some = (count, size = 1) => Array.from({ length: count }, () => size * normal(random));
export const QUERY = TOKENS.map((_, t) => [...place(t - 1), ...word(t), 1.2, 1, 1.4, 1]);
export const KEY = TOKENS.map((_, t) => [...place(t), ...word(t), ...[1.2, 1, 1.4, 1].map((part) => (t === VERB ? part : -part / 2))]);
export const VALUE = TOKENS.map(() => some(WIDTH));
export const W_O = Array.from({ length: WIDTH }, () => some(WIDTH, 1 / Math.sqrt(WIDTH)));

/** Where the numbers of a head's row lie in the whole matrix, read row by row: [head][row][number]. */
export function places(heads, right = true) {
  const width = WIDTH / heads;
  const at = (head, row, d) => (right ? row * WIDTH + head * width + d : (head * COUNT + row) * width + d);
  return Array.from({ length: heads }, (_, head) =>
    TOKENS.map((_, row) => Array.from({ length: width }, (_, d) => at(head, row, d))));
}

/** Weights [head][row][row] of all heads, and their outputs put back where their numbers were: [token][feature]. */
export function attention(heads, right = true, on = Array(heads).fill(true)) {
  const held = places(heads, right), back = Array(COUNT * WIDTH).fill(0);
  const cut = (matrix) => held.map((rows) => rows.map((row) => row.map((i) => matrix.flat()[i])));
  const [query, key, value] = [QUERY, KEY, VALUE].map(cut);
  const weights = query.map((rows, h) => rows.map((q) => softmax(key[h].map((k) => dot(q, k) / Math.sqrt(q.length)))));
  held.forEach((rows, h) => rows.forEach((row, i) => row.forEach((to, d) => {
    back[to] = on[h] ? dot(weights[h][i], value[h].map((v) => v[d])) : 0;
  })));
  return { weights, joined: TOKENS.map((_, t) => back.slice(t * WIDTH, (t + 1) * WIDTH)) };
}

/** A row times (1 - mix) · identity + mix · W_O. */
export const mixed = (row, mix) => row.map((part, to) => (1 - mix) * part + mix * dot(row, W_O.map((from) => from[to])));

/** How many numbers of each token a head holds. */
export function holds(head, heads, right) {
  const counts = Array(COUNT).fill(0);
  places(heads, right)[head].flat().forEach((i) => { counts[Math.floor(i / WIDTH)] += 1; });
  return counts;
}

const named = (t) => `“${TOKENS[t]}”`;
const list = (parts) => (parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`);

/** `state.mix`: how much W_O mixes at first; `state.off`: the head that is switched off at first, from 0; false in `state.bars` hides the output. */
export function render(root, state = {}) {
  const begin = () => [3, true, 4, state.mix ?? 0, [0, 1, 2].map((h) => h !== state.off)];
  let [heads, right, asks, mix, on] = begin(), owner = []; // the head that has each number
  const drawing = svg('svg', { role: 'img', 'aria-label': 'five tokens of twelve numbers, cut into heads; arcs; the output' });
  const paths = svg('g', { class: 'arcs', fill: 'none' }), texts = svg('g'), bars = svg('g');
  const cells = Array.from({ length: COUNT * WIDTH }, (_, i) => {
    const box = svg('rect', { rx: 3 }), token = Math.floor(i / WIDTH);
    const mark = svg('text', { class: 'digit', 'text-anchor': 'middle' }, String(token + 1)), title = svg('title');
    return { box, mark, title, root: svg('g', { class: 'cell', pointerenter: () => tell(i), click: () => tell(i) }, title, box, mark) };
  });
  drawing.append(texts, paths, ...cells.map((one) => one.root), bars);

  const many = choice({ label: 'heads', options: [1, 2, 3, 4, 6], value: heads },
    (n) => { heads = n; on = Array(n).fill(true); switches(); paint(); });
  const view = choice({ label: 'cut', value: right, options: [
    [true, 'right: view(tokens, heads, width).transpose'], [false, 'wrong: view(heads, tokens, width)'],
  ] }, (one) => { right = one; paint(); });
  const asker = choice({ label: 'who asks', options: TOKENS.map((one, t) => [t, `${t + 1} ${one}`]), value: asks },
    (t) => { asks = t; paint(); });
  const mixer = slider({ label: 'W_O mixes', max: 1, step: 0.05, value: mix, say: (m) => number(m) },
    (m) => { mix = m; paint(false); });
  const onoff = make('div', { class: 'live-bar', role: 'group', 'aria-label': 'heads on or off' });
  const again = button('Start again', () => {
    [heads, right, asks, mix, on] = begin();
    [many.value, view.value, asker.value, mixer.value] = [heads, right, asks, mix];
    switches();
    paint();
  });
  const about = make('p', { class: 'live-note' });
  root.append(
    make('p', { class: 'live-note' }, (state.off === undefined ? 'Choose the wrong cut, and watch the numbers move. '
      : 'Switch heads on and off, and watch the output. ') + 'A cell carries the number of its token, its colour is its slice of features.'),
    make('div', { class: 'live-bar' }, many.root, view.root), make('div', { class: 'live-bar' }, asker.root, again), drawing, about,
    ...(state.bars === false ? [] : [make('div', { class: 'live-bar' }, mixer.root, onoff)]),
  );
  const say = speaker(root);

  function switches() {
    onoff.replaceChildren(make('span', { class: 'live-name' }, 'on'), ...on.map((_, h) => {
      const click = () => { on[h] = !on[h]; set(one, { 'aria-pressed': String(on[h]) }); paint(); };
      const one = button(`head ${h + 1}`, click, { 'aria-pressed': String(on[h]) });
      return one;
    }));
  }
  const cellName = (i) => {
    const token = Math.floor(i / WIDTH);
    return `token ${token + 1} ${named(token)}, feature ${i % WIDTH}, now in head ${owner[i] + 1}`;
  };
  const tell = (i) => { about.textContent = `This cell: ${cellName(i)}.`; };

  /* All of it, or what W_O changes alone. */
  function paint(all = true) {
    const narrow = root.clientWidth > 0 && root.clientWidth < 500;
    const [wide, left, size, font] = narrow ? [350, 46, 14, 11] : [716, 62, 25, 13];
    const tight = narrow && heads > 4; // no room for a word over each head
    const width = WIDTH / heads, pitch = size + 5, top = 26, most = narrow ? 60 : 120;
    const zone = Math.min((wide - left - WIDTH * size) / heads, most);
    const start = (h) => left + h * (width * size + zone), middle = (row) => top + row * pitch + size / 2;
    const label = (x, y, words, more = {}) => svg('text', { x, y, ...more }, words);
    const { weights, joined } = attention(heads, right, on), full = attention(heads, right).joined[asks], held = places(heads, right);
    if (all) cut();
    function cut() {
      held.forEach((rows, h) => rows.flat().forEach((i) => { owner[i] = h; }));
      texts.replaceChildren(...TOKENS.map((one, t) => label(0, middle(t) + 5, right || heads === 1 ? `${t + 1} ${one}` : `row ${t + 1}`,
        { class: t === asks ? 'asks' : '' })), label(0, 16, tight ? 'head' : ''), ...held.map((_, h) =>
        label(start(h), 16, `${tight ? '' : 'head '}${h + 1}`, { class: 'asks', style: `fill: var(--head-${h})` })));
      held.forEach((rows, h) => rows.forEach((row, r) => row.forEach((i, d) => {
        const { box, mark, title, root: cell } = cells[i];
        set(box, { width: size - 2, height: size, style: `fill: var(--head-${Math.floor((i % WIDTH) / width)})` });
        set(mark, { x: (size - 2) / 2, y: size / 2 + font * 0.37, style: `font-size: ${font}px` });
        set(cell, { style: `transform: translate(${start(h) + d * size}px, ${middle(r) - size / 2}px)`, opacity: on[h] ? 1 : 0.3 });
        title.textContent = cellName(i);
      })));
      paths.replaceChildren(...weights.flatMap((rows, h) => rows[asks].map((w, to) => {
        const x = start(h) + width * size + 1, far = Math.max(1, Math.abs(to - asks)), spread = to === asks ? size / 2 : 0;
        const bend = x + zone * Math.min(0.35 + 0.22 * far, 1.5), half = (middle(asks) + middle(to)) / 2;
        const d = `M${x} ${middle(asks) - spread}Q${bend} ${half} ${x} ${middle(to) + spread}`;
        const look = { 'stroke-width': 0.4 + (narrow ? 4 : 6) * w, opacity: on[h] ? 0.25 + 0.75 * w : 0.1 };
        return svg('path', { d, ...look, style: `stroke: var(--head-${h})` });
      })));
    }
    const foot = top + COUNT * pitch, step = (wide - 4) / WIDTH, tall = 30, out = mixed(joined[asks], mix), before = mixed(full, mix);
    const largest = Math.max(...full.map(Math.abs), ...before.map(Math.abs), 1e-9);
    const row = (y, values, colour, outline) => values.flatMap((value, f) => {
      const rect = (v, more) => svg('rect', {
        x: 2 + f * step, width: step - 4, y: y - Math.max(0, v / largest) * tall, height: (Math.abs(v) / largest) * tall, ...more,
      });
      return [rect(value, { style: `fill: ${colour(f)}` }), outline && rect(outline[f], { class: 'outline' })].filter(Boolean);
    });
    const who = `${asks + 1} ${named(asks)}`, first = foot + 62, second = foot + 152;
    if (state.bars !== false) bars.replaceChildren(
      label(0, foot + 22, `the heads’ outputs side by side, for ${who}`), label(0, foot + 112, 'after W_O (outlines: all heads on)'),
      ...[first, second].map((y) => svg('line', { class: 'axis', x1: 0, x2: wide, y1: y, y2: y })),
      ...row(first, joined[asks], (f) => `var(--head-${owner[asks * WIDTH + f]})`), ...row(second, out, () => 'var(--value)', before),
    );
    set(drawing, { viewBox: `0 0 ${wide} ${state.bars === false ? foot + 2 : second + tall + 6}` });
    const changed = out.filter((value, f) => Math.abs(value - before[f]) > 1e-9).length;
    const off = on.flatMap((one, h) => (one ? [] : [h + 1]));
    about.textContent = `W_Q, W_K, W_V and W_O have 4 · ${WIDTH} · ${WIDTH} = ${4 * WIDTH * WIDTH} numbers, for any number of heads.`;
    const looks = weights.map((rows, h) => {
      const best = rows[asks].indexOf(Math.max(...rows[asks]));
      return `head ${h + 1} ${h ? '' : 'looks most '}at ${best + 1} ${named(best)} (${number(rows[asks][best])})`;
    });
    const whole = heads === 1 ? ' One head is the whole row: nothing is cut, and both ways are the same.' : '';
    const part = (n, t) => (n === WIDTH ? `all ${n} numbers of ${named(t)}` : `${n} of the ${WIDTH} numbers of ${named(t)}`);
    const inside = holds(0, heads, false).flatMap((n, t) => (n ? [part(n, t)] : []));
    const story = right || heads === 1 ? `${who} asks: ${list(looks)}.${whole}`
      : `Head 1 now holds ${list(inside)}, and nothing of the others: a piece of the sentence, not a slice of the features. `
        + `Its ${COUNT} rows are no tokens any more, so its arcs mean nothing.`;
    const missed = `Off: ${off.length > 1 ? 'heads' : 'head'} ${list(off)}. Of the output of ${who} ${changed} of ${WIDTH} numbers change.`;
    say(off.length ? `${story} ${missed}` : story);
  }
  switches();
  paint();
  let wide = root.clientWidth;
  const watcher = new ResizeObserver(() => { if (root.clientWidth !== wide) { wide = root.clientWidth; paint(); } });
  watcher.observe(root.parentElement || root);
  return () => watcher.disconnect();
}
