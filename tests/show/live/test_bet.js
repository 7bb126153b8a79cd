// Places and values of a bet, the lines it amounts to, the one statement of a cell that it replaces, and how far it missed; run by test_live.py.
import assert from 'node:assert/strict';
import { beside, missed, replaced, scale, statement } from '../../../course_utils/show/lab/pictures/static/live/bet.js';
import { write } from '../../../course_utils/show/lab/pictures/static/live/lab.js';

const axis = scale({ axis: [0.01, 100] });
for (const value of [0.01, 0.13, 1, 8, 22, 64, 100]) assert.equal(axis.value(axis.at(value)), value);
assert.deepEqual(axis.ticks.map(([, name]) => name), ['0.01', '0.1', '1', '10', '100']);
assert.ok(axis.at(1e9) === 1 && axis.at(0) === 0 && !axis.has(0) && !axis.has('64') && !axis.has(null));
const seen = new Set();
for (let at = 0; at < 1; at = beside(axis, at, 1)) seen.add(axis.value(at));
for (const value of [1, 8, 64]) assert.ok([...seen].some((one) => Math.abs(one / value - 1) < 0.03), `the keys come near ${value}`);
assert.ok(beside(axis, 0, -1) === 0 && beside(axis, 1, 1) === 1);
const levels = ['less', 'same', 'more'], words = scale({ levels });
assert.deepEqual(levels.map((word) => words.value(words.at(word))), levels);
assert.equal(words.value(beside(words, 0.5, 1)), 'more');

const line = statement('bet', ['a "b" {', 'ö'], { 'a "b" {': 0.5 });
assert.equal(line, 'bet = {\n    "a \\"b\\" {": 0.5,\n    "ö": None,\n}');
assert.equal(statement('bet', ['a'], { a: 'n squared' }), 'bet = {\n    "a": "n squared",\n}');
const cell = 'import math\nother = {"bet": {1: 2}}\nbet = {  # } and "\n    "a \\"b\\" {": None,\n    "}": {},\n}\nprint("bet = {}")';
assert.equal(replaced(cell, 'bet', line), `import math\nother = {"bet": {1: 2}}\n${line}\nprint("bet = {}")`);
for (const none of ['', 'bet = 3', 'my_bet = {}', 'x = {"bet": 1}', 'bet = {"never closed": 1']) assert.equal(replaced(none, 'bet', line), null);

assert.deepEqual(missed({}, 64, 64.1), { hit: true, words: 'as you bet' });
assert.deepEqual(missed({}, 8.2, 8), { hit: true, words: 'off by 2 %' });
assert.deepEqual(missed({}, 64, 8), { hit: false, words: '8 times too large' });
assert.deepEqual(missed({}, 6, 8), { hit: false, words: '25 % too small' });
assert.deepEqual(missed({ levels }, 'less', 'more'), { hit: false, words: '2 steps too low' });
assert.ok(missed({ levels }, 'same', 'same').hit);

const made = (course, source) => {
  const own = { source, getMetadata: () => course, sharedModel: { getSource: () => own.source, setSource: (next) => { own.source = next; } } };
  return own;
};
const models = [made(undefined, 'bet = {}'), made({ exercise: '03.3', role: 'check' }, 'bet = {}'), made({ exercise: '03.3', role: 'answer' }, 'bet = {}\nkept = 1')];
const content = { widgets: models.map((model) => ({ model })) }, node = {};
const app = { shell: { widgets: () => [{ node: { contains: (one) => one === node }, content }] } };
assert.equal(write(app, node, '03.3', (source) => replaced(source, 'bet', line)), true);
assert.deepEqual(models.map(({ source }) => source), ['bet = {}', 'bet = {}', `${line}\nkept = 1`]);
assert.ok(!write(app, node, '03.3', () => null) && !write(app, node, '03.4', () => 'x') && !write(app, {}, '03.3', () => 'x'));
console.log('right');
