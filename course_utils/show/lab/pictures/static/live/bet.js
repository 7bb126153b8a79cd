// Bet, then see: an answer of a few numbers, or of a few words in an order, is set by hand on an axis, and written into the reader's
// cell as the line that `check` judges. Shown again with `measured`, the piece draws what came out over the bet, and the gap between.
import { make, set, button, own, speaker, unique } from './kit.js';

const STEPS = 1000, HIT = 0.05;
const EXAMPLE = { exercise: '', answer: 'prediction', labels: ['the first number asked for', 'the second', 'the third'], axis: [0.1, 1000],
  bet: { 'the first number asked for': 40, 'the second': 3 } };
const drawn = new Map(); // on a page without a kernel: the reader's bets, by exercise

/** Places on an axis from 0 to 1: of words in their order (`levels`), or of numbers on a logarithmic scale (`axis`: [low, high]). */
export function scale({ levels, axis }) {
  if (levels) {
    const last = levels.length - 1;
    return { steps: last, at: (value) => Math.max(0, levels.indexOf(value)) / last, value: (place) => levels[Math.round(place * last)],
      has: (value) => levels.includes(value), ticks: levels.map((name, i) => [i / last, name]) };
  }
  const [low, high] = axis, wide = Math.log(high / low), at = (value) => Math.min(1, Math.max(0, Math.log(value / low) / wide));
  const tens = Array.from({ length: 19 }, (_, k) => Number(`1e${k - 9}`)).filter((ten) => ten >= low && ten <= high);
  return { steps: STEPS, at, value: (place) => Number((low * Math.exp(place * wide)).toPrecision(2)),
    has: (value) => typeof value === 'number' && value > 0, ticks: tens.map((ten) => [at(ten), ten.toLocaleString('en')]) };
}

/** The next place in a direction where a value of its own stands. */
export function beside(axis, place, by) {
  const start = Math.round(place * axis.steps), old = axis.value(start / axis.steps);
  let step = start;
  do step += by; while (step > 0 && step < axis.steps && axis.value(step / axis.steps) === old);
  return Math.min(axis.steps, Math.max(0, step)) / axis.steps;
}

/** The Python statement that a bet amounts to. */
export function statement(answer, labels, bet) {
  const python = (value) => (value === undefined || value === null ? 'None' : JSON.stringify(value));
  return `${answer} = {\n${labels.map((label) => `    ${JSON.stringify(label)}: ${python(bet[label])},\n`).join('')}}`;
}

/** A cell's source with the dictionary that `answer` names replaced, and nothing else; null where there is none. */
export function replaced(source, answer, text) {
  const start = source.search(new RegExp(`^${answer} *= *\\{`, 'm'));
  if (!/^\w+$/.test(answer) || start < 0) return null;
  const parts = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#[^\n]*|[{}]/g; // brackets in texts and comments do not count
  parts.lastIndex = start;
  for (let deep = 0, part = parts.exec(source); part; part = parts.exec(source)) {
    deep += { '{': 1, '}': -1 }[part[0]] ?? 0;
    if (part[0] === '}' && deep === 0) return source.slice(0, start) + text + source.slice(parts.lastIndex);
  }
  return null;
}

/** How far a bet is from what was measured, in words, and whether it hit. */
export function missed({ levels }, bet, measured) {
  if (levels) {
    const by = levels.indexOf(bet) - levels.indexOf(measured), steps = Math.abs(by) === 1 ? 'one step' : `${Math.abs(by)} steps`;
    return by === 0 ? { hit: true, words: 'as you bet' } : { hit: false, words: `${steps} too ${by > 0 ? 'high' : 'low'}` };
  }
  const times = bet / measured, off = Math.abs(times - 1);
  if (off <= HIT) return { hit: true, words: off < 0.005 ? 'as you bet' : `off by ${Math.round(100 * off)} %` };
  const factor = Math.max(times, 1 / times), side = times > 1 ? 'large' : 'small';
  return { hit: false, words: factor < 2 ? `${Math.round(100 * off)} % too ${side}` : `${Number(factor.toPrecision(2))} times too ${side}` };
}

const text = (value) => (typeof value === 'number' ? Number(value.toPrecision(3)).toLocaleString('en') : String(value));

export function render(root, given, page = {}) {
  const state = { ...(given.labels || given.measured ? given : EXAMPLE) };
  state.labels ??= Object.keys(state.measured);
  const axis = scale(state), list = make('div', { class: 'bet-rows' });
  const place = (value) => `--at: ${axis.at(value)}`;
  const ticks = () => axis.ticks.map(([at]) => make('i', { class: 'tick', style: `--at: ${at}` }));
  list.append(make('div', { class: 'bet-row head', 'aria-hidden': 'true' }, make('span'), make('span', { class: 'track' },
    ...axis.ticks.map(([at, name]) => make('b', { style: `--at: ${at}` }, name))), make('span')));
  const row = (label, track, value) => list.append(make('div', { class: 'bet-row' }, label, make('span', { class: 'track' }, ...ticks(), ...track), value));
  if (state.measured) return see(root, state, page, { axis, place, list, row });

  const bet = { ...(state.bet || {}) };
  const line = make('pre', { class: 'bet-line', tabindex: 0, 'aria-label': 'your bet as a line of Python' });
  const controls = state.labels.map((label) => {
    const id = unique('bet'), value = make('output', { for: id });
    const input = make('input', { type: 'range', id, min: 0, max: axis.steps, step: 1 });
    const put = (next) => { bet[label] = axis.value(next); input.value = next * axis.steps; paint(); };
    own(input);
    input.value = axis.has(bet[label]) ? axis.at(bet[label]) * axis.steps : axis.steps / 2;
    for (const event of ['input', 'pointerup']) input.addEventListener(event, () => put(input.value / axis.steps)); // a tap bets where the handle stands
    input.addEventListener('keydown', (event) => {
      const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, Enter: 0, ' ': 0 }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      const here = input.value / axis.steps;
      put(by && axis.has(bet[label]) ? beside(axis, here, by) : here);
      keep();
    });
    input.addEventListener('change', keep);
    row(make('label', { for: id }, label), [input], value);
    return { label, input, value };
  });
  function keep() { page.keep?.({ ...state, bet }); }
  root.append(make('p', { class: 'live-note' }, 'Your bet: put each point where you expect it. Drag it, tap the line, or use the arrow keys.'), list, line);
  const say = speaker(root);
  if (page.write) root.append(button('Write my bet into the cell below', () => {
    const there = page.write(state.exercise, (source) => replaced(source, state.answer, line.textContent));
    say(there ? `It stands in the cell of exercise ${state.exercise} now. Run that cell, then the check below it.`
      : `No answer cell of exercise ${state.exercise} has “${state.answer} = {…}” in it, so nothing was changed. Copy the lines above by hand.`);
  }));

  function paint() {
    for (const { label, input, value } of controls) {
      const there = axis.has(bet[label]), said = there ? text(bet[label]) : '?';
      value.textContent = said;
      set(input, { 'aria-valuetext': there ? said : 'no bet yet', class: there ? false : 'open' });
    }
    line.textContent = statement(state.answer, state.labels, bet);
    drawn.set(state.exercise, bet);
    dispatchEvent(new CustomEvent('course-bet'));
    const open = controls.filter(({ label }) => !axis.has(bet[label])).length;
    const where = page.write ? 'The button below writes these lines into your cell' : 'Copy these lines into the cell below; it wants JupyterLab';
    say(open ? `${open} of ${controls.length} without a bet.` : `All ${controls.length} are set. ${where}; exact numbers can be typed there.`);
  }
  paint();
}

/** The measured points over the bet: of the notebook's variable where there is a kernel, else of the piece above on this page. */
function see(root, state, page, { axis, place, list, row }) {
  const rows = state.labels.map((label) => {
    const ring = make('i', { class: 'ring' }), gap = make('i', { class: 'gap' }), value = make('span', { class: 'said' });
    const note = state.notes?.[label], measured = state.measured[label];
    row(make('span', {}, label, note && make('small', {}, note)), [gap, ring, make('i', { class: 'dot', style: place(measured) })], value);
    return { label, measured, ring, gap, value };
  });
  root.append(make('p', { class: 'live-note' }, make('i', { class: 'ring' }), ' your bet ', make('i', { class: 'dot' }), ' measured'), list);
  const say = speaker(root);

  function paint() {
    const bet = (page.ask ? state.bet : drawn.get(state.exercise)) || {};
    const found = rows.map(({ label, measured, ring, gap, value }) => {
      const there = axis.has(bet[label]), { hit, words } = there ? missed(state, bet[label], measured) : { hit: false, words: 'no bet' };
      const [low, high] = [axis.at(measured), there ? axis.at(bet[label]) : axis.at(measured)].sort((a, b) => a - b);
      set(ring, { hidden: !there, style: there && place(bet[label]) });
      set(gap, { hidden: !there || hit, style: `--at: ${low}; --to: ${high}` });
      value.replaceChildren(make('b', {}, text(measured)), make('small', {}, there && !hit ? `you: ${text(bet[label])}, ${words}` : words));
      return { there, hit };
    });
    const bets = found.filter(({ there }) => there).length, hits = found.filter(({ hit }) => hit).length;
    say(bets ? `${hits} of ${bets} bets hit${state.levels ? '' : ' within 5 %'}.` : 'Without a bet, only what was measured is drawn.');
  }
  paint();
  addEventListener('course-bet', paint);
  return () => removeEventListener('course-bet', paint);
}
