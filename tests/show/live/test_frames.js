// The mathematics of frames, and the question that the lab asks its kernel; run by test_live.py.
import assert from 'node:assert/strict';
import { positions } from '../../../course_utils/show/lab/pictures/static/live/frames.js';
import { MIME, isName, question, stillOf } from '../../../course_utils/show/lab/pictures/static/live/lab.js';
import { normal, number, seeded, softmax } from '../../../course_utils/show/lab/pictures/static/live/kit.js';

const together = positions([3, 2], [1, 0], true);
assert.deepEqual(together[0], [1, 0], 'the start comes first');
assert.equal(together.length, 6);
assert.deepEqual(together.slice(1, 4).map(String).sort(), ['0,0', '1,1', '2,0'], 'then what one slider reaches');
assert.equal(positions([10, 10, 3], [0, 3, 0], false).length, 1 + 9 + 9 + 2);
assert.deepEqual(positions([], [], true), [[]], 'no slider, one frame');

assert.equal(MIME, 'application/vnd.course.live+json');
assert.match(question({ key: 'k', at: [1], text: 'say "no"\n' }), /shown\.asked\("k", \[1\], "say \\"no\\"\\n"\)/);
assert.match(question({ key: 'k', at: [], text: null }), /asked\("k", \[\], None\)/);
assert.deepEqual(stillOf({ 'text/plain': ['a', 'b'] }, {}), [{ text: 'ab' }]);
assert.deepEqual(stillOf({ 'image/png': 'xyz\n' }, { 'image/png': { alt: 'bars', width: 7 } }), [{ png: 'xyz', alt: 'bars', width: 7 }]);

assert.ok(isName('gpt_page') && !['../../files/a', 'https://a.b/c', 'a.b', '', undefined, ['x']].some(isName), 'no script of a stranger');

const weights = softmax([1000, 999, -1000]);
assert.ok(Math.abs(weights[0] - 1 / (1 + Math.exp(-1))) < 1e-12 && weights[2] === 0, 'no overflow');
assert.equal(number(-0.001), '0.00');
assert.equal(number(-0.5), '\u22120.50');
const random = seeded(3), drawn = Array.from({ length: 4000 }, () => normal(random));
assert.ok(Math.abs(drawn.reduce((a, b) => a + b) / 4000) < 0.06);
assert.equal(seeded(3)(), seeded(3)());
console.log('right');
