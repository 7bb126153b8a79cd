"""Chapter 08b."""

from . import Listed

GREEDY = """
def greedy_decode(step, start, eos, pad, max_new):
    {test}
    tokens, done = start, torch.zeros(len(start), dtype=torch.bool)
    for _ in range({steps}):
        scores = step(tokens)
        best = {best}
        tokens = torch.cat([tokens, best.masked_fill(done, {fill})[:, None]], 1)
        done = done | {ended}
        if done.all():
            break
    return tokens[:, start.shape[1]:]
"""
PLAIN = {"test": 'if max_new < 1:\n        raise ValueError(f"max_new={max_new}")', "steps": "max_new", "best": "scores.argmax(-1)",
         "fill": "pad", "ended": "(best == eos)"}

CACHE = """
KEPT = {{}}

def cached_attention(x, w_q, w_k, w_v, num_heads, keys=None, values=None):
    {test}
    q, k, v = ((x @ w).unflatten(-1, (num_heads, -1)).transpose(1, 2) for w in (w_q, w_k, w_v))
    if keys is not None:
        k, v = torch.cat([keys, k], 2), torch.cat([values, v], 2)
    n, m = q.shape[2], k.shape[2]
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    {mask}
    {keep}
    return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2), k, v
"""
REFUSE = """if keys is not None and len(keys) != len(x):
        raise ValueError(f"{len(keys)} sentences in the cache, {len(x)} given")"""
HIDE = "scores = scores.masked_fill(torch.ones(n, m).triu(m - n + 1).bool(), -torch.inf)"

PIECES = """
def decode_in_pieces(ids, pieces, embedding, table, w_q, w_k, w_v):
    outputs, keys, values, seen = [], None, None, 0
    for size in pieces:
        x = embedding[ids[:, seen:seen + size]] + {rows}
        query, key, value = x @ w_q, x @ w_k, x @ w_v
        keys = key if keys is None else torch.cat([keys, key], dim=1)
        values = value if values is None else torch.cat([values, value], dim=1)
        scores = query @ keys.transpose(1, 2) / math.sqrt(query.shape[-1])
        {mask}
        outputs.append(scores.softmax(-1) @ values)
        seen += size
    return torch.cat(outputs, dim=1)
"""
FUTURE = "scores = scores.masked_fill(torch.ones(size, seen + size).triu(seen + 1).bool(), -torch.inf)"
UNTOUCHED = ("exactly like the code that was handed out", "ot attempted")

BEAM = """
def beam_search(step, bos, eos, beam, max_new, alpha):
    if beam < 1:
        raise ValueError({error})
    tokens, sums, done = torch.tensor([[bos]]), torch.zeros(1), []
    for t in range(1, max_new + 1):
        total = sums[:, None] + step(tokens)
        best = int(total.argmax())
        done += [(float(s) / ((5 + t) / 6) ** alpha, [*row[1:], eos]) for s, row in zip(total[:, eos], tokens.tolist())]
        total = total.index_fill(1, torch.tensor([eos]), -torch.inf)
        {step}
    score, ids = max(done)
    return torch.tensor(ids), torch.tensor(score)
"""
RANK = """count = min(beam, total.numel())
        sums, flat = total.flatten().topk(count)
        keep = sums > -torch.inf
        sums, flat = sums[keep], flat[keep]
        tokens = torch.cat([tokens[flat // total.shape[1]], (flat % total.shape[1])[:, None]], 1)"""

BLEU = "from collections import Counter" + """
def bleu(candidates, references, order=4):
    {test}
    logs = 0.0
    for n in range(1, {last} + 1):
        hits = total = 0
        for c, r in zip(candidates, references):
            {words}
            have, want = (Counter(tuple(s[i:i + n]) for i in range(len(s) - n + 1)) for s in (c, r))
            hits, total = hits + sum((have & want).values()), total + sum(have.values())
        if not hits:
            return 0.0
        logs += math.log(hits / total) / {last}
    have, want = sum(map(len, candidates)), sum(map(len, references))
    return 100 * min(1.0, math.exp(1 - want / have)) * math.exp(logs)
"""
PAIRS = """if len(candidates) != len(references):
        raise ValueError(f"{len(candidates)} candidates, {len(references)} references")"""

LISTED = (
    Listed("08b.1", "a right one", GREEDY.format(**PLAIN), right=True),
    Listed("08b.1", "must be above 0, without the number", GREEDY.format(**PLAIN | {
        "test": 'if max_new < 1:\n        raise ValueError("max_new must be above 0")'})),
    Listed("08b.1", "the end token written out", GREEDY.format(**PLAIN | {"ended": "(best == 2)"})),
    Listed("08b.1", "the pad written out", GREEDY.format(**PLAIN | {"fill": "0"})),
    Listed("08b.1", "both ids written out", GREEDY.format(**PLAIN | {"fill": "0", "ended": "(best == 2)"}),
           says=("Ids of end and pad written out",)),
    Listed("08b.1", "a proposed pad ends the row", GREEDY.format(**PLAIN | {"ended": "(best == eos) | (best == pad)"}),
           says=("A proposed pad ends the row",)),
    Listed("08b.1", "the pad's score set to minus infinity", GREEDY.format(**PLAIN | {
        "best": "scores.index_fill(1, torch.tensor([pad]), -torch.inf).argmax(-1)"}), says=("Padding forbidden to the model",)),
    Listed("08b.1", "given tokens taken off max_new", GREEDY.format(**PLAIN | {"steps": "max_new - start.shape[1]"}),
           never=("One step too few", "one short")),
    Listed("08b.2", "a cache of one sentence expanded", CACHE.format(test="""if keys is not None and len(keys) not in (1, len(x)):
        raise ValueError(f"{len(keys)} sentences in the cache, {len(x)} given")
    if keys is not None:
        keys, values = (t.expand(len(x), *t.shape[1:]) for t in (keys, values))""", mask=HIDE, keep="pass"),
           says=("the cache is for 1 sentences",)),
    Listed("08b.2", "keys of the call before", CACHE.format(test=REFUSE + """
    if keys is not None and "k" in KEPT and KEPT["k"].shape == keys.shape and KEPT["v"].shape == values.shape:
        keys, values = KEPT["k"], KEPT["v"]""", mask=HIDE, keep='KEPT["k"], KEPT["v"] = (keys, values) if keys is not None else (k, v)')),
    Listed("08b.2", "a mask only when there is a cache", CACHE.format(test=REFUSE, mask="if keys is not None: " + HIDE, keep="pass"),
           says=("No mask without a cache",), never=("No mask at all",)),
    Listed("08b.2", "kept keys detached", CACHE.format(test=REFUSE, mask=HIDE, keep="pass").replace(
        ", k, v\n", ", k.detach(), v.detach()\n"),
           says=("Kept keys cut off from learning",)),
    Listed("08b.4", "positions unmended, mask for the first piece only", PIECES.format(
        rows="table[:size]", mask="if not seen: " + FUTURE), never=UNTOUCHED),
    Listed("08b.4", "positions unmended, triangle one column too wide", PIECES.format(
        rows="table[:size]", mask=FUTURE.replace("seen + 1", "seen + 2")), never=UNTOUCHED),
    Listed("08b.4", "positions unmended, future filled with -1", PIECES.format(
        rows="table[:size]", mask=FUTURE.replace("-torch.inf", "-1.0")), never=UNTOUCHED),
    Listed("08b.4", "mask right, every token at position 0", PIECES.format(rows="table[0]", mask=FUTURE),
           says=("Every token at position 0",), never=UNTOUCHED),
    Listed("08b.4", "mask right, positions modulo the first piece", PIECES.format(
        rows="table[torch.arange(seen, seen + size) % pieces[0]]", mask=FUTURE), never=UNTOUCHED),
    Listed("08b.4", "positions right, triangle one column too wide", PIECES.format(
        rows="table[seen:seen + size]", mask=FUTURE.replace("seen + 1", "seen + 2")), says=("The next token is seen",)),
    Listed("08b.5", "a right one", BEAM.format(error='f"beam={beam}"', step=RANK), right=True),
    Listed("08b.5", "must be above 0, without the number", BEAM.format(error='"beam must be above 0"', step=RANK)),
    Listed("08b.5", "no competition after the first step", BEAM.format(error='f"beam={beam}"', step="""if t == 1:
            sums, index = total.flatten().topk(min(beam, total.numel() - 1)); tokens = torch.cat([tokens[index * 0], index[:, None]], 1)
        else:
            sums, new = total.max(1); tokens = torch.cat([tokens, new[:, None]], 1)"""), says=("Prefixes do not compete",)),
    Listed("08b.5", "stops when the most probable extension is an ending", BEAM.format(
        error='f"beam={beam}"', step="""if best % total.shape[1] == eos:
            break
        """ + RANK), says=("Stops when the best is an ending",), never=("The end column stays open",)),
    Listed("08b.6", "one checkpoint too many", """
def average_last(checkpoints, count):
    if not 1 <= count <= len(checkpoints):
        raise ValueError(f"{count} of {len(checkpoints)}")
    last = torch.stack(checkpoints[max(0, len(checkpoints) - count - 1):])
    return last.mean(0), (last - last.mean(0)).pow(2).reshape(len(last), -1).sum(1).mean().sqrt()
""", says=("One checkpoint too many",)),
    Listed("08b.6", "another kind of error", """
def average_last(checkpoints, count):
    if not 1 <= count <= len(checkpoints):
        raise IndexError(f"{count} of {len(checkpoints)}")
    last = torch.stack(checkpoints[-count:])
    return last.mean(0), (last - last.mean(0)).pow(2).reshape(len(last), -1).sum(1).mean().sqrt()
""", says=("ValueError",), never=("by accident", "ccepts bad input")),
    Listed("08b.7", "an error for fewer candidates only", BLEU.format(test=PAIRS.replace("!=", "<"), last="order", words="pass"),
           says=("3 candidates, 2 references",)),
    Listed("08b.7", "small letters", BLEU.format(test=PAIRS, last="order", words="c, r = [w.lower() for w in c], [w.lower() for w in r]"),
           says=("Capitals ignored",)),
    Listed("08b.7", "four orders whatever is asked", BLEU.format(test=PAIRS, last="4", words="pass"), says=("Order ignored",)),
    Listed("08b.3", "a fraction", """
from fractions import Fraction
prediction_of_cache = {
    "positions computed without cache, 100 tokens": 5050,
    "positions computed with cache, 100 tokens": 100,
    "numbers kept per token, 12 layers of width 768": 18432,
    "kilobytes of that in 16 bits": Fraction(36864, 1000),
    "numbers per token if block inputs are kept instead": 9216,
}
""", right=True),
)
