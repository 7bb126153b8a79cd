// Three ways to tell a score how far its key is: nothing, one learned number for each bucket of distances (T5), a straight line (ALiBi).
import { make, svg, set, slider, button, speaker, draggable, inside, paced, number, softmax } from './kit.js';

const TOKENS = 20, CELL = 10, SIDE = TOKENS * CELL, LOW = -4, HIGH = 1, WIDE = 236, HIGH_CURVE = 142, LEFT = 30, TOP = 10, FOOT = 104;
const between = (value, low, high) => Math.min(high, Math.max(low, value));
const clear = (value) => (value > -0.005 && value < 0.005 ? '0' : number(value));

/** T5's bucket of a key that lies `distance` tokens behind: near distances have one each, far ones share, wider and wider. */
export function bucket(distance, buckets = 8, largest = 16) {
  const exact = buckets / 2;
  if (distance < exact) return distance;
  const ratio = Math.log(distance / exact) / Math.log(largest / exact);
  return Math.min(buckets - 1, exact + Math.floor(ratio * (buckets - exact) + 1e-9));
}

/** ALiBi's slope of a head, counted from 1, where the number of heads is a power of two. */
export const slope = (head, heads = 8) => 2 ** ((-8 * head) / heads);

/** The weights of a query on itself and the keys behind it, were all products of queries and keys equal: a softmax of what is added. */
export const weights = (query, bias) => softmax(Array.from({ length: query + 1 }, (_, key) => bias(query - key)));

export function render(root) {
  const learned = [0.4, 0.9, 0.2, -0.3, -0.8, -1.2, -2, -2.6], first = [...learned];
  let query = 17, head = 2, picked = 4;
  const schemes = [
    { name: 'none', what: 'nothing is added', bias: () => 0 },
    { name: 'T5', what: 'one learned number for each bucket', bias: (distance) => learned[bucket(distance)] },
    { name: 'ALiBi', what: 'minus slope times distance', bias: (distance) => -slope(head) * distance },
  ];
  const x = (distance) => LEFT + (distance / (TOKENS - 1)) * (WIDE - LEFT - 8);
  const y = (bias) => TOP + ((HIGH - between(bias, LOW, HIGH)) / (HIGH - LOW)) * (FOOT - TOP);
  const draw = paced(paint), tells = [];

  const figures = schemes.map((scheme, index) => {
    const matrix = svg('svg', { viewBox: `0 0 ${SIDE} ${SIDE}`, role: 'group', 'aria-label': `what ${scheme.name} adds to each score` });
    const cells = [];
    for (let q = 0; q < TOKENS; q += 1) {
      for (let k = 0; k < TOKENS; k += 1) {
        const cell = svg('rect', { x: k * CELL, y: q * CELL, width: CELL - 1, height: CELL - 1, class: k > q ? 'hidden' : 'cell' });
        matrix.append(cell);
        if (k <= q) cells.push([cell, q - k]);
      }
    }
    const row = svg('rect', { class: 'row', x: -2, width: SIDE + 3, height: CELL + 2, rx: 3 });
    const whole = svg('rect', { class: 'whole', width: SIDE, height: SIDE }); // a row is too thin for a finger
    matrix.append(row, whole);
    tells.push(draggable(whole, {
      label: `query, in the matrix of ${scheme.name}`,
      move: ([, down]) => { query = between(Math.floor(down / CELL), 0, TOKENS - 1); draw(); },
      nudge: ([dx, dy]) => { query = between(query + dx - dy, 0, TOKENS - 1); draw(); },
      said: () => `token ${query}`,
    }));

    const size = `0 0 ${WIDE} ${HIGH_CURVE}`;
    const curve = svg('svg', { viewBox: size, role: 'group', 'aria-label': `what ${scheme.name} adds, by distance` });
    for (const tick of [HIGH, 0, -2, LOW]) {
      curve.append(svg('line', { class: tick ? 'grid' : 'axis', x1: LEFT, x2: WIDE - 8, y1: y(tick), y2: y(tick) }),
        svg('text', { x: LEFT - 5, y: y(tick) + 4, 'text-anchor': 'end' }, number(tick, 0)));
    }
    for (const tick of [0, 5, 10, 15]) curve.append(svg('text', { x: x(tick), y: FOOT + 17, 'text-anchor': 'middle' }, String(tick)));
    curve.append(svg('text', { x: (LEFT + WIDE) / 2, y: FOOT + 34, 'text-anchor': 'middle' }, 'tokens behind the query'));
    const line = svg('path', { class: 'line' });
    curve.append(line);
    const knobs = index !== 1 ? [] : learned.map((_, one) => {
      const places = Array.from({ length: TOKENS }, (_unused, distance) => distance).filter((distance) => bucket(distance) === one);
      const knob = svg('circle', { class: 'knob', r: 7, cx: x((places[0] + places.at(-1)) / 2) });
      const put = (value) => { learned[one] = between(value, LOW, HIGH); picked = one; draw(); };
      curve.append(knob);
      tells.push(draggable(knob, {
        label: places.length > 1 ? `number of the distances ${places[0]} to ${places.at(-1)}` : `number of the distance ${places[0]}`,
        move: ([, down]) => put(HIGH - ((down - TOP) / (FOOT - TOP)) * (HIGH - LOW)),
        nudge: ([dx, dy]) => put(learned[one] + (dx + dy) / 10),
        said: () => clear(learned[one]),
      }));
      return knob;
    });

    const bars = svg('svg', { viewBox: `0 0 ${SIDE} 66`, class: 'bars', role: 'img', 'aria-label': `weights under ${scheme.name}` });
    const rods = Array.from({ length: TOKENS }, (_, k) => svg('rect', { class: 'rod', x: k * CELL, width: CELL - 1 }));
    const most = svg('text', { 'text-anchor': 'middle' });
    bars.append(...rods, svg('line', { class: 'axis', x1: 0, x2: SIDE, y1: 65, y2: 65 }), most);
    const figure = make('div', { class: 'scheme' },
      make('div', { class: 'title' }, make('b', {}, scheme.name), ` ${scheme.what}`),
      make('div', { class: 'left' }, matrix, bars, make('div', { class: 'small' }, 'weights of the query')),
      make('div', { class: 'right' }, curve));
    return { ...scheme, figure, cells, row, line, knobs, rods, most };
  });

  const heads = slider({ label: 'head of ALiBi', min: 1, max: 8, value: head, say: (one) => `${one}: slope 1/${2 ** one}` },
    (one) => { head = one; draw(); });
  const again = button('Start again', () => {
    learned.splice(0, 8, ...first);
    [query, head, picked, heads.value] = [17, 2, 4, 2];
    tells.forEach((tell) => tell());
    draw();
  });
  root.append(
    make('p', { class: 'live-note' },
      'Drag up and down in a matrix: the orange row is the query. Drag the green points: what T5 learns, here by your hand.'),
    make('div', { class: 'schemes' }, ...figures.map(({ figure }) => figure)), make('div', { class: 'live-bar' }, heads.root, again),
  );
  const say = speaker(root);

  function paint() {
    for (const { bias, cells, row, line, knobs } of figures) {
      for (const [cell, distance] of cells) {
        const value = bias(distance);
        const strength = Math.min(1, value < 0 ? value / LOW : value / HIGH);
        set(cell, { class: `cell ${value < 0 ? 'less' : 'more'}`, 'fill-opacity': strength.toFixed(3) });
      }
      set(row, { y: query * CELL - 1.5 });
      const level = (distance) => y(bias(distance)).toFixed(1);
      const half = knobs.length ? (WIDE - LEFT - 8) / (TOKENS - 1) / 2 : 0; // T5's stairs are flat
      const shown = Array.from({ length: TOKENS }, (_, d) => d).filter((d) => bias(d) >= LOW); // below, the line has left the drawing
      const ends = shown.map((d) => `${Math.max(LEFT, x(d) - half)} ${level(d)} L${x(d) + half} ${level(d)}`);
      set(line, { d: `M${ends.join(' L')}` });
      knobs.forEach((knob, one) => set(knob, { cy: y(learned[one]), class: `knob live-handle${one === picked ? ' picked' : ''}` }));
    }
    const shares = figures.map(({ bias }) => weights(query, bias)), largest = Math.max(...shares.flat());
    figures.forEach(({ rods, most }, index) => {
      rods.forEach((rod, k) => { const high = ((shares[index][k] || 0) / largest) * 50; set(rod, { y: 65 - high, height: high }); });
      const top = shares[index].indexOf(Math.max(...shares[index]));
      set(most, { x: between(top * CELL + CELL / 2, 14, SIDE - 14), y: 61 - (shares[index][top] / largest) * 50 });
      most.textContent = number(shares[index][top]);
    });
    const [even, , straight] = shares;
    const there = [...Array(TOKENS).keys()].filter((distance) => bucket(distance) === picked), [from, to] = [there[0], there.at(-1)];
    const near = from < to ? `the distances ${from} to ${to} share the number` : `the distance ${to} has a number of its own,`;
    say(`Token ${query} asks, and its products with all keys are equal. Without positions each of the ${query + 1} keys gets `
      + `${number(even[0])}. In T5 ${near} ${clear(learned[picked])}. In ALiBi each further step back multiplies the weight by `
      + `${number(Math.exp(-slope(head)))}: the token itself has ${number(straight[query])}`
      + `${query > 3 ? `, four steps back it is ${number(straight[query - 4])}` : ''}.`);
  }
  paint();
  tells.forEach((tell) => tell());
}
