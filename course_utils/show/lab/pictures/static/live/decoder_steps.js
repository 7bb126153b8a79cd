// A decoder plays its recorded steps: at each the state asks, weights fall on the source, and a symbol is written. Nothing is computed here.
import { make, set, button, speaker, number } from './kit.js';

// What is shown when a notebook hands over no steps of its own: a model of chapter 02, on 342.
const EXAMPLE = {
  source: [...'dreihundertzweiundvierzig'],
  weights: [[7, 18, 14, 29, 11, 1, 0, 1, 1, 1, 0, 1, 2, 1, 1, 1, 0, 1, 5, 3, 1, 1, 0, 0, 0],
    [0, 2, 1, 0, 0, 0, 0, 0, 0, 2, 1, 10, 2, 1, 1, 0, 0, 1, 44, 14, 2, 11, 6, 2, 0],
    [1, 2, 0, 1, 1, 0, 0, 0, 0, 2, 10, 54, 6, 1, 1, 0, 0, 1, 7, 5, 1, 4, 2, 1, 1]].map((row) => row.map((w) => w / 100)),
  tops: [[['3', 0.99], ['8', 0.01], ['2', 0]], [['4', 0.98], ['5', 0.01], ['9', 0.01]], [['2', 0.97], ['3', 0.02], ['9', 0.01]]],
};

/** The places that share most of a row, neighbours joined: [[first, last, weight], …], the heaviest first. */
export function favourites(weights, least = 0.05) {
  const found = [];
  weights.forEach((weight, place) => {
    const last = found.at(-1);
    if (weight < least) return;
    if (last && last[1] === place - 1) { last[1] = place; last[2] += weight; } else found.push([place, place, weight]);
  });
  return found.sort((a, b) => b[2] - a[2]);
}

/** What is said of a step. */
export function told({ source, weights, tops }, step) {
  if (step < 0) return 'The encoder has read the word. Nothing is written yet. Where would you look for the first digit?';
  const [[first, last, share]] = favourites(weights[step], 0), [symbol, chance] = tops[step][0];
  const [from, to, weight] = favourites(weights[step])[0] || [first, last, share];
  const where = `“${source.slice(from, to + 1).join('')}” (places ${from + 1} to ${to + 1})`.replace(/places (\d+) to \1\)/, 'place $1)');
  return `Step ${step + 1}: the state before this step asks, and ${number(100 * weight, 0)} % of the weight falls on ${where}. `
    + `The context goes into the state, and the decoder writes ${symbol} (${number(100 * chance, 0)} %).`;
}

export function render(root, given) {
  const state = given && given.weights ? given : EXAMPLE, steps = state.weights.length;
  let step = given && given.weights ? -1 : 1;
  const columns = `grid-template-columns: 2.2em repeat(${state.source.length}, minmax(0, 1fr))`;
  const letters = state.source.map((letter) => make('span', { class: 'letter' }, letter));
  const rows = state.weights.map((row, t) => {
    const name = make('span', { class: 'written' }), cells = row.map(() => make('span', { class: 'cell' }));
    return { name, cells, row, t };
  });
  const map = make('div', { class: 'map', role: 'img', style: columns },
    make('span', { class: 'written' }), ...letters, ...rows.flatMap(({ name, cells }) => [name, ...cells]));
  const flow = make('p', { class: 'flow', 'aria-hidden': 'true' });
  const bars = make('div', { class: 'bars', 'aria-hidden': 'true' });
  const back = button('Back', () => go(step - 1)), next = button('Next', () => go(step + 1));
  root.append(make('div', { class: 'live-bar' }, back, next, flow), map, bars);
  const say = speaker(root);
  root.addEventListener('keydown', (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    go(step + by);
  });
  function go(to) {
    step = Math.min(steps - 1, Math.max(-1, to));
    const most = Math.max(...state.weights.flat());
    const shade = (weight) => `background: color-mix(in srgb, var(--weight) ${Math.round((100 * weight) / most)}%, var(--card))`;
    letters.forEach((letter, place) => set(letter, { style: step < 0 ? null : shade(state.weights[step][place]), class: `letter${step >= 0 && state.weights[step][place] > 0.55 * most ? ' strong' : ''}` }));
    rows.forEach(({ name, cells, row, t }) => {
      name.textContent = t <= step ? state.tops[t][0][0] : '?';
      set(name, { class: `written${t === step ? ' now' : ''}` });
      cells.forEach((cell, place) => set(cell, { style: t <= step ? shade(row[place]) : null, class: `cell${t === step ? ' now' : ''}` }));
    });
    flow.replaceChildren(...(step < 0 ? ['the word has been read'] : [make('b', { class: 'asks' }, `state ${step}`), ' asks → weights → ',
      make('b', { class: 'brings' }, 'context'), ` → state ${step + 1} → writes `, make('b', {}, state.tops[step][0][0])]));
    bars.replaceChildren(...(state.tops[step] || []).map(([symbol, chance]) => make('div', { class: 'bar' }, make('b', {}, symbol),
      make('span', { class: 'track' }, make('span', { class: 'fill', style: `width: ${100 * chance}%` })), `${number(100 * chance, 0)} %`)));
    if (document.activeElement === back && step < 0) next.focus();
    if (document.activeElement === next && step === steps - 1) back.focus();
    set(back, { disabled: step < 0 });
    set(next, { disabled: step === steps - 1 });
    set(map, { 'aria-label': `Map of ${step + 1} of ${steps} steps over the letters of ${state.source.join('')}. ${told(state, step)}` });
    say(told(state, step));
  }
  go(step);
}
