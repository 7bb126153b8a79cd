// The translator's engine against PyTorch; the first argument is a file with what the course's own model computes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { EOS, Translator, beamStart, beamStep, englishWords, greatest, greedy, logs, penalty }
  from '../../../course_utils/show/lab/pictures/static/live/engine_seq2seq.js';
import { mean, percent, readSource } from '../../../course_utils/show/lab/pictures/static/live/translator_steps.js';
import { weights } from '../../../course_utils/show/lab/pictures/static/live/weights_translator.js';

const model = new Translator(Buffer.from(weights, 'base64'));
const known = new Set(model.source.slice(4));
assert.equal(penalty(1), 1);
assert.deepEqual([1, 0.9994, 0.992, 0.7, 0.031, 0.0001].map((one) => percent(one).replace(/\u00a0/g, ' ')), [
  '> 99.9 %', '99.9 %', '99.2 %', '70 %', '3.1 %', '< 0.1 %']);
assert.ok(Math.abs(logs(Float32Array.of(0, 0))[1] + Math.LN2) < 1e-6);
assert.deepEqual(readSource('50,494', known).words.join(' '), 'fifty thousand four hundred and ninety four');
assert.deepEqual(readSource(' Twenty-one ', known).words, ['twenty', 'one']);
for (const [text, part] of [['', 'Write'], ['zero', 'zero'], ['0', 'zero'], ['two cats', 'cats'], ['100000', '99,999'],
  ['1.5', 'whole'], ['-3', 'whole'], ['<pad>', 'know'], ['one '.repeat(30), 'words']]) {
  assert.ok(readSource(text, known).trouble.includes(part), text);
}
const flat = [[[0.5, 0.5], [1, 0]], [[0, 1], [0.25, 0.75]]];
assert.deepEqual(mean(flat, 'mean'), [0.4375, 0.5625]);
assert.deepEqual(mean(flat, '1'), [0.125, 0.875]);
assert.deepEqual(mean(flat, '0,1'), [1, 0]);
assert.deepEqual(greatest([0.2, 0.7, 0.1], 2), [1, 0]);

let [worst, worstWeight, worstSum, places, spent] = [0, 0, 0, 0, 0];
const farthest = (found, wanted, so) => wanted.reduce((most, one, i) => Math.max(most, Math.abs(one - found[i])), so);
const { cases, few } = JSON.parse(readFileSync(process.argv[2]));
assert.equal(few, 14); // as the note below the piece says, with an example of what comes of it
assert.notDeepEqual(cases.find(({ number }) => number === 5).said.map((id) => model.target[id]), ['fünf', '<eos>']);
for (const { number, words, ids, target, logits, cross, said, beam } of cases) {
  assert.deepEqual(englishWords(number), words);
  assert.deepEqual(words.map((word) => model.source.indexOf(word)), ids);
  const start = performance.now();
  const first = model.encode(ids);
  let state = first;
  const states = [state, ...target.slice(1).map((id) => { state = model.step(state, id); return state; })];
  spent += performance.now() - start;
  states.forEach(({ scores }, t) => {
    places += 1;
    worst = farthest(scores, logits[t], worst);
    cross.forEach((layer, l) => layer.forEach((head, h) => { worstWeight = farthest(state.cross[t][l][h], head[t], worstWeight); }));
  });
  assert.deepEqual(greedy(model, first), said);
  let search = beamStart(first);
  while (!search.done) search = beamStep(model, search);
  assert.deepEqual(search.finished.map((one) => one.ids), beam.map(([one]) => one));
  assert.ok(search.finished.every(({ ids: all }) => all.at(-1) === EOS));
  worstSum = search.finished.reduce((most, { sum, score }, i) =>
    Math.max(most, Math.abs(sum - beam[i][1]), Math.abs(score - beam[i][2])), worstSum);
}
assert.ok(places >= 100, `${places} positions`);
assert.ok(worst <= 1e-4 && worstWeight <= 1e-5 && worstSum <= 1e-4, `logits ${worst}, weights ${worstWeight}, sums ${worstSum}`);
console.log(`${places} positions: logits differ by at most ${worst.toExponential(1)}, weights by ${worstWeight.toExponential(1)}, `
  + `sums of the beam by ${worstSum.toExponential(1)}; ${(spent / places).toFixed(2)} ms a token`);
