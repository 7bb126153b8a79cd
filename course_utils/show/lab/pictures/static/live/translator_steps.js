// The translator, step by step: a number in English, one German word at a time, and where each step looks in the English.
import { button, bytes, choice, make, number, own, set, speaker, unique } from './kit.js';
import { shares } from './engine.js';
import { EOS, Translator, beamStart, beamStep, englishWords, greatest, greedy } from './engine_seq2seq.js';
import { weights } from './weights_translator.js';

const EXAMPLES = ['39,755', '5,306', '18,254', '67,013'];
const BARS = 5;
const MOST = 24;
const WORDS = 14;

/** What was typed as English words that the model knows, `{ words }`, or a sentence that says why not, `{ trouble }`. */
export function readSource(text, known) {
  const clean = text.trim().toLowerCase();
  if (!clean) return { trouble: 'Write a number, in digits or in English words.' };
  if (/^[\d.,\s+\u2212-]+$/.test(clean)) {
    if (!/^(\d+|\d{1,3}(,\d{3})+)$/.test(clean)) return { trouble: `“${clean}” is no whole number: digits alone, please.` };
    const n = Number(clean.replace(/,/g, ''));
    if (n > 99999) return { trouble: 'It learned numbers below 100,000: the largest it can read is 99,999.' };
    return n ? { words: englishWords(n) } : { trouble: 'It has never met the word “zero”: begin with 1.' };
  }
  const words = clean.split(/[\s,-]+/).filter(Boolean);
  const strange = words.find((word) => !known.has(word));
  if (strange) return { trouble: `It does not know the word “${strange}”: it learned the ${known.size} words of English numbers.` };
  if (words.length > WORDS) return { trouble: `${words.length} words are too many; ${WORDS} find room here.` };
  return { words };
}

/** The weights of one step, `looked[layer][head]`: "mean" of all heads, "1" the mean of a layer, "1,2" one head. */
export function mean(looked, which) {
  const [layer, head] = which === 'mean' ? [] : which.split(',').map(Number);
  const rows = head === undefined ? (layer === undefined ? looked.flat() : looked[layer]) : [looked[layer][head]];
  return Array.from(rows[0], (_, j) => rows.reduce((sum, row) => sum + row[j], 0) / rows.length);
}

/** A share in percent: near 0 and near 100 with a decimal place, and never a rounded 0 or 100. */
export function percent(share) {
  if (share < 0.0005) return '<\u00a00.1\u00a0%';
  if (share > 0.9994) return '>\u00a099.9\u00a0%';
  return `${number(100 * share, share < 0.0995 || share >= 0.9895 ? 1 : 0)}\u00a0%`;
}



export function render(root, state) {
  const model = new Translator(bytes(weights));
  const known = new Set(model.source.slice(4));
  const word = (id) => (id === EOS ? '∎ end' : model.target[id]);
  const begin = state.text ?? EXAMPLES[0];
  let [source, steps, forced, at, search, which] = [[], [], new Set(), 0, [], 'mean'];

  const name = unique('number');
  const field = make('input', { id: name, type: 'text', autocomplete: 'off', spellcheck: 'false', maxlength: 120, input: () => read() });
  own(field);
  const examples = EXAMPLES.map((text) => button(text, () => { field.value = text; read(); }, { 'aria-label': `translate ${text}` }));
  const ways = [['greedy', 'the best word'], ['beam', 'a beam of 3']];
  const how = choice({ label: 'it keeps', options: ways, value: 'greedy' }, () => restart());
  const on = button('Next word →', () => forward(), { class: 'live-button main' });
  const back = button('← Back', () => backward());
  const again = button('Start again', () => { how.value = 'greedy'; eye.value = which = 'mean'; start(); });
  const id = unique('eye');
  const eye = make('select', { id, change: () => { which = eye.value; paint(); } }, make('option', { value: 'mean' }, 'mean of all heads'),
    ...Array.from({ length: model.layers }, (_, layer) => [make('option', { value: `${layer}` }, `layer ${layer + 1}, mean`),
      ...Array.from({ length: model.heads }, (_, head) =>
        make('option', { value: `${layer},${head}` }, `layer ${layer + 1}, head ${head + 1}`))]).flat());
  own(eye);
  const map = make('table', { class: 'map' });
  const barTitle = make('h4');
  const lines = Array.from({ length: BARS }, (_, rank) => {
    const line = { id: 0, text: make('span', { class: 'word' }), bar: make('i'), share: make('span', { class: 'share' }) };
    line.root = make('button', { type: 'button', class: 'next', click: () => take(line.id) },
      line.text, make('b', {}, line.bar), line.share);
    return line;
  });
  const bars = make('section', { class: 'bars' }, barTitle, ...lines.map((line) => line.root),
    make('p', { class: 'live-note' }, 'Click another word to force it; the rest goes on from there.'));
  const beams = make('section', { class: 'beams' });
  const steer = make('div', { class: 'live-bar steer', role: 'group', 'aria-label': 'Steps: also by the arrow keys' },
    on, back, again);
  const two = make('div', { class: 'two' }, make('section', { class: 'looks' }, map,
    make('div', { class: 'live-bar' }, make('label', { for: id }, 'look through '), eye)), bars, beams);
  root.append(
    make('label', { for: name, class: 'live-name' }, 'A number, in digits or in English words:'),
    make('div', { class: 'live-bar asked' }, field, ...examples),
    make('div', { class: 'live-bar' }, ...(state.beam === false ? [steer] : [steer, how.root])),
  );
  const say = speaker(root);
  root.append(two, make('p', { class: 'live-note' },
    `${model.parameters.toLocaleString('en')} weights, ${model.layers} layers of ${model.heads} heads in either stack, all computed here. `
    + 'Trained on 11,000 numbers below 100,000; the four examples are among 1,000 others that it never saw. '
    + 'Of these it translates 99.9\u00a0% without a mistake. '
    + 'Only 14 of the 11,000 were below 100, and there it can still fail: try 5.'));
  const keys = (event) => {
    if (event.target === field || event.target === eye || how.root.contains(event.target)) return;
    const act = { ArrowRight: forward, ArrowLeft: backward }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  root.addEventListener('keydown', keys);

  const beaming = () => how.value === 'beam';
  const ended = () => steps.at(-1)?.last === EOS;
  const full = () => steps.length > MOST;

  function read() {
    const { words, trouble } = readSource(field.value, known);
    set(field, { 'aria-invalid': trouble ? 'true' : false });
    two.hidden = Boolean(trouble);
    source = words || [];
    if (trouble) { steps = search = []; on.disabled = back.disabled = true; say(trouble); } else restart();
  }
  /** As the page began: a few words of the first number are written. */
  function start() {
    field.value = begin;
    read();
    for (let k = 0; k < (state.steps ?? 3); k += 1) forward();
  }
  function restart() {
    if (!source.length) return;
    const first = model.encode(source.map((one) => model.source.indexOf(one)));
    [steps, forced, at, search] = [[{ state: first, last: null }], new Set(), 0, [beamStart(first)]];
    paint();
  }
  function forward() {
    if (on.disabled) return;
    if (beaming()) search.push(beamStep(model, search.at(-1), { most: MOST }));
    else { take(greatest(steps.at(-1).state.scores, 1)[0], false); return; }
    paint();
  }
  function backward() {
    if (back.disabled) return;
    if (beaming()) search.pop();
    else { steps.pop(); at = steps.length - 1; forced.delete(at); }
    paint();
  }

  /** A word is written at the chosen place; what stood there and behind is gone. */
  function take(token, here = true) {
    const place = here ? at : steps.length - 1;
    steps.length = place + 1;
    [...forced].filter((one) => one >= place).forEach((one) => forced.delete(one));
    const { state: before } = steps[place];
    if (token !== greatest(before.scores, 1)[0]) forced.add(place);
    steps.push({ state: token === EOS ? before : model.step(before, token), last: token });
    at = token === EOS || full() ? place : place + 1;
    paint();
  }

  function paint() {
    const held = document.activeElement;
    bars.hidden = beaming();
    beams.hidden = !beaming();
    on.disabled = beaming() ? search.at(-1).done : ended() || full();
    back.disabled = (beaming() ? search : steps).length < 2;
    if (held === on && on.disabled) back.focus({ preventScroll: true }); // a button that is off hears no keys
    if (held === back && back.disabled) on.focus({ preventScroll: true });
    if (beaming()) paintBeam();
    else paintGreedy();
  }

  /** The map: a column for each English word, a row for each step; a row is a button where `choose` is given. */
  function drawMap(rows, now, choose) {
    const focused = map.contains(document.activeElement);
    const looked = rows.map(({ looked: one }) => mean(one, which));
    map.replaceChildren(
      make('caption', {}, 'Where each step looks'),
      make('thead', {}, make('tr', {}, make('td'), ...source.map((one, j) => make('th', { scope: 'col',
        style: `--share: ${looked[now] ? looked[now][j] : 0}` }, make('span', {}, one))))),
      make('tbody', {}, ...rows.map(({ text, mine }, t) => make('tr', { class: t === now ? 'now' : '' },
        make('th', { scope: 'row' }, choose ? make('button', { type: 'button', class: mine ? 'forced' : '',
          'aria-pressed': String(t === now), title: mine ? 'forced by you' : null, click: () => choose(t) }, text) : text),
        ...looked[t].map((share) => make('td', { style: `--share: ${share}` }, share < 0.095 ? '' : number(share).replace('0.', '.')))))));
    if (focused) map.querySelectorAll('button')[now]?.focus({ preventScroll: true });
    return looked;
  }

  function paintGreedy() {
    const { state: last } = steps.at(-1);
    const written = steps.slice(1).map((one) => one.last);
    const rows = last.cross.map((looked, t) => ({ looked, mine: forced.has(t), text: t < written.length ? word(written[t]) : '?' }));
    const looked = drawMap(rows, at, (t) => { at = t; paint(); });
    const now = shares(steps[at].state.scores);
    const order = greatest(now, BARS + 3).filter((id) => id === EOS || id > 3).slice(0, BARS);
    barTitle.textContent = at < written.length ? `Word ${at + 1} was chosen from` : `Word ${at + 1} will be`;
    order.forEach((token, rank) => {
      const line = lines[rank];
      line.id = token;
      line.text.textContent = word(token);
      line.bar.style.width = `${100 * now[token]}%`;
      line.share.textContent = percent(now[token]);
      set(line.root, { 'aria-pressed': String(written[at] === token),
        'aria-label': `${word(token)}, ${percent(now[token])}: write it` });
    });
    tell(written, looked, now, order[0]);
  }

  const looks = (row) => { const [j] = greatest(row, 1); return `“${source[j]}” (${number(row[j])})`; };
  const german = (ids) => ids.filter((one) => one !== EOS).map((one) => model.target[one]).join('');

  function tell(written, looked, now, best) {
    if (at < written.length && !(ended() && at === written.length - 1)) {
      say(`Step ${at + 1} wrote “${word(written[at])}” with ${percent(now[written[at]])}, looking at ${looks(looked[at])}.`);
      return;
    }
    if (!written.length) {
      say(`The English is read once. Before the first word it looks mostly at ${looks(looked[0])}; `
        + `next comes “${word(best)}” (${percent(now[best])}). Press →.`);
      return;
    }
    const t = written.length - 1;
    const share = shares(steps[t].state.scores)[written[t]];
    const wrote = `“${word(written[t])}”`;
    const what = forced.has(t) ? `You forced ${wrote}, to which it gave ${percent(share)}.`
      : `It wrote ${wrote} with ${percent(share)}, looking at ${looks(looked[t])}.`;
    const alone = forced.size ? ` Left alone it writes ${german(greedy(model, steps[0].state))}.` : '';
    if (ended()) say(`${what} The whole: ${german(written)}.${alone}`);
    else if (full()) say(`${what} ${MOST} words are written; it stops here without an end.`);
    else say(`${what} Next comes “${word(best)}” (${percent(now[best])}).`);
  }

  function paintBeam() {
    const { live, dropped, finished, done, length } = search.at(-1);
    const [best] = done ? finished : live;
    const ids = best.ids;
    const cross = done ? best.state.cross : live[0].cross;
    const rows = cross.map((looked, t) => ({ looked, text: t < ids.length ? word(ids[t]) : '?' }));
    drawMap(rows, rows.length - 1, null);
    const list = (title, kind, all, value) => all.length && make('div', { class: kind }, make('h4', {}, title),
      make('ol', {}, ...all.map((one) => make('li', {}, make('span', {}, one.ids.map(word).join(' ') || '(nothing yet)'),
        make('b', {}, number(value(one), 3))))));
    beams.replaceChildren(...[
      !done && list('Goes on: sum of the log-probabilities', 'live', live, (one) => one.sum),
      !done && list('Given up in this step', 'dropped', dropped, (one) => one.sum),
      list('Has ended: the sum over its length penalty', 'ended', finished, (one) => one.score),
    ].filter(Boolean));
    if (!length) say('The beam has one beginning: nothing written yet. Press →, and it keeps the three best first words.');
    else if (!done) {
      say(`Step ${length}: ${live.length} beginnings go on, the best is “${german(live[0].ids)}” with ${number(live[0].sum, 3)}; `
        + `${dropped.length} others shown were given up, the first with ${number(dropped[0].sum, 3)}.`);
    } else {
      say(`Nothing that goes on can overtake what has ended. The answer is ${german(ids)} with ${number(best.score, 3)}; `
        + `the second best has ${number(finished[1].score, 3)}.`);
    }
  }

  start();
  return () => root.removeEventListener('keydown', keys);
}
