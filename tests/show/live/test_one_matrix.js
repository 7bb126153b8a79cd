// What a matrix gives back: exact for keys at right angles, and for the newest pair of the delta rule; run by test_live.py.
import assert from 'node:assert/strict';
import { error, pairs, read, write } from '../../../course_utils/show/lab/pictures/static/live/one_matrix.js';
import { dot } from '../../../course_utils/show/lab/pictures/static/live/kit.js';

const empty = (n, m = n) => Array.from({ length: n }, () => Array(m).fill(0));
const a = { key: [1, 0], value: [2, -3] }, b = { key: [0, 1], value: [5, 7] };
const both = write(write(empty(2), a, 'sum'), b, 'sum');
assert.deepEqual([read(both, a.key), read(both, b.key)], [[2, -3], [5, 7]], 'keys at right angles do not disturb each other');
assert.deepEqual(read(write(write(empty(2), a, 'decay', 0.5), b, 'decay', 0.5), a.key), [1, -1.5]);
const again = { key: [1, 0], value: [9, 9] };
assert.deepEqual(read(write(both, again, 'delta'), a.key), [9, 9], 'the delta rule puts the new value in the place of the old');
assert.deepEqual(read(write(both, again, 'sum'), a.key), [11, 6], 'a sum adds it');
for (const alike of [0, 0.5, 0.95]) {
  const all = pairs(6, alike), fill = (rule) => all.reduce((state, pair) => write(state, pair, rule), empty(8));
  all.forEach(({ key }) => assert.ok(Math.abs(dot(key, key) - 1) < 1e-12));
  assert.ok(error(fill('delta'), all[5]) < 1e-12 && error(fill('sum'), all[5]) > 0.1);
}
const mean = (rule, alike) => { const all = pairs(6, alike), state = all.reduce((s, p) => write(s, p, rule), empty(8)); return all.reduce((t, p) => t + error(state, p), 0) / 6; };
assert.ok(mean('sum', 0.9) > 2 * mean('sum', 0) && mean('delta', 0.9) < mean('sum', 0.9) / 2, 'the more the keys are alike, the more the sum mixes');
console.log('right');
