// What is said of a recorded step, against words worked out by hand; run by test_live.py.
import assert from 'node:assert/strict';
import { favourites, told } from '../../../course_utils/show/lab/pictures/static/live/decoder_steps.js';

assert.deepEqual(favourites([0.25, 0.125, 0, 0.5, 0.125]), [[3, 4, 0.625], [0, 1, 0.375]], 'neighbours are one place');
assert.deepEqual(favourites([0.04, 0.96]), [[1, 1, 0.96]]);
assert.deepEqual(favourites([0.03, 0.03]), []);
const state = { source: [...'zwei'], weights: [[0.02, 0.5, 0.45, 0.03], Array(4).fill(0.01)], tops: [[['2', 0.98]], [['4', 0.5]]] };
assert.match(told(state, 0), /^Step 1: .* 95 % of the weight falls on “we” \(places 2 to 3\)\. .* writes 2 \(98 %\)\.$/);
assert.match(told({ ...state, weights: [[0, 1, 0, 0]] }, 0), /“w” \(place 2\)/);
assert.match(told(state, 1), /“zwei”/);
assert.match(told(state, -1), /Nothing is written yet/);
console.log('right');
