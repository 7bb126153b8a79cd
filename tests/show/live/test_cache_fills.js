// Counted by loops: every multiplication of every step, with a cache and without; run by test_live.py.
import assert from 'node:assert/strict';
import { MODEL, all, bytes, products } from '../../../course_utils/show/lab/pictures/static/live/cache_fills.js';

function counted(t, kv, window, cached) {
  let count = 0;
  for (let layer = 0; layer < MODEL.layers; layer += 1) {
    for (let token = 0; token < t; token += 1) {
      if (cached && token < t - 1) continue; // kept from before
      for (let column = 0; column < 2 * MODEL.heads * MODEL.head + 2 * kv * MODEL.head; column += 1) count += MODEL.width;
      for (let head = 0; head < MODEL.heads; head += 1) {
        for (let key = Math.max(0, token + 1 - window); key <= token; key += 1) count += 2 * MODEL.head; // a score, and its value mixed
      }
    }
  }
  return count;
}
for (const t of [1, 2, 7, 20]) {
  for (const kv of [8, 2, 1]) {
    for (const window of [Infinity, 8]) {
      for (const cached of [true, false]) assert.equal(products(t, { kv, window, cached }), counted(t, kv, window, cached));
    }
  }
}
assert.equal(all(3, { cached: true }), [1, 2, 3].reduce((sum, t) => sum + counted(t, 8, Infinity, true), 0));
assert.equal(bytes(4096, { layers: 32, kv: 32, head: 128, bits: 16 }), 2 ** 31); // Llama-2 7B: two gibibytes
console.log('right');
