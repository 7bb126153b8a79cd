// A GPT's forward pass, as the course's PyTorch model computes it: the stored file, the tokenizer, the blocks, a cache. No page needed.

/** The tensors and facts of a safetensors file with numbers of 16 bits: `{ facts, tensors: { name: Float32Array } }`. */
export function readTensors(raw) {
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  const size = Number(view.getBigUint64(0, true));
  const { __metadata__: facts, ...entries } = JSON.parse(new TextDecoder().decode(raw.subarray(8, 8 + size)));
  const halves = Float32Array.from({ length: 65536 }, (_, bits) => half(bits));
  const tensors = {};
  for (const [name, { dtype, data_offsets: [from, to] }] of Object.entries(entries)) {
    if (dtype !== 'F16') throw new Error(`${name} holds ${dtype}, not F16`);
    tensors[name] = Float32Array.from({ length: (to - from) / 2 }, (_, i) => halves[view.getUint16(8 + size + from + 2 * i, true)]);
  }
  return { facts, tensors };
}

/** The number that 16 bits stand for: a sign, five bits of exponent, ten of fraction. */
export function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const WORDS = /'(?:s|t|re|ve|m|ll|d)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

/** Byte-pair encoding on bytes: `merges` are pairs of hexadecimal texts, in the order in which they are to be joined. */
export class Tokenizer {
  constructor(merges) {
    const known = new Map();
    this.tokens = [];
    const add = (hex) => { known.set(hex, this.tokens.length); this.tokens.push(hex.match(/../g).map((one) => parseInt(one, 16))); };
    for (let byte = 0; byte < 256; byte += 1) add(byte.toString(16).padStart(2, '0'));
    this.joined = new Map();
    for (const [a, b] of merges) {
      this.joined.set(known.get(a) * 65536 + known.get(b), this.tokens.length);
      add(a + b);
    }
    this.end = this.tokens.length;
  }

  encode(text) {
    return (text.match(WORDS) || []).flatMap((word) => this.word([...new TextEncoder().encode(word)]));
  }

  word(parts) {
    for (;;) {
      let first = Infinity;
      for (let i = 0; i + 1 < parts.length; i += 1) first = Math.min(first, this.joined.get(parts[i] * 65536 + parts[i + 1]) ?? Infinity);
      if (first === Infinity) return parts;
      const next = [];
      for (let i = 0; i < parts.length; i += 1) {
        if (i + 1 < parts.length && this.joined.get(parts[i] * 65536 + parts[i + 1]) === first) { next.push(first); i += 1; }
        else next.push(parts[i]);
      }
      parts = next;
    }
  }

  decode(ids) {
    return new TextDecoder().decode(Uint8Array.from(ids.flatMap((id) => this.tokens[id] || [])));
  }
}

/** A GPT with its cache: `step(id)` takes one token in; `attention[t][layer][head]` and `states[t][layer]` say what it did. */
export class GPT {
  constructor(raw) {
    const { facts, tensors } = readTensors(raw);
    const config = JSON.parse(facts.config);
    Object.assign(this, { tensors, width: config.d_model, heads: config.num_heads, layers: config.num_layers, size: config.max_len });
    this.tokenizer = new Tokenizer(JSON.parse(facts.merges));
    this.parameters = Object.values(tensors).reduce((sum, one) => sum + one.length, 0);
    this.off = new Set();
    const empty = () => Array.from({ length: this.layers }, () => new Float32Array(this.size * this.width));
    Object.assign(this, { ids: [], attention: [], states: [], keys: empty(), values: empty() });
  }

  /** The same model with a cache of its own and all heads on. */
  another() {
    const buffers = () => this.keys.map((one) => new Float32Array(one.length));
    const own = { off: new Set(), ids: [], attention: [], states: [], keys: buffers(), values: buffers() };
    return Object.assign(Object.create(GPT.prototype), this, own);
  }

  /** Forget all but the first `length` tokens. */
  keep(length) {
    for (const one of [this.ids, this.attention, this.states]) one.length = Math.min(length, one.length);
  }

  step(id) {
    const { width, tensors, layers } = this;
    const t = this.ids.length;
    if (t >= this.size) throw new Error(`there is no place for more than ${this.size} tokens`);
    const token = tensors['token.weight'];
    const place = tensors['position.weight'];
    const x = Float32Array.from({ length: width }, (_, i) => token[id * width + i] + place[t * width + i]);
    const looked = [];
    const states = [];
    for (let layer = 0; layer < layers; layer += 1) {
      const name = `blocks.${layer}.`;
      add(x, this.linear(`${name}attention.w_o`, this.look(this.norm(`${name}norm_1`, x), layer, t, looked)));
      const wide = this.linear(`${name}feed_forward.w_1`, this.norm(`${name}norm_2`, x)).map(gelu);
      add(x, this.linear(`${name}feed_forward.w_2`, wide));
      states.push(x.slice());
    }
    this.ids.push(id);
    this.attention.push(looked);
    this.states.push(states);
  }

  /** Attention of all heads of a layer, for the token at place `t`: its mixed values, side by side. */
  look(x, layer, t, looked) {
    const { width, heads } = this;
    const size = width / heads;
    const qkv = this.linear(`blocks.${layer}.attention.w_qkv`, x);
    const keys = this.keys[layer];
    const values = this.values[layer];
    keys.set(qkv.subarray(width, 2 * width), t * width);
    values.set(qkv.subarray(2 * width), t * width);
    const mixed = new Float32Array(width);
    looked.push(Array.from({ length: heads }, (_, head) => {
      const scores = new Float32Array(t + 1);
      for (let j = 0; j <= t; j += 1) {
        for (let i = head * size; i < (head + 1) * size; i += 1) scores[j] += qkv[i] * keys[j * width + i];
        scores[j] /= Math.sqrt(size);
      }
      const weights = shares(scores);
      if (this.off.has(`${layer},${head}`)) return weights;
      for (let j = 0; j <= t; j += 1) {
        for (let i = head * size; i < (head + 1) * size; i += 1) mixed[i] += weights[j] * values[j * width + i];
      }
      return weights;
    }));
    return mixed;
  }

  /** Scores of the next token after the token at place `t`, read from its state after a layer (the last, unless given). */
  scores(t, layer = this.layers - 1) {
    return linear(this.tensors['token.weight'], null, this.norm('norm', this.states[t][layer]));
  }

  linear(name, x) { return linear(this.tensors[`${name}.weight`], this.tensors[`${name}.bias`], x); }

  norm(name, x) { return norm(x, this.tensors[`${name}.weight`], this.tensors[`${name}.bias`]); }
}

function add(x, more) {
  for (let i = 0; i < x.length; i += 1) x[i] += more[i];
}

/** `weight @ x + bias`; the weight lies row by row. Four sums at once are four times as fast as one. */
export function linear(weight, bias, x) {
  const n = x.length;
  const out = new Float32Array(weight.length / n);
  for (let row = 0, at = 0; row < out.length; row += 1, at += n) {
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    let i = 0;
    for (; i + 3 < n; i += 4) {
      a += weight[at + i] * x[i];
      b += weight[at + i + 1] * x[i + 1];
      c += weight[at + i + 2] * x[i + 2];
      d += weight[at + i + 3] * x[i + 3];
    }
    for (; i < n; i += 1) a += weight[at + i] * x[i];
    out[row] = a + b + c + d + (bias ? bias[row] : 0);
  }
  return out;
}

/** Layer normalisation, then a factor and a summand for each feature. */
export function norm(x, factor, summand, eps = 1e-5) {
  let mean = 0;
  for (let i = 0; i < x.length; i += 1) mean += x[i] / x.length;
  let spread = 0;
  for (let i = 0; i < x.length; i += 1) spread += (x[i] - mean) ** 2 / x.length;
  const scale = 1 / Math.sqrt(spread + eps);
  return x.map((one, i) => (one - mean) * scale * factor[i] + summand[i]);
}

/** GELU in the form with tanh, as in GPT-2. */
export const gelu = (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x)));

/** Softmax; a low temperature makes it sharper. */
export function shares(scores, temperature = 1) {
  const most = scores.reduce((a, b) => Math.max(a, b), -Infinity);
  const parts = scores.map((score) => Math.exp((score - most) / temperature));
  const sum = parts.reduce((a, b) => a + b, 0);
  return parts.map((part) => part / sum);
}

/** Where the window begins that a model of `size` places reads of `length` tokens; it moves by a quarter at a time. */
export const windowStart = (length, size) => Math.max(0, Math.ceil((length - size) / (size / 4)) * (size / 4));

/** The end of a text that is long enough for every window; it moves by 400 characters at a time and cuts no character in two. */
export function textEnd(text, most = 2000) {
  const from = Math.max(0, Math.ceil((text.length - most) / 400) * 400);
  return text.slice(/[\udc00-\udfff]/.test(text[from] || '') ? from + 1 : from);
}

/** Draw an index with the given shares; `random` gives a number from 0 to 1. */
export function draw(parts, random) {
  let left = random();
  const at = parts.findIndex((part) => { left -= part; return left < 0; });
  return at < 0 ? parts.length - 1 : at;
}
