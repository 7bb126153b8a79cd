// Which box did this? Six things that happened inside a GPT, and the boxes of the machine: choose an event, click the box.
import { make, svg, set, button, speaker, own } from './kit.js';

/** The boxes from the input upwards: name, and where it stands in the drawing. */
export const BOXES = [
  ['table', 60, 322, 180], ['positions', 60, 272, 180], ['mask', 236, 206, 92], ['attention', 60, 206, 150],
  ['feed-forward', 60, 138, 150], ['output', 60, 56, 180],
];
const EXAMPLE = [
  'Each id became a row of 120 numbers.', 'Two tokens had equal rows. Now they differ, and no token has looked at another.',
  'The last token took shares of other tokens.', 'An early token took nothing from the later ones.',
  'Each token was worked on by itself.', 'The last row became a probability for each token of the vocabulary.',
];
const LETTERS = 'ABCDEF';

/** The line of Python that the clicks amount to. */
export function line(name, chosen) {
  const entries = [...LETTERS].map((letter) => `"${letter}": ${chosen[letter] ? `"${chosen[letter]}"` : 'None'}`);
  return `${name} = {${entries.join(', ')}}`;
}

export function render(root, state) {
  const events = state.events || EXAMPLE, name = state.name || 'box_that_did_it';
  const chosen = {};
  let now = 'A';
  const cards = [...LETTERS].map((letter, i) => make('button', { type: 'button', class: 'event', click: () => { now = letter; paint(); } },
    make('b', {}, letter), make('span', {}, events[i])));
  const drawing = svg('svg', { viewBox: '0 0 340 392', role: 'group', 'aria-label': 'the machine, from the ids to the next token' });
  const arrow = (x, from, to) => svg('path', { class: 'arrow', d: `M${x} ${from} V${to} M${x - 4} ${to + 6} L${x} ${to} L${x + 4} ${to + 6}` });
  drawing.append(svg('rect', { class: 'block', x: 44, y: 112, width: 292, height: 144, rx: 8 }),
    svg('text', { x: 328, y: 132, 'text-anchor': 'end', class: 'small' }, 'three times'),
    arrow(150, 374, 358), arrow(150, 320, 310), arrow(150, 270, 244), arrow(135, 204, 176), arrow(135, 136, 94), arrow(150, 54, 36),
    svg('path', { class: 'arrow', d: 'M236 223 H212 M218 219 L212 223 L218 227' }),
    svg('text', { x: 150, y: 388, 'text-anchor': 'middle' }, 'ids'),
    svg('text', { x: 150, y: 26, 'text-anchor': 'middle' }, 'the next token'));
  const boxes = BOXES.map(([box, x, y, width]) => {
    const letters = svg('text', { class: 'letters', x: x + width - 8, y: y + 23, 'text-anchor': 'end' });
    const made = svg('g', { class: 'box', role: 'button', tabindex: 0, click: () => take(box), keydown: (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      take(box);
    } }, svg('rect', { x, y, width, height: 34, rx: 6 }), svg('text', { x: x + 10, y: y + 22 }, box), letters);
    own(made);
    drawing.append(made);
    return { box, made, letters };
  });
  const take = (box) => {
    chosen[now] = box;
    now = [...LETTERS].find((letter) => !chosen[letter]) || now;
    paint();
  };
  const code = make('pre', { tabindex: 0, 'aria-label': 'what to write into the cell below' });
  const again = button('Start again', () => { Object.keys(chosen).forEach((letter) => delete chosen[letter]); now = 'A'; paint(); });
  root.append(
    make('p', { class: 'live-note' }, 'Choose an event, then click the box that did it.'),
    make('div', { class: 'sides' }, make('div', { class: 'events' }, ...cards), drawing), make('div', { class: 'live-bar' }, again), code,
  );
  const say = speaker(root);

  function paint() {
    cards.forEach((card, i) => {
      set(card, { 'aria-pressed': String(LETTERS[i] === now), class: chosen[LETTERS[i]] ? 'event done' : 'event' });
    });
    boxes.forEach(({ box, made, letters }) => {
      const here = [...LETTERS].filter((letter) => chosen[letter] === box).join(' ');
      letters.textContent = here;
      set(made, { 'aria-label': `${box}${here ? `, chosen for ${here}` : ''}`, class: here ? 'box taken' : 'box' });
    });
    code.textContent = line(name, chosen);
    const left = [...LETTERS].filter((letter) => !chosen[letter]);
    say(left.length ? `Which box did ${now}? ${left.length === 6 ? '' : `Left: ${left.join(', ')}.`}`
      : 'All six have a box. Copy the line into the cell below and run it. Click an event and another box to change your mind.');
  }
  paint();
}
