// Attention of one query against numbers worked out by hand; run by test_live.py.
import assert from 'node:assert/strict';
import { attend, hull } from '../../../course_utils/show/lab/pictures/static/live/choose_by_hand.js';

const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-12, `${a} and ${b}`);
const keys = [[1, 0], [0, 1]], values = [[2, 0], [0, 4]];
const { scores, weights, output } = attend([Math.SQRT2 * Math.log(3), 0], keys, values);
near(scores[0], Math.log(3));
near(weights[0], 3 / 4);
near(output[0], 1.5);
near(output[1], 1);
assert.deepEqual(attend([5, -3], keys, values, 0).weights, [0.5, 0.5], 'no length, no choice');
near(attend([1, 0], keys, values, 1000).output[0], 2);
assert.deepEqual(hull([[0, 0], [2, 0], [2, 2], [0, 2], [1, 1], [1, 0]]), [[0, 0], [2, 0], [2, 2], [0, 2]]);
assert.deepEqual(hull([[0, 0], [3, 0], [1, 1], [0, 3]]), [[0, 0], [3, 0], [0, 3]]);
console.log('right');
