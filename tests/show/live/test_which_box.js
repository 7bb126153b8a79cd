// The line that clicks amount to, and one box for each event; run by test_live.py.
import assert from 'node:assert/strict';
import { BOXES, line } from '../../../course_utils/show/lab/pictures/static/live/which_box.js';

assert.equal(line('x', { A: 'table', F: 'output' }), 'x = {"A": "table", "B": None, "C": None, "D": None, "E": None, "F": "output"}');
assert.deepEqual(BOXES.map(([name]) => name).sort(), ['attention', 'feed-forward', 'mask', 'output', 'positions', 'table']);
console.log('right');
