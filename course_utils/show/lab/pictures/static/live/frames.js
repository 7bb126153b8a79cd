// A picture or a text under sliders, one frame for each of their positions. Frames that the output does not hold are asked of the
// kernel, where one runs that has them; with `typed`, a line of text may be changed, which only a kernel can answer.
import { make, set, slider, own } from './kit.js';

/** The positions of sliders with `sizes` steps, nearest to `start` first; without `together`, those that move one slider alone. */
export function positions(sizes, start, together) {
  let found = [[]];
  for (const size of sizes) found = found.flatMap((at) => Array.from({ length: size }, (_, k) => [...at, k]));
  const moved = (at) => at.filter((k, i) => k !== start[i]).length;
  const far = (at) => at.reduce((sum, k, i) => sum + Math.abs(k - start[i]), 0);
  return found.filter((at) => together || moved(at) <= 1).sort((a, b) => moved(a) - moved(b) || far(a) - far(b));
}

const address = (item) => item.src || `data:image/png;base64,${item.png}`;

export function render(root, state, page) {
  const { names, values, start, together, typed } = state, first = state.frames[start.join()] || page.still;
  const frames = { ...state.frames, [start.join()]: first };
  const at = [...start], pause = (ms) => new Promise((done) => { setTimeout(done, ms); }), live = { text: typed ? typed.text : null, ended: false };
  const images = first.filter((item) => !('text' in item)).map(() => make('img', {}));
  const texts = first.filter((item) => 'text' in item).map(() => make('pre', { 'aria-live': 'polite' }));
  const note = make('p', { class: 'live-note', hidden: true });
  const tell = (text) => { note.textContent = text; note.hidden = !text; };

  function paint(items) {
    const pictures = items.filter((item) => !('text' in item)), said = items.filter((item) => 'text' in item);
    images.forEach((image, i) => set(image, { src: address(pictures[i]), alt: pictures[i].alt, width: pictures[i].width }));
    texts.forEach((text, i) => { text.textContent = said[i].text; });
  }

  const ownText = () => Boolean(typed) && live.text !== typed.text;
  const ask = (where, text) => (page.ask && state.key ? page.ask({ key: state.key, at: where, text }) : Promise.resolve(null));
  async function show() {
    const key = at.join(), text = live.text;
    if (!ownText() && frames[key]) { tell(''); paint(frames[key]); return; }
    if (ownText() && state.key && page.ask) await pause(250); // until the reader stops typing
    if (text !== live.text) return;
    const items = await ask([...at], text);
    if (live.ended || key !== at.join() || text !== live.text) return; // the reader has gone on
    if (items) {
      if (!ownText()) frames[key] = items;
      tell('');
      paint(items);
    } else if (ownText()) {
      tell('To see the answer to your own text, run this cell: it needs Python.');
    } else {
      start.forEach((value, k) => { at[k] = k === live.last ? at[k] : value; }); // only this slider moved: that frame is here
      sliders.forEach((one, k) => { one.value = at[k]; });
      paint(frames[at.join()] || first);
      tell('Without Python, one slider moves at a time, and the others go back. Run this cell to move them together.');
    }
  }

  const sliders = names.map((name, k) => slider(
    { label: name, max: values[k].length - 1, value: start[k], say: (step) => values[k][step] },
    (step) => { at[k] = step; live.last = k; show(); },
  ));
  const controls = make('div', { class: 'live-bar', role: 'group', 'aria-label': 'sliders' });
  if (typed) {
    const field = make('input', { type: 'text', class: 'live-text', 'aria-label': typed.label, value: typed.text, spellcheck: 'false' });
    field.addEventListener('input', () => { live.text = field.value; show(); });
    field.addEventListener('keydown', (event) => event.stopPropagation());
    controls.append(make('label', { class: 'live-name' }, `${typed.label} `, field));
  }
  controls.append(...sliders.map((one) => one.root));
  own(controls);
  root.append(controls, note, ...texts, ...images);
  paint(first);
  if (state.key && page.ask) fill();

  /* Ask for what is missing while the kernel has nothing else to do, and keep it with the notebook. */
  async function fill() {
    const wanted = positions(values.map((one) => one.length), start, together);
    let found = 0;
    for (const where of wanted) {
      if (live.ended || frames[where.join()]) continue;
      await page.idle?.();
      const items = await ask(where, typed ? typed.text : null);
      if (!items) return;
      frames[where.join()] ||= items;
      found += 1;
    }
    if (found && !live.ended) page.keep?.({ ...state, frames: { ...frames, [start.join()]: state.frames[start.join()] } });
  }
  return () => { live.ended = true; };
}
