// Three ways to the same weights, and the answer against a sum written out; run by test_live.py.
import assert from 'node:assert/strict';
import { bellWeights, distanceScores, dotScores, measured, truth } from '../../../course_utils/show/lab/pictures/static/live/ask_the_curve.js';
import { softmax } from '../../../course_utils/show/lab/pictures/static/live/kit.js';

const { keys, values } = measured();
assert.ok(keys.length === 40 && keys.every((key, i) => !i || key >= keys[i - 1]));
assert.ok(Math.abs(truth(2) - (2 * Math.sin(2) + 2 ** 0.8)) < 1e-12);
for (const query of [0, 0.8, 2.2, 5]) {
  for (const width of [0.05, 0.35, 2]) {
    let above = 0, below = 0;
    keys.forEach((key, i) => { const w = Math.exp(-((query - key) ** 2) / (2 * width * width)); above += w * values[i]; below += w; });
    for (const weights of [bellWeights(query, keys, width), softmax(distanceScores(query, keys, width)), softmax(dotScores(query, keys, width))]) {
      assert.ok(Math.abs(weights.reduce((sum, w, i) => sum + w * values[i], 0) - above / below) < 1e-9);
      assert.ok(Math.abs(weights.reduce((sum, w) => sum + w, 0) - 1) < 1e-12);
    }
  }
}
const gap = distanceScores(2, keys, 0.5).map((score, i) => score - dotScores(2, keys, 0.5)[i]);
assert.ok(Math.max(...gap) - Math.min(...gap) < 1e-9 && Math.abs(gap[0]) > 1, 'the scores differ, by the same number for every key');
console.log('right');
