// Heads cut by loops, their weights taken apart by hand, and a head that is off is missed where it should; run by test_live.py.
import assert from 'node:assert/strict';
import {
  KEY, QUERY, TOKENS, VALUE, WIDTH, W_O, attention, holds, mixed, places,
} from '../../../course_utils/show/lab/pictures/static/live/head_slices.js';

const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);
for (const heads of [1, 2, 3, 4, 6]) {
  const width = WIDTH / heads, { weights, joined } = attention(heads);
  for (let h = 0; h < heads; h += 1) {
    for (let i = 0; i < TOKENS.length; i += 1) {
      const parts = [];
      for (let j = 0; j < TOKENS.length; j += 1) {
        let score = 0;
        for (let d = h * width; d < (h + 1) * width; d += 1) score += QUERY[i][d] * KEY[j][d];
        parts.push(Math.exp(score / Math.sqrt(width)));
      }
      const sum = parts.reduce((a, b) => a + b);
      parts.forEach((part, j) => near(weights[h][i][j], part / sum));
      for (let d = h * width; d < (h + 1) * width; d += 1) {
        near(joined[i][d], parts.reduce((all, part, j) => all + (part / sum) * VALUE[j][d], 0));
      }
    }
  }
  for (const right of [true, false]) { // every number is in one head, once
    assert.deepEqual(places(heads, right).flat(2).sort((a, b) => a - b), Array.from({ length: 60 }, (_, i) => i));
  }
}
// view(heads, tokens, width) hands the numbers out in their order: the first head takes 20 of 3 · 20
assert.deepEqual(places(3, false).flat(2), Array.from({ length: 60 }, (_, i) => i));
assert.deepEqual(holds(0, 3, false), [12, 8, 0, 0, 0]);
assert.deepEqual(holds(0, 2, false), [12, 12, 6, 0, 0]);
assert.deepEqual(holds(1, 3, true), [4, 4, 4, 4, 4]);
assert.deepEqual(attention(1, false), attention(1, true));
// three heads look at the token before, at the same word, at the verb
const { weights } = attention(3), best = (row) => row.indexOf(Math.max(...row));
assert.deepEqual(weights[0].slice(1).map(best), [0, 1, 2, 3]);
assert.deepEqual(weights[1].map(best), [0, 1, 2, 0, 4]);
near(weights[1][3][0], weights[1][3][3]);
assert.deepEqual(weights[2].map(best), [2, 2, 2, 2, 2]);
// a head that is off is missed in its slice alone, with W_O everywhere
const [on, off] = [[true, true, true], [true, false, true]].map((one) => attention(3, true, one).joined[4]);
const changed = (mix) => on.flatMap((_, f) => (Math.abs(mixed(on, mix)[f] - mixed(off, mix)[f]) > 1e-9 ? [f] : []));
assert.deepEqual(changed(0), [4, 5, 6, 7]);
assert.equal(changed(0.5).length, WIDTH);
let sum = 0;
for (let from = 0; from < WIDTH; from += 1) sum += on[from] * W_O[from][7];
near(mixed(on, 1)[7], sum);
console.log('right');
