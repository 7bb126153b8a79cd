// Regions won by keys, against who wins at many places; run by test_live.py.
import assert from 'node:assert/strict';
import { WAYS, region, score } from '../../../course_utils/show/lab/pictures/static/live/key_regions.js';

const keys = [[2, 2], [1.1, 0.2], [0.4, 0.2]], query = [1, 0.5];
const winner = (way) => {
  const scores = keys.map((key) => score(WAYS[way](key), query));
  return scores.indexOf(Math.max(...scores));
};
assert.deepEqual(['distance', 'product', 'direction'].map(winner), [1, 0, 2], 'three scores, three winners');
assert.equal(score(WAYS.distance([3, 4]), [1, 1]), 7 - 12.5);

const area = (corners) => Math.abs(corners.reduce((sum, [x, y], i) => {
  const [across, up] = corners[(i + 1) % corners.length];
  return sum + x * up - across * y;
}, 0)) / 2;
for (const way of Object.keys(WAYS)) {
  const lines = keys.map(WAYS[way]), areas = keys.map((_, i) => area(region(lines, i, 2)));
  assert.ok(Math.abs(areas.reduce((a, b) => a + b) - 16) < 1e-9, 'the regions fill the square');
  const won = [0, 0, 0];
  for (let x = -1.995; x < 2; x += 0.01) for (let y = -1.995; y < 2; y += 0.01) {
    const scores = lines.map((line) => score(line, [x, y]));
    won[scores.indexOf(Math.max(...scores))] += 1e-4;
  }
  won.forEach((share, i) => assert.ok(Math.abs(share - areas[i]) < 0.1, `${way} ${i}: ${share} and ${areas[i]}`));
}
assert.deepEqual(region([[1, 0, 0], [-1, 0, 0], [0, 0, 0]], 2, 1).length > 0, true);
assert.ok(area(region([[1, 1], [-1, 1], [0, -1], [0, 0.3]].map(WAYS.product), 3, 2)) < 1e-9, 'a key inside the others wins nowhere');
console.log('right');
