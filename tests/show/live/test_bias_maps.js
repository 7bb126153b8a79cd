// Buckets, slopes and the weights that follow; run by test_live.py. The buckets are those of the course's t5_bucket.
import assert from 'node:assert/strict';
import { bucket, slope, weights } from '../../../course_utils/show/lab/pictures/static/live/bias_maps.js';

assert.deepEqual(Array.from({ length: 24 }, (_, d) => bucket(d, 8, 16)),
  [0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7]);
assert.deepEqual(Array.from({ length: 140 }, (_, d) => bucket(d, 32, 128)),
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 16, 16, 17, 17, 18, 18, 18, 19, 19, 19, 20, 20, 20, 20, 21, 21, 21, 21,
  22, 22, 22, 22, 22, 23, 23, 23, 23, 23, 23, 24, 24, 24, 24, 24, 24, 25, 25, 25, 25, 25, 25, 25, 26, 26, 26, 26, 26, 26, 26, 26,
  27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29,
  30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31,
  31, 31, 31, 31, 31, 31, 31, 31, 31]);
assert.deepEqual([1, 2, 8].map((head) => slope(head)), [1 / 2, 1 / 4, 1 / 256]);
assert.deepEqual([1, 4].map((head) => slope(head, 4)), [1 / 4, 1 / 256]);
weights(9, () => 0).forEach((one) => assert.ok(Math.abs(one - 0.1) < 1e-12));
const falling = weights(6, (distance) => -distance * Math.LN2);
for (let k = 1; k <= 6; k += 1) assert.ok(Math.abs(falling[k] / falling[k - 1] - 2) < 1e-9);
console.log('right');
