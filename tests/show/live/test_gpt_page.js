// The engine against PyTorch; the first argument is a file with what the course's own model computes, written by the Python test.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { GPT, draw, half, shares, textEnd, windowStart } from '../../../course_utils/show/lab/pictures/static/live/engine.js';
import { weights } from '../../../course_utils/show/lab/pictures/static/live/weights_mini_gpt.js';

assert.deepEqual([0x3c00, 0xc000, 0x0001, 0x7bff, 0x3555].map(half), [1, -2, 2 ** -24, 65504, 0.333251953125]);
assert.deepEqual([1, 128, 129, 160, 161].map((n) => windowStart(n, 128)), [0, 0, 32, 32, 64]);
assert.equal(textEnd('ab'), 'ab');
assert.ok(textEnd('\ud83d\ude00'.repeat(2500)).isWellFormed?.() ?? true);
assert.equal(draw([0.2, 0.5, 0.3], () => 0.69), 1);
assert.equal(draw([0.2, 0.5, 0.3], () => 1), 2);
assert.ok(shares([1, 3], 0.1)[1] > 0.999);

const model = new GPT(Buffer.from(weights, 'base64'));
let [worst, worstWeight, places, spent] = [0, 0, 0, 0];
const greatest = (found, wanted, so) => wanted.reduce((most, one, i) => Math.max(most, Math.abs(one - found[i])), so);
for (const { text, ids, off, logits, attention } of JSON.parse(readFileSync(process.argv[2]))) {
  assert.deepEqual(model.tokenizer.encode(text), ids);
  assert.equal(model.tokenizer.decode(ids), text);
  model.off = new Set(off);
  model.keep(0);
  ids.forEach((id, t) => {
    const start = performance.now();
    model.step(id);
    const found = model.scores(t);
    spent += performance.now() - start;
    places += 1;
    worst = greatest(found, logits[t], worst);
    attention.forEach((layer, l) => layer.forEach((head, h) => {
      worstWeight = greatest(model.attention[t][l][h], head[t].slice(0, t + 1), worstWeight);
    }));
  });
}
model.off.clear();
assert.ok(places >= 100, `${places} positions`);
assert.ok(worst <= 1e-4 && worstWeight <= 1e-5, `logits differ by ${worst}, weights by ${worstWeight}`);
const before = performance.now();
model.tokenizer.encode(textEnd('x'.repeat(5000)));
assert.ok(performance.now() - before < 500);
console.log(`${places} positions: logits differ by at most ${worst.toExponential(1)}, weights by ${worstWeight.toExponential(1)}, `
  + `${(spent / places).toFixed(2)} ms a token`);
