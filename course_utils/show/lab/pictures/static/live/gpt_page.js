// A GPT on this page: type, and see what it reads, who looks at whom, and what it would write next.
import { bytes, button, make, number, own, paced, seeded, slider, speaker, still, svg, unique } from './kit.js';
import { GPT, draw, shares, textEnd, windowStart } from './engine.js';
import { weights } from './weights_mini_gpt.js';

const STARTS = [
  'If the iterable is empty, the function returns',
  'A class definition is an executable statement. It',
  'Return the number of bytes',
  'The following example shows how to',
  'This method raises an exception if',
];
const PARTS = ['bars', 'arcs', 'heads', 'cache', 'layers'];
const BARS = 8;
const MAP = 24;

/** What a head mostly looks at, by its mean weights from the third token on. */
export function habit(rows) {
  const seen = rows.slice(2);
  if (!seen.length) return 'too short to say';
  const mean = (at) => seen.reduce((sum, row) => sum + row[at(row)], 0) / seen.length;
  const found = [
    ['the first', mean(() => 0)], ['the one before', mean((row) => row.length - 2)], ['itself', mean((row) => row.length - 1)],
  ];
  const [name, share] = found.sort((a, b) => b[1] - a[1])[0];
  return share > 0.3 ? name : 'mixed';
}

/** Paths of unit squares for the weights of one head, by strength: five texts, from weak to strong. Row and column end with the text. */
export function squares(rows, most = MAP) {
  const paths = ['', '', '', '', ''];
  const from = Math.max(0, rows.length - most);
  for (let i = from; i < rows.length; i += 1) {
    for (let j = from; j <= i; j += 1) paths[Math.min(4, Math.floor(rows[i][j] * 7))] += `M${j - from} ${i - from}h1v1h-1z`;
  }
  return paths;
}

/** The places of the greatest numbers, from the greatest on. */
export const greatest = (list, count) => Array.from(list.keys()).sort((a, b) => list[b] - list[a]).slice(0, count);

const percent = (share) => `${number(100 * share, share < 0.0995 ? 1 : 0)} %`;

export function render(root, state) {
  const model = new GPT(bytes(weights));
  const whole = model.another();
  const { tokenizer, layers, heads, size } = model;
  const parts = state.parts || PARTS;
  const begin = state.text ?? STARTS[0];
  let [ids, chosen, picked, turn, writing, dice] = [[], 0, null, 0, null, seeded(7)];

  const shown = (id) => {
    if (id === tokenizer.end) return '∎';
    return tokenizer.decode([id]).replace(/\n/g, '⏎').replace(/\t/g, '⇥').replace(/ /g, '·');
  };
  const rows = (layer, head) => model.attention.map((seen) => seen[layer][head]);

  const name = unique('text');
  const field = make('textarea', { id: name, rows: 2, spellcheck: 'false', autocomplete: 'off', input: () => { stop(); read(); } });
  own(field);
  const one = button('Write one token', () => { stop(); write(); }, { class: 'live-button main' });
  const many = button('Write on', () => { if (writing) stop(); else go(40); });
  const back = button('Take one back', () => { stop(); ids.pop(); fill(); compute(); });
  const heat = slider({ label: 'temperature', min: 0.1, max: 2, step: 0.1, value: 1, say: (value) => number(value, 1) }, () => guess());
  const again = button('Start again', () => {
    stop();
    [picked, dice] = [null, seeded(7)];
    model.off.clear();
    model.keep(0);
    heat.value = 1;
    start(begin);
  });
  const words = (text) => `${text.split(' ').slice(0, 3).join(' ')} …`;
  const starts = STARTS.map((text) => button(words(text), () => { stop(); start(text); }, { title: text }));

  // Parts: each is drawn once and then kept up to date, so that the focus stays where it is.
  const lines = Array.from({ length: BARS }, (_, rank) => {
    const line = { id: 0, text: make('code'), bar: make('i'), mark: make('u'), share: make('span') };
    line.root = make('button', { type: 'button', class: 'next', click: () => take(lines[rank].id) },
      line.text, make('b', {}, line.bar, line.mark), line.share);
    return line;
  });
  const undecided = make('p', { class: 'live-note' });
  const nextTitle = make('h4', {});
  const tokens = make('div', { class: 'tokens', role: 'group', 'aria-label': 'The tokens of the text; the arrow keys choose one' });
  own(tokens);
  const arcs = svg('svg', { class: 'arcs', 'aria-hidden': 'true' });
  const scene = make('div', { class: 'scene' }, arcs, tokens);
  const whom = make('h4', {});
  const arcsPart = make('section', {}, whom, scene);
  const maps = Array.from({ length: layers * heads }, (_, at) => headMap(Math.floor(at / heads), at % heads));
  const headSay = make('p', { class: 'live-note' });
  const strip = svg('svg', { viewBox: `0 0 ${size} ${layers * 7}`, preserveAspectRatio: 'none', class: 'strip', role: 'img' });
  const cacheSay = make('p', { class: 'live-note' });
  const readings = make('tbody');

  function headMap(layer, head) {
    const key = `${layer},${head}`;
    const title = `layer ${layer + 1}, head ${head + 1}`;
    const drawing = svg('svg', { viewBox: `0 0 ${MAP} ${MAP}`, 'aria-hidden': 'true' });
    const kind = make('span', { class: 'kind' });
    const look = make('button', { type: 'button', class: 'map', click: () => {
      picked = picked && picked.key === key ? null : { key, layer, head };
      paint();
    } }, drawing);
    const toggle = make('button', { type: 'button', class: 'switch', role: 'switch', 'aria-label': title, click: () => {
      if (!model.off.delete(key)) model.off.add(key);
      model.keep(0);
      compute(chosen);
    } });
    const cell = make('div', { class: `head h${head}` }, look, kind, toggle);
    return { cell, show() {
      const on = !model.off.has(key);
      const seen = rows(layer, head);
      const [unit, what] = [Math.max(4, Math.min(MAP, seen.length)), habit(seen)];
      drawing.setAttribute('viewBox', `0 0 ${unit} ${unit}`);
      drawing.replaceChildren(...squares(seen).map((d, strength) => svg('path', { d, opacity: [0.06, 0.25, 0.45, 0.7, 1][strength] })));
      look.setAttribute('aria-label', `look through ${title}: ${what}`);
      look.setAttribute('aria-pressed', String(Boolean(picked && picked.key === key)));
      kind.textContent = what;
      toggle.textContent = on ? 'on' : 'off';
      toggle.setAttribute('aria-checked', String(on));
      cell.classList.toggle('off', !on);
    } };
  }

  const wide = (root.clientWidth || 720) >= 600;
  const fold = (part, text, ...children) => parts.includes(part)
    && make('details', { open: wide, class: part, toggle: () => below() }, make('summary', {}, text), ...children);
  const isOpen = (part) => parts.includes(part) && root.querySelector(`details.${part}`).open;
  const layerOf = (layer) => make('div', { class: 'layer', role: 'group', 'aria-label': `layer ${layer + 1}` },
    make('span', { class: 'live-name' }, `layer ${layer + 1}`), ...maps.slice(layer * heads, (layer + 1) * heads).map((map) => map.cell));
  root.append(
    make('div', { class: 'live-bar starts', role: 'group', 'aria-label': 'Good starts' }, ...starts),
    make('label', { for: name, class: 'live-name' }, 'Type here, in English:'), field,
    make('div', { class: 'live-bar' }, one, many, back, again),
    make('div', { class: 'two' },
      parts.includes('bars') && make('section', { class: 'bars' }, nextTitle, ...lines.map((line) => line.root), heat.root, undecided),
      parts.includes('arcs') && arcsPart),
  );
  const say = speaker(parts.includes('arcs') ? arcsPart : root);
  root.append(...[
    fold('heads', 'Twelve heads: a map to look through it, its switch to turn it off',
      make('div', { class: 'layers-of-heads' }, ...Array.from({ length: layers }, (_, layer) => layerOf(layer))), headSay),
    fold('cache', 'What it keeps: keys and values', strip, cacheSay),
    fold('layers', 'What it would say after each layer', make('table', {}, readings)),
  ].filter(Boolean), make('p', { class: 'live-note' },
    `${model.parameters.toLocaleString('en')} numbers, ${layers} layers of ${heads} heads, all computed here while you type. `
    + `It has read Python’s manual and the documentation strings of the standard library, nothing else. `
    + `It reads the last ${size} tokens at most. `
    + 'It knows which words follow which; it has no facts, '
    + 'and no head that copies: a text that it has just read hardly helps it to read the same text again.'));

  function start(text) { field.value = text; read(); }
  function read() { ids = tokenizer.encode(textEnd(field.value)); compute(); }
  function fill() { field.value = tokenizer.decode(ids); field.scrollTop = field.scrollHeight; }
  function take(id) { stop(); ids = [...ids.slice(0, place() + 1), id]; fill(); compute(); }
  function place() { return ids.length ? windowStart(ids.length, size) + chosen : -1; }

  /** Bring the models up to the text, in slices of time, then paint; what was read before and is the same is kept. */
  function compute(at = Infinity, then = null) {
    const all = ids.length ? ids : [tokenizer.end];
    const wanted = all.slice(windowStart(all.length, size));
    const running = model.off.size ? [model, whole] : [model];
    for (const each of running) {
      let same = 0;
      while (same < each.ids.length && each.ids[same] === wanted[same]) same += 1;
      each.keep(same);
    }
    turn += 1;
    const mine = turn;
    const work = () => {
      if (mine !== turn) return;
      const begun = performance.now();
      while (performance.now() - begun < 10) {
        const each = running.find((some) => some.ids.length < wanted.length);
        if (!each) { chosen = Math.min(at, wanted.length - 1); paint(); if (then) then(); return; }
        each.step(wanted[each.ids.length]);
      }
      setTimeout(work, 0);
    };
    work();
  }

  function write(then) {
    const at = model.ids.length - 1;
    if (at < 0) return;
    const id = draw(Array.from(shares(model.scores(at), heat.value)), dice);
    ids.push(id);
    fill();
    compute(Infinity, () => { if (then) then(id); });
  }
  function go(left) {
    many.textContent = 'Stop';
    writing = setTimeout(() => write((id) => { if (left > 1 && id !== tokenizer.end && writing) go(left - 1); else stop(); }), 180);
  }
  function stop() { clearTimeout(writing); writing = null; many.textContent = 'Write on'; }

  /** Whether the chosen token has been read; long texts are read in slices. */
  function ready() { return model.ids.length > chosen; }

  function paint() {
    if (!ready()) return;
    back.disabled = !ids.length;
    const focused = tokens.contains(document.activeElement);
    tokens.replaceChildren(...model.ids.map((id, at) => make('button', { type: 'button', class: 'token', tabindex: at === chosen ? 0 : -1,
      'aria-pressed': String(at === chosen), click: () => choose(at) }, shown(id))));
    tokens.classList.toggle('many', model.ids.length > 40);
    if (focused) tokens.children[chosen].focus({ preventScroll: true });
    link();
    guess();
  }

  /** What stands further down follows in the next frame, where it is open. */
  const below = paced(() => {
    if (!ready()) return;
    if (isOpen('heads')) maps.forEach((map) => map.show());
    headSay.textContent = model.off.size
      ? `${model.off.size} of ${maps.length} heads ${model.off.size === 1 ? 'is' : 'are'} off. `
        + 'The thin marks in the bars show the shares with all heads on.'
      : `Rows: who looks. Columns: at whom. The last ${MAP} tokens at most. Below each map: what the head mostly looks at in this text.`;
    if (isOpen('cache')) cache();
    if (isOpen('layers')) readings.replaceChildren(...Array.from({ length: layers }, (_, up) => reading(layers - 1 - up)));
  });

  /** All that the temperature changes. */
  function guess() {
    if (!ready()) return;
    bars();
    tell();
    below();
  }
  function choose(at) {
    chosen = Math.max(0, Math.min(model.ids.length - 1, at));
    paint();
    tokens.children[chosen]?.focus({ preventScroll: true });
  }
  tokens.addEventListener('keydown', (event) => {
    const to = { ArrowLeft: chosen - 1, ArrowRight: chosen + 1, Home: 0, End: Infinity }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(to);
  });

  /** The heads looked through, their weights at the chosen token, and the mean of these. */
  function looks() {
    const looking = picked ? [picked] : Array.from({ length: heads }, (_, head) => ({ layer: layers - 1, head }));
    const seen = looking.map(({ layer, head }) => model.attention[chosen][layer][head]);
    return { looking, seen, mean: Array.from({ length: chosen + 1 }, (_, j) => seen.reduce((sum, row) => sum + row[j], 0) / seen.length) };
  }

  /** Arcs from the chosen token to those it looks at, in the colours of the heads; the tokens get a ground by their mean weight. */
  function link() {
    const { looking, seen, mean } = looks();
    const boxes = [...tokens.children].map((token) => [token.offsetLeft + token.offsetWidth / 2, token.offsetTop]);
    arcs.replaceChildren(...looking.flatMap(({ head }, k) => mean.map((_, j) => {
      const share = seen[k][j];
      if (share < 0.03 || j === chosen) return null;
      const [[x, y], [u, v]] = [boxes[chosen], boxes[j]];
      const lift = (y === v ? 12 + Math.min(36, Math.abs(x - u) * 0.2) : 22) + 3 * head;
      return svg('path', { d: `M${x} ${y}C${x} ${y - lift} ${u} ${v - lift} ${u} ${v}`, class: `h${head}`, 'stroke-width': 0.8 + 6 * share,
        opacity: 0.3 + 0.7 * share });
    }).filter(Boolean)));
    [...tokens.children].forEach((token, j) => {
      token.style.setProperty('--share', `${j <= chosen ? Math.round(50 * mean[j]) : 0}%`);
      token.classList.toggle('later', j > chosen);
    });
    const eye = picked ? `layer ${picked.layer + 1}, head ${picked.head + 1}` : `the ${heads} heads of layer ${layers}`;
    whom.textContent = `Who looks at whom: ${eye}`;
  }

  function tell() {
    const mean = looks().mean;
    const most = greatest(mean, 2).map((j) => `“${shown(model.ids[j])}” (${percent(mean[j])})`).join(' and ');
    const now = shares(model.scores(chosen), heat.value);
    const best = greatest(now, 1)[0];
    say(`At “${shown(model.ids[chosen])}”, ${picked ? 'this head looks' : 'the last layer looks'} mostly at ${most}; `
      + `the model would go on with “${shown(best)}” (${percent(now[best])}).`
      + `${chosen < model.ids.length - 1 ? ' What comes later is grey: a GPT never sees it.' : ''}`);
  }

  function bars() {
    const now = shares(model.scores(chosen), heat.value);
    const before = model.off.size && whole.ids.length > chosen ? shares(whole.scores(chosen), heat.value) : null;
    const order = greatest(now, BARS);
    const full = Math.max(0.3, ...order.map((id) => Math.max(now[id], before ? before[id] : 0)));
    nextTitle.textContent = `After “${shown(model.ids[chosen])}”: click one to take it`;
    order.forEach((id, rank) => {
      const line = lines[rank];
      line.id = id;
      line.text.textContent = shown(id);
      line.bar.style.width = `${100 * now[id] / full}%`;
      line.mark.hidden = !before;
      if (before) line.mark.style.left = `${100 * before[id] / full}%`;
      line.share.textContent = percent(now[id]);
    });
    const bits = now.reduce((sum, share) => sum - (share > 0 ? share * Math.log2(share) : 0), 0);
    undecided.textContent = `As undecided as among ${number(2 ** bits, 1)} equal tokens of ${now.length.toLocaleString('en')}.`;
  }

  function cache() {
    const length = model.ids.length;
    const line = (layer, kind, from, to, look) => svg('rect', {
      x: from, width: Math.max(0, to - from), y: 7 * layer + 3 * kind, height: 2.6, class: `${kind ? 'value' : 'key'} ${look}`,
    });
    strip.replaceChildren(...Array.from({ length: layers }, (_, layer) => [0, 1].flatMap((kind) => [
      line(layer, kind, 0, length - 1, 'old'), line(layer, kind, length - 1, length, 'new'), line(layer, kind, length, size, 'free'),
    ])).flat());
    const text = `${length} of ${size} places: ${(2 * layers * length * model.width).toLocaleString('en')} numbers kept, `
      + `keys in blue, values in green, for ${layers} layers. The next token computes one new column and reads all of them.`;
    strip.setAttribute('aria-label', text);
    cacheSay.textContent = text;
  }

  function reading(layer) {
    const now = shares(model.scores(chosen, layer), heat.value);
    return make('tr', {}, make('th', { scope: 'row' }, `layer ${layer + 1}`), ...greatest(now, 4).map((id) => make('td', {},
      make('code', {}, shown(id)), ` ${percent(now[id])}`)));
  }

  const watch = new ResizeObserver(() => { if (ready() && tokens.children.length > chosen) link(); });
  watch.observe(scene);
  root.classList.toggle('quiet', still());
  start(begin);
  return () => { stop(); turn += 1; watch.disconnect(); };
}
