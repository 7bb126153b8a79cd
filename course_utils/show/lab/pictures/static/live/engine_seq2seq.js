// The small translator's forward pass, as the course's PyTorch model computes it: an encoder that reads once, a decoder that writes
// one token at a time, greedy decoding and beam search. Its states are never changed, so that a step back costs nothing.
import { linear, norm, readTensors, shares } from './engine.js';

const BOS = 1;
export const EOS = 2;
const SPECIAL = ['<pad>', '<bos>', '<eos>', '<unk>'];
const SMALL = `zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
  seventeen eighteen nineteen`.split(/\s+/);
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');

/** The English words of a number below one million, as the course writes them and cuts them into tokens. */
export function englishWords(n) {
  const [thousands, hundreds, rest] = [Math.floor(n / 1000), Math.floor(n / 100) % 10, n % 100];
  if (thousands) {
    const after = n % 1000 ? [...(hundreds ? [] : ['and']), ...englishWords(n % 1000)] : [];
    return [...englishWords(thousands), 'thousand', ...after];
  }
  if (hundreds) return [SMALL[hundreds], 'hundred', ...(rest ? ['and', ...englishWords(rest)] : [])];
  if (n < 20) return [SMALL[n]];
  return [TENS[Math.floor(n / 10) - 2], ...(n % 10 ? [SMALL[n % 10]] : [])];
}

/** What one query takes of keys and values, head by head: its mixed values, side by side, and the weights of each head. */
export function attend(query, keys, values, heads) {
  const size = query.length / heads;
  const mixed = new Float32Array(query.length);
  const weights = Array.from({ length: heads }, (_, head) => {
    const [from, to] = [head * size, (head + 1) * size];
    const scores = Float32Array.from(keys, (key) => {
      let sum = 0;
      for (let i = from; i < to; i += 1) sum += query[i] * key[i];
      return sum / Math.sqrt(size);
    });
    const row = shares(scores);
    row.forEach((weight, j) => { for (let i = from; i < to; i += 1) mixed[i] += weight * values[j][i]; });
    return row;
  });
  return { mixed, weights };
}

const plus = (a, b) => a.map((one, i) => one + b[i]);
const relu = (x) => Math.max(0, x);

/** The translator: `encode(ids)` gives a state before the first word, `step(state, id)` the state after one more. */
export class Translator {
  constructor(raw) {
    const { facts, tensors } = readTensors(raw);
    const config = JSON.parse(facts.config);
    Object.assign(this, { tensors, width: config.d_model, heads: config.num_heads, layers: config.num_layers, size: config.max_len });
    [this.source, this.target] = ['source', 'target'].map((side) => [...SPECIAL, ...JSON.parse(facts[side])]);
    this.parameters = Object.values(tensors).reduce((sum, one) => sum + one.length, 0);
  }

  linear(name, x) { return linear(this.tensors[`${name}.weight`], this.tensors[`${name}.bias`], x); }

  norm(name, x) { return norm(x, this.tensors[`${name}.weight`], this.tensors[`${name}.bias`]); }

  /** Query, key and value of one vector. */
  three(name, x) {
    const all = this.linear(`${name}.w_qkv`, x);
    return [0, 1, 2].map((part) => all.subarray(part * this.width, (part + 1) * this.width));
  }

  embed(side, id, t) {
    const { width, tensors } = this;
    const table = tensors[`${side}_embedding.weight`];
    return Float32Array.from({ length: width }, (_, i) => {
      const angle = t / 10000 ** (2 * Math.floor(i / 2) / width);
      return table[id * width + i] * Math.sqrt(width) + (i % 2 ? Math.cos(angle) : Math.sin(angle));
    });
  }

  /** The source is read once; what cross-attention needs of it, keys and values for each layer, is kept. */
  encode(ids) {
    let xs = ids.map((id, t) => this.embed('source', id, t));
    for (let layer = 0; layer < this.layers; layer += 1) {
      const name = `encoder.blocks.${layer}`;
      const all = xs.map((x) => this.three(`${name}.attention`, this.norm(`${name}.norm_1`, x)));
      const [keys, values] = [all.map((one) => one[1]), all.map((one) => one[2])];
      xs = xs.map((x, t) => plus(x, this.linear(`${name}.attention.w_o`, attend(all[t][0], keys, values, this.heads).mixed)));
      xs = xs.map((x) => plus(x, this.feed(name, 'norm_2', x)));
    }
    const memory = xs.map((x) => this.norm('encoder.norm', x));
    const read = Array.from({ length: this.layers }, (_, layer) => {
      const all = memory.map((x) => this.three(`decoder.blocks.${layer}.cross_attention`, x));
      return [all.map((one) => one[1]), all.map((one) => one[2])];
    });
    const none = read.map(() => []);
    return this.step({ read, ids: [], keys: none, values: none, cross: [], sum: 0 }, BOS);
  }

  feed(name, before, x) {
    const wide = this.linear(`${name}.feed_forward.w_1`, this.norm(`${name}.${before}`, x)).map(relu);
    return this.linear(`${name}.feed_forward.w_2`, wide);
  }

  /** One more token is taken in: `scores` for the next one, and in `cross[t][layer][head]` where this step looked. */
  step(state, id) {
    const t = state.cross.length;
    if (t >= this.size) throw new Error(`there is no place for more than ${this.size} tokens`);
    let x = this.embed('target', id, t);
    const [keys, values, looked] = [[], [], []];
    for (let layer = 0; layer < this.layers; layer += 1) {
      const name = `decoder.blocks.${layer}`;
      const [query, key, value] = this.three(`${name}.attention`, this.norm(`${name}.norm_1`, x));
      keys.push([...state.keys[layer], key]);
      values.push([...state.values[layer], value]);
      x = plus(x, this.linear(`${name}.attention.w_o`, attend(query, keys[layer], values[layer], this.heads).mixed));
      const [asked] = this.three(`${name}.cross_attention`, this.norm(`${name}.norm_2`, x));
      const { mixed, weights } = attend(asked, ...state.read[layer], this.heads);
      looked.push(weights);
      x = plus(x, this.linear(`${name}.cross_attention.w_o`, mixed));
      x = plus(x, this.feed(name, 'norm_3', x));
    }
    const scores = linear(this.tensors['target_embedding.weight'], null, this.norm('decoder.norm', x));
    const ids = t ? [...state.ids, id] : [];
    const sum = t ? state.sum + logs(state.scores)[id] : 0;
    return { read: state.read, ids, keys, values, cross: [...state.cross, looked], scores, sum };
  }
}

/** Log-probabilities of scores. */
export function logs(scores) {
  const most = scores.reduce((a, b) => Math.max(a, b), -Infinity);
  const total = Math.log(scores.reduce((sum, one) => sum + Math.exp(one - most), 0)) + most;
  return scores.map((one) => one - total);
}

/** The places of the greatest numbers, from the greatest on. */
export const greatest = (list, count) => Array.from(list.keys()).sort((a, b) => list[b] - list[a]).slice(0, count);

/** The most probable token, again and again, until the end. */
export function greedy(model, state, most = 24) {
  const ids = [];
  while (ids.length < most && ids.at(-1) !== EOS) {
    const [id] = greatest(state.scores, 1);
    ids.push(id);
    if (id !== EOS) state = model.step(state, id);
  }
  return ids;
}

/** By what a sum of log-probabilities is divided (Wu et al. 2016). */
export const penalty = (length, alpha = 0.6) => ((5 + length) / 6) ** alpha;

/** The beginning of a beam search. */
export const beamStart = (state) => ({ live: [state], dropped: [], finished: [], ended: [], done: false, length: 0 });

/**
 * One step of beam search, as in chapter 08b: `live` are the `beam` best beginnings, `dropped` the next best that are given up,
 * `finished` the best sentences that have ended, best first, `ended` those of them that have ended in this step.
 */
export function beamStep(model, { live, finished, length }, { beam = 3, most = 24, alpha = 0.6 } = {}) {
  const now = length + 1;
  const next = live.flatMap((state) => Array.from(logs(state.scores), (log, id) => ({ state, id, sum: state.sum + log })));
  const ended = next.filter(({ id }) => id === EOS)
    .map(({ state, sum }) => ({ ids: [...state.ids, EOS], state, sum, score: sum / penalty(now, alpha) }));
  const best = [...finished, ...ended].sort((a, b) => b.score - a.score).slice(0, beam);
  const order = next.filter(({ id }) => id !== EOS).sort((a, b) => b.sum - a.sum);
  const kept = order.slice(0, beam);
  const out = best.length === beam && best.at(-1).score >= kept[0].sum / penalty(most, alpha);
  return {
    live: kept.map(({ state, id }) => model.step(state, id)),
    dropped: order.slice(beam, 2 * beam).map(({ state, id, sum }) => ({ ids: [...state.ids, id], sum })),
    finished: best, ended: ended.filter((one) => best.includes(one)), length: now, done: now >= most || out,
  };
}
