// What every piece that moves is made of: elements, controls, things to drag, and a little arithmetic.
// A piece is one ES module that exports `render(root, state, page)`: it fills `root`, an empty element, and may return a function
// that ends it. `state` is plain data. In JupyterLab `page.ask(request)` asks the kernel, `page.write(exercise, change)` changes an answer
// cell, `page.keep(state)` stores a state in the notebook. Imports are named, and from './….js'.

/** An element with attributes and children; an attribute that is a function listens, one that is false or null is left out. */
export function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for a part of an SVG drawing. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function filled(element, attributes, children) {
  set(element, attributes);
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Give an element attributes: functions become listeners, false and null take the attribute away. */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value === false || value === null || value === undefined) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? '' : value);
  }
  return element;
}

let count = 0;
/** A name that no other element of the page has. */
export const unique = (stem) => `course-live-${stem}-${count += 1}`;

/** A slider over whole steps or a range, with its name before and its value behind it: `{ root, value }`, where value may be set. */
export function slider({ label, min = 0, max = 1, step = 1, value = min, say = String }, changed) {
  const id = unique('slider');
  const input = make('input', { type: 'range', id, min, max, step });
  const output = make('output', { for: id });
  const show = () => {
    const text = say(Number(input.value));
    output.textContent = text;
    input.setAttribute('aria-valuetext', text);
  };
  input.addEventListener('input', () => { show(); changed(Number(input.value)); });
  own(input);
  input.value = value;
  show();
  return {
    root: make('div', { class: 'live-slider' }, make('label', { for: id }, label), input, output),
    get value() { return Number(input.value); },
    set value(next) { input.value = next; show(); },
  };
}

/** One of a few things, as buttons side by side: `{ root, value }`. `options` are texts, or pairs of a value and its text. */
export function choice({ label, options, value }, changed) {
  const pairs = options.map((option) => (Array.isArray(option) ? option : [option, option]));
  const root = make('div', { class: 'live-choice', role: 'radiogroup', 'aria-label': label });
  const buttons = pairs.map(([, text], index) => make('button', { type: 'button', role: 'radio', click: () => choose(index) }, text));
  let chosen;
  const show = (index) => {
    chosen = index;
    buttons.forEach((button, k) => set(button, { 'aria-checked': String(k === index), tabindex: k === index ? 0 : -1 }));
  };
  const choose = (index) => { show(index); buttons[index].focus(); changed(pairs[index][0]); };
  root.addEventListener('keydown', (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    choose((chosen + by + pairs.length) % pairs.length);
  });
  own(root);
  root.append(make('span', { class: 'live-name' }, label), ...buttons);
  show(Math.max(0, pairs.findIndex(([one]) => one === value)));
  return { root, get value() { return pairs[chosen][0]; }, set value(next) { show(pairs.findIndex(([one]) => one === next)); } };
}

/** A button; `{ pressed: true }` among the attributes makes it one that is on or off. */
export const button = (text, click, attributes = {}) => make('button', { type: 'button', class: 'live-button', click, ...attributes }, text);

/** A sentence below a piece that a screen reader says when it changes: `say(text)`. */
export function speaker(root) {
  const line = make('p', { class: 'live-say', 'aria-live': 'polite' });
  root.append(line);
  return (text) => { if (line.textContent !== text) line.textContent = text; };
}

/**
 * Let a part of an SVG drawing be dragged by mouse, pen or finger, and moved with the arrow keys (with Shift ten times as far).
 * `move([x, y])` gets the place in the drawing's own units, `nudge([dx, dy])` a step of the keys: right and up are positive;
 * `said()` is what a screen reader says of where it stands.
 */
export function draggable(node, { label, move, nudge, said }) {
  set(node, { tabindex: 0, role: 'slider', 'aria-label': label, class: `${node.getAttribute('class') || ''} live-handle`.trim() });
  const tell = () => set(node, { 'aria-valuetext': said(), 'aria-valuenow': 0 });
  node.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    node.focus({ preventScroll: true });
    node.setPointerCapture(event.pointerId);
    node.classList.add('held');
  });
  node.addEventListener('pointermove', (event) => {
    if (!node.hasPointerCapture(event.pointerId)) return;
    move(inside(node.ownerSVGElement, event));
    tell();
  });
  for (const end of ['pointerup', 'pointercancel']) node.addEventListener(end, () => node.classList.remove('held'));
  node.addEventListener('keydown', (event) => {
    const by = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!by) return;
    event.preventDefault();
    nudge(by.map((part) => part * (event.shiftKey ? 10 : 1)));
    tell();
  });
  own(node);
  tell();
  return tell;
}

/** Where a pointer is, in the units of an SVG drawing's viewBox. */
export function inside(drawing, event) {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
  return [at.x, at.y];
}

/** Keep keys that a control needs from the notebook around it, which would move to another cell. */
export function own(element) {
  element.addEventListener('keydown', (event) => {
    if (event.key.startsWith('Arrow') || ['Home', 'End', 'Enter', ' ', 'PageUp', 'PageDown'].includes(event.key)) event.stopPropagation();
  });
}

/** `draw` at most once for each frame of the screen, however often it is asked for. */
export function paced(draw) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  };
}

/** Whether the reader has asked for little movement. */
export const still = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** The weights of scores; a low temperature makes them sharper. */
export function softmax(scores, temperature = 1) {
  const most = Math.max(...scores);
  const parts = Array.from(scores, (score) => Math.exp((score - most) / temperature));
  const sum = parts.reduce((total, part) => total + part, 0);
  return parts.map((part) => part / sum);
}

export const dot = (a, b) => a.reduce((sum, part, i) => sum + part * b[i], 0);

/** A number as it is written in the course: a true minus sign. */
export const number = (value, digits = 2) => value.toFixed(digits).replace(/^-(?=.*[1-9])/, '\u2212').replace(/^-/, '');

/** Random numbers from 0 to 1, the same for the same seed. */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Random numbers of a normal distribution with mean 0 and deviation 1. */
export function normal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** The bytes of a base64 text. */
export const bytes = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
