"""Chapter 08b: answers written from the blank notebook."""

from . import Answer, edit

GREEDY = """
def greedy_decode(step, start, eos, pad, max_new):
    if max_new < 1:
        raise ValueError(f"max_new is {max_new}, it must be at least 1")
    tokens = start
    done = torch.zeros(start.shape[0], dtype=torch.bool)
    for _ in range(max_new):
        best = step(tokens).argmax(-1)
        best = torch.where(done, pad, best)
        tokens = torch.cat([tokens, best[:, None]], dim=1)
        done = done | (best == eos)
        if done.all():
            break
    return tokens[:, start.shape[1]:]
"""

CACHED = """
def cached_attention(x, w_q, w_k, w_v, num_heads, keys=None, values=None):
    if keys is not None and keys.shape[0] != x.shape[0]:
        raise ValueError(f"the cache holds {keys.shape[0]} sentences, x has {x.shape[0]}")
    batch, n, _ = x.shape

    def heads(t):
        return t.view(batch, n, num_heads, -1).transpose(1, 2)

    q, k, v = heads(x @ w_q), heads(x @ w_k), heads(x @ w_v)
    if keys is not None:
        k = torch.cat([keys, k], dim=2)
        v = torch.cat([values, v], dim=2)
    m = k.shape[2]
    mask = torch.ones(n, m, dtype=torch.bool).tril(m - n)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(~mask, float("-inf"))
    out = scores.softmax(-1) @ v
    return out.transpose(1, 2).reshape(batch, n, -1), k, v
"""

CACHE = """
prediction_of_cache = {
    "positions computed without cache, 100 tokens": 5050,
    "positions computed with cache, 100 tokens": 100,
    "numbers kept per token, 12 layers of width 768": 18432,
    "kilobytes of that in 16 bits": 36.864,
    "numbers per token if block inputs are kept instead": 9216,
}
"""

PIECES = """
def decode_in_pieces(ids, pieces, embedding, table, w_q, w_k, w_v):
    outputs, keys, values, seen = [], None, None, 0
    for size in pieces:
        x = embedding[ids[:, seen:seen + size]] + table[seen:seen + size]
        query, key, value = x @ w_q, x @ w_k, x @ w_v
        keys = key if keys is None else torch.cat([keys, key], dim=1)
        values = value if values is None else torch.cat([values, value], dim=1)
        scores = query @ keys.transpose(1, 2) / math.sqrt(query.shape[-1])
        mask = torch.ones(size, seen + size, dtype=torch.bool).tril(seen)
        scores = scores.masked_fill(~mask, -torch.inf)
        outputs.append(scores.softmax(-1) @ values)
        seen += size
    return torch.cat(outputs, dim=1)
"""

BEAM = """
def beam_search(step, bos, eos, beam, max_new, alpha):
    if beam < 1:
        raise ValueError(f"the beam must be at least 1, not {beam}")
    tokens = torch.tensor([[bos]])
    sums = torch.zeros(1)
    best, best_score = None, -math.inf
    for length in range(1, max_new + 1):
        totals = sums[:, None] + step(tokens)
        vocab = totals.shape[1]
        value, row = totals[:, eos].max(0)
        score = value / ((5 + length) / 6) ** alpha
        if score > best_score:
            best_score = score
            best = torch.cat([tokens[row, 1:], torch.tensor([eos])])
        totals[:, eos] = -math.inf
        flat = totals.flatten()
        sums, index = flat.topk(min(beam, flat.numel()))
        keep = sums > -math.inf
        sums, index = sums[keep], index[keep]
        if len(sums) == 0:
            break
        tokens = torch.cat([tokens[index // vocab], (index % vocab)[:, None]], dim=1)
    return best, best_score
"""

AVERAGE = """
def average_last(checkpoints, count):
    if not 1 <= count <= len(checkpoints):
        raise ValueError(f"count is {count}, but there are {len(checkpoints)} checkpoints")
    last = torch.stack(checkpoints[-count:])
    mean = last.mean(0)
    return mean, ((last - mean) ** 2).reshape(len(last), -1).sum(1).mean().sqrt()
"""

BLEU = """
from collections import Counter

def bleu(candidates, references, order=4):
    if len(candidates) != len(references):
        raise ValueError(f"{len(candidates)} candidates, but {len(references)} references")

    def runs(sentence, n):
        return Counter(tuple(sentence[i:i + n]) for i in range(len(sentence) - n + 1))

    logs = 0.0
    for n in range(1, order + 1):
        hits = total = 0
        for a, b in zip(candidates, references):
            mine, theirs = runs(a, n), runs(b, n)
            hits += sum((mine & theirs).values())
            total += sum(mine.values())
        if hits == 0:
            return 0.0
        logs += math.log(hits / total)
    c = sum(len(a) for a in candidates)
    r = sum(len(b) for b in references)
    penalty = min(1.0, math.exp(1 - r / c))
    return 100 * penalty * math.exp(logs / order)
"""

BANK = (
    # ---- 08b.1 greedy decoding
    Answer("08b.1", "a right answer with a boolean tensor of ended rows", GREEDY, right=True),
    Answer("08b.1", "a right answer with a loop over the rows", """
def greedy_decode(step, start, eos, pad, max_new):
    if not max_new >= 1:
        raise ValueError("at least one new token must be allowed, not " + str(max_new))
    rows, width = start.shape
    ended = [False] * rows
    said = start.clone()
    while said.shape[1] < width + max_new and not all(ended):
        scores = step(said)
        column = []
        for i in range(rows):
            token = pad if ended[i] else scores[i].argmax().item()
            column.append(token)
            ended[i] = ended[i] or token == eos
        said = torch.cat([said, torch.tensor(column).view(-1, 1)], 1)
    return said[:, width:]
""", right=True),
    Answer("08b.1", "a right answer that fills a table of pads", """
def greedy_decode(step, start, eos, pad, max_new):
    if max_new <= 0:
        raise ValueError(f"cannot write {max_new} tokens")
    out = start.new_full((len(start), max_new), pad)
    alive = start.new_ones(len(start)).bool()
    for t in range(max_new):
        _, index = step(torch.cat((start, out[:, :t]), 1)).max(dim=1)
        out[alive, t] = index[alive]
        alive = alive & index.ne(eos)
        if not alive.any():
            return out[:, :t + 1]
    return out
""", right=True),
    Answer("08b.1", "a row goes on talking behind its eos instead of getting pads",
           edit(GREEDY, "        best = torch.where(done, pad, best)\n", "")),
    Answer("08b.1", "notes the end before it pads, so that the eos itself is replaced by pad", """
def greedy_decode(step, start, eos, pad, max_new):
    if max_new < 1:
        raise ValueError(f"max_new is {max_new}, it must be at least 1")
    tokens = start
    done = torch.zeros(start.shape[0], dtype=torch.bool)
    for _ in range(max_new):
        best = step(tokens).argmax(-1)
        done = done | (best == eos)
        best = torch.where(done, pad, best)
        tokens = torch.cat([tokens, best[:, None]], dim=1)
        if done.all():
            break
    return tokens[:, start.shape[1]:]
"""),
    Answer("08b.1", "stops as soon as one row has ended, not when all have", edit(GREEDY, "done.all()", "done.any()")),
    Answer("08b.1", "an eos among the given tokens counts as an end",
           edit(GREEDY, "torch.zeros(start.shape[0], dtype=torch.bool)", "(start == eos).any(dim=1)")),
    Answer("08b.1", "forgets in the next step that a row has ended: after one pad it speaks again",
           edit(GREEDY, "done = done | (best == eos)", "done = best == eos")),
    Answer("08b.1", "a pad that the model proposes ends the row as well",
           edit(GREEDY, "done | (best == eos)", "done | (best == eos) | (best == pad)")),
    Answer("08b.1", "asks the model with the last token only, not with all tokens so far",
           edit(GREEDY, "step(tokens)", "step(tokens[:, -1:])")),
    Answer("08b.1", "returns the given tokens too", edit(GREEDY, "tokens[:, start.shape[1]:]", "tokens")),
    Answer("08b.1", "max_new = 0 is not refused but gives an empty answer", edit(GREEDY, """    if max_new < 1:
        raise ValueError(f"max_new is {max_new}, it must be at least 1")
""", "")),
    Answer("08b.1", "the error does not say the number", edit(
        GREEDY, 'f"max_new is {max_new}, it must be at least 1"', '"max_new is too small"')),
    Answer("08b.1", "never stops early: goes on with pads up to max_new after every row has ended",
           edit(GREEDY, """        if done.all():
            break
""", "")),
    Answer("08b.1", "max_new counts the given tokens too, so with a longer beginning too few are written",
           edit(GREEDY, "range(max_new)", "range(max_new - start.shape[1] + 1)")),
    Answer("08b.1", "draws the next token from the distribution instead of taking the most probable one",
           edit(GREEDY, "step(tokens).argmax(-1)", "torch.multinomial(step(tokens).softmax(-1), 1)[:, 0]")),
    Answer("08b.1", "only works for one row: the first row decides when to stop, and no other is padded", """
def greedy_decode(step, start, eos, pad, max_new):
    if max_new < 1:
        raise ValueError(f"max_new is {max_new}, it must be at least 1")
    tokens = start
    for _ in range(max_new):
        best = step(tokens).argmax(-1)
        tokens = torch.cat([tokens, best[:, None]], dim=1)
        if best[0] == eos:
            break
    return tokens[:, start.shape[1]:]
"""),
    Answer("08b.1", "hands only the rows that have not ended to step, though row i belongs to sentence i", """
def greedy_decode(step, start, eos, pad, max_new):
    if max_new < 1:
        raise ValueError(f"max_new is {max_new}, it must be at least 1")
    tokens = start
    done = torch.zeros(start.shape[0], dtype=torch.bool)
    for _ in range(max_new):
        best = torch.full((len(start),), pad)
        best[~done] = step(tokens[~done]).argmax(-1)
        tokens = torch.cat([tokens, best[:, None]], dim=1)
        done = done | (best == eos)
        if done.all():
            break
    return tokens[:, start.shape[1]:]
"""),
    # ---- 08b.2 attention with a cache
    Answer("08b.2", "a right answer with a shifted triangle", CACHED, right=True),
    Answer("08b.2", "a right answer head by head, with einsum", """
def cached_attention(x, w_q, w_k, w_v, num_heads, keys=None, values=None):
    old = 0
    if keys is not None:
        if len(keys) != len(x):
            raise ValueError(f"{len(x)} sentences, but a cache of {len(keys)}")
        old = keys.shape[2]
    n = x.shape[1]
    later = torch.arange(old + n)[None, :] > old + torch.arange(n)[:, None]
    outputs, new_keys, new_values = [], [], []
    parts = [w.chunk(num_heads, dim=1) for w in (w_q, w_k, w_v)]
    for h, (a, b, c) in enumerate(zip(*parts)):
        q, k, v = x @ a, x @ b, x @ c
        if old:
            k, v = torch.cat((keys[:, h], k), 1), torch.cat((values[:, h], v), 1)
        s = torch.einsum("bid,bjd->bij", q, k) * q.shape[-1] ** -0.5
        p = torch.softmax(s.masked_fill(later, -torch.inf), dim=-1)
        outputs.append(torch.einsum("bij,bjd->bid", p, v))
        new_keys.append(k)
        new_values.append(v)
    return torch.cat(outputs, -1), torch.stack(new_keys, 1), torch.stack(new_values, 1)
""", right=True),
    Answer("08b.2", "a right answer that takes the new tokens one at a time and needs no mask", """
def cached_attention(x, w_q, w_k, w_v, num_heads, keys=None, values=None):
    b = x.shape[0]
    d_k, d_v = w_k.shape[1] // num_heads, w_v.shape[1] // num_heads
    if keys is None:
        keys, values = x.new_zeros(b, num_heads, 0, d_k), x.new_zeros(b, num_heads, 0, d_v)
    elif keys.size(0) != b:
        raise ValueError("cache for %d sentences, tokens of %d" % (keys.size(0), b))
    rows = []
    for token in x.unbind(1):
        q = (token @ w_q).view(b, num_heads, d_k, 1)
        keys = torch.cat([keys, (token @ w_k).view(b, num_heads, 1, d_k)], dim=2)
        values = torch.cat([values, (token @ w_v).view(b, num_heads, 1, d_v)], dim=2)
        weights = ((keys @ q).squeeze(-1) / d_k ** 0.5).softmax(-1)
        rows.append((weights.unsqueeze(2) @ values).reshape(b, -1))
    return torch.stack(rows, dim=1), keys, values
""", right=True),
    Answer("08b.2", "no mask: several new tokens see each other's future",
           edit(CACHED, """    scores = scores.masked_fill(~mask, float("-inf"))
""", "")),
    Answer("08b.2", "the triangle is not shifted by the number of cached tokens", edit(CACHED, ".tril(m - n)", ".tril()")),
    Answer("08b.2", "masks only when there is no cache; behind a cache the new tokens see each other's future",
           edit(CACHED, "    scores = scores.masked_fill", "    if keys is None:\n        scores = scores.masked_fill")),
    Answer("08b.2", "heads are not moved back behind the tokens before they are put side by side",
           edit(CACHED, "out.transpose(1, 2).reshape", "out.reshape")),
    Answer("08b.2", "cuts into heads by a view across the tokens instead of splitting the columns",
           edit(CACHED, "t.view(batch, n, num_heads, -1).transpose(1, 2)", "t.view(batch, num_heads, n, -1)")),
    Answer("08b.2", "divides by the root of the whole width instead of that of one head",
           edit(CACHED, "math.sqrt(q.shape[-1])", "math.sqrt(w_q.shape[1])")),
    Answer("08b.2", "does not scale the scores", edit(CACHED, " / math.sqrt(q.shape[-1])", "")),
    Answer("08b.2", "joins the new keys and values in front of the cached ones", edit(edit(
        CACHED, "[keys, k]", "[k, keys]"), "[values, v]", "[v, values]")),
    Answer("08b.2", "returns the output only, not the keys and values to keep",
           edit(CACHED, ".reshape(batch, n, -1), k, v", ".reshape(batch, n, -1)")),
    Answer("08b.2", "gives back the new keys and values only, so the old ones are lost after one step",
           edit(CACHED, "reshape(batch, n, -1), k, v", "reshape(batch, n, -1), k[:, :, -n:], v[:, :, -n:]")),
    Answer("08b.2", "takes d_v to be equal to d_k", edit(edit(CACHED, "t.view(batch, n, num_heads, -1)",
           "t.view(batch, n, num_heads, w_q.shape[1] // num_heads)"), ".reshape(batch, n, -1)", ".reshape(batch, n, w_q.shape[1])")),
    Answer("08b.2", "does not test the number of sentences; PyTorch raises a RuntimeError", edit(
        CACHED, """    if keys is not None and keys.shape[0] != x.shape[0]:
        raise ValueError(f"the cache holds {keys.shape[0]} sentences, x has {x.shape[0]}")
""", "")),
    Answer("08b.2", "every num_heads-th column goes to a head, though the columns of head 0 come first",
           edit(CACHED, "t.view(batch, n, num_heads, -1).transpose(1, 2)", "t.view(batch, n, -1, num_heads).permute(0, 3, 1, 2)")),
    Answer("08b.2", "softmax over the queries instead of the keys", edit(CACHED, "scores.softmax(-1)", "scores.softmax(-2)")),
    Answer("08b.2", "a new token does not see itself", edit(CACHED, ".tril(m - n)", ".tril(m - n - 1)")),
    # ---- 08b.3 what a cache saves and costs
    Answer("08b.3", "right numbers", CACHE, right=True),
    Answer("08b.3", "right numbers as expressions", """
n, layers, width = 100, 12, 768
prediction_of_cache = {
    "positions computed without cache, 100 tokens": n * (n + 1) // 2,
    "positions computed with cache, 100 tokens": n,
    "numbers kept per token, 12 layers of width 768": 2 * layers * width,
    "kilobytes of that in 16 bits": 2 * layers * width * 2 / 1000,
    "numbers per token if block inputs are kept instead": layers * width,
}
""", right=True),
    Answer("08b.3", "right numbers, sums and fractions", """
from fractions import Fraction
prediction_of_cache = dict(zip([
    "positions computed without cache, 100 tokens",
    "positions computed with cache, 100 tokens",
    "numbers kept per token, 12 layers of width 768",
    "kilobytes of that in 16 bits",
    "numbers per token if block inputs are kept instead",
], [sum(range(101)), sum(1 for _ in range(100)), 18_432.0, Fraction(36_864, 1000), 18_432 / 2]))
""", right=True),
    Answer("08b.3", "without cache every one of the 100 steps is counted with 100 positions", edit(CACHE, "5050", "10000")),
    Answer("08b.3", "forgets that <bos> is among the inputs: sums 0 to 99", edit(CACHE, "5050", "4950")),
    Answer("08b.3", "counts <bos> in addition: sums 2 to 101", edit(CACHE, "5050", "5150")),
    Answer("08b.3", "counts <bos> in addition to the 100 steps with cache", edit(CACHE, ": 100,", ": 101,")),
    Answer("08b.3", "gives the positions of one step with cache, not of all", edit(CACHE, ": 100,", ": 1,")),
    Answer("08b.3", "counts the keys only, not the values", edit(edit(CACHE, "18432", "9216"), "36.864", "18.432")),
    Answer("08b.3", "forgets the 12 layers of the cache", edit(edit(CACHE, "18432", "1536"), "36.864", "3.072")),
    Answer("08b.3", "multiplies by 12 heads once more, though 768 is the width of all heads together",
           edit(edit(CACHE, "18432", "221184"), "36.864", "442.368")),
    Answer("08b.3", "divides by 1,024, though a kilobyte is 1,000 bytes here", edit(CACHE, "36.864", "36")),
    Answer("08b.3", "takes 16 bits for 16 bytes", edit(CACHE, "36.864", "294.912")),
    Answer("08b.3", "takes 16 bits for one byte", edit(CACHE, "36.864", "18.432")),
    Answer("08b.3", "thinks that block inputs take as much as keys and values", edit(CACHE, "9216", "18432")),
    Answer("08b.3", "counts the input of one block, not of all twelve", edit(CACHE, "9216", "768")),
    Answer("08b.3", "half-finished: the second half is still None", edit(edit(CACHE, "36.864", "None"), "9216", "None")),
    # ---- 08b.4 find the bugs: pieces
    Answer("08b.4", "both faults mended", PIECES, right=True),
    Answer("08b.4", "both mended, with a list of outputs a token and comparisons of places", """
def decode_in_pieces(ids, pieces, embedding, table, w_q, w_k, w_v):
    outputs, cache, seen = [], None, 0
    for size in pieces:
        places = torch.arange(seen, seen + size)
        x = embedding[ids[:, places]] + table[places]
        new = (x @ w_k, x @ w_v)
        cache = new if cache is None else tuple(torch.cat(pair, dim=1) for pair in zip(cache, new))
        scores = torch.einsum("bqd,bkd->bqk", x @ w_q, cache[0]) / w_q.shape[1] ** 0.5
        future = torch.arange(seen + size)[None] > places[:, None]
        scores = scores + torch.where(future, -torch.inf, 0.0)
        outputs.append(torch.einsum("bqk,bkd->bqd", scores.softmax(-1), cache[1]))
        seen = seen + size
    return torch.cat(outputs, 1)
""", right=True),
    Answer("08b.4", "both mended by letting each token of a piece read its own slice of the cache", """
def decode_in_pieces(ids, pieces, embedding, table, w_q, w_k, w_v):
    outputs, keys, values, seen = [], [], [], 0
    for size in pieces:
        x = embedding[ids[:, seen:seen + size]] + table[seen:][:size]
        query = x @ w_q
        keys.append(x @ w_k)
        values.append(x @ w_v)
        all_keys, all_values = torch.cat(keys, dim=1), torch.cat(values, dim=1)
        for t in range(size):
            upto = seen + t + 1
            scores = (all_keys[:, :upto] * query[:, t:t + 1]).sum(-1) / math.sqrt(w_k.shape[1])
            outputs.append((scores.softmax(-1)[..., None] * all_values[:, :upto]).sum(1))
        seen += size
    return torch.stack(outputs, dim=1)
""", right=True),
    Answer("08b.4", "mends the positions only; the mask is still missing",
           edit(PIECES, "        scores = scores.masked_fill(~mask, -torch.inf)\n", "")),
    Answer("08b.4", "mends the mask only; every piece still begins at position 0",
           edit(PIECES, "table[seen:seen + size]", "table[:size]")),
    Answer("08b.4", "changes nothing", edit(edit(PIECES, "table[seen:seen + size]", "table[:size]"),
           "        scores = scores.masked_fill(~mask, -torch.inf)\n", "")),
    Answer("08b.4", "the triangle is not shifted by what is cached", edit(PIECES, ".tril(seen)", ".tril()")),
    Answer("08b.4", "masks the first piece only",
           edit(PIECES, "        scores = scores.masked_fill", "        if seen == 0:\n            scores = scores.masked_fill")),
    Answer("08b.4", "slices the table up to size instead of seen + size",
           edit(PIECES, "table[seen:seen + size]", "table[seen:size]")),
    Answer("08b.4", "all tokens of a piece get the position of its first token",
           edit(PIECES, "table[seen:seen + size]", "table[seen]")),
    Answer("08b.4", "positions count the pieces, not the tokens", edit(PIECES, "table[seen:seen + size]",
           "table[len(outputs):len(outputs) + size]")),
    Answer("08b.4", "positions begin at 1", edit(PIECES, "table[seen:seen + size]", "table[seen + 1:seen + size + 1]")),
    Answer("08b.4", "forbidden scores become 0 instead of minus infinity", edit(PIECES, "-torch.inf", "0.0")),
    Answer("08b.4", "a token may not read itself: the triangle is one too far to the left",
           edit(PIECES, ".tril(seen)", ".tril(seen - 1)")),
    Answer("08b.4", "masks after the softmax, so the weights do not sum to 1", edit(edit(
        PIECES, "        scores = scores.masked_fill(~mask, -torch.inf)\n", ""),
        "scores.softmax(-1) @ values", "(scores.softmax(-1) * mask) @ values")),
    Answer("08b.4", "hides the cache from the new tokens: they read their own piece only",
           edit(PIECES, ".tril(seen)\n", ".tril(seen)\n        mask[:, :seen] = False\n")),
    # ---- 08b.5 beam search
    Answer("08b.5", "a right answer with a table of totals", BEAM, right=True),
    Answer("08b.5", "a right answer with a list of beginnings", """
def beam_search(step, bos, eos, beam, max_new, alpha):
    if beam <= 0:
        raise ValueError(f"{beam} beginnings are too few")
    live = [((bos,), torch.tensor(0.0))]
    finished = []
    for _ in range(max_new):
        if not live:
            break
        answer = step(torch.tensor([ids for ids, _ in live]))
        longer = []
        for (ids, total), row in zip(live, answer):
            for token, gain in enumerate(row):
                new, value = (*ids, token), total + gain
                if token == eos:
                    length = len(new) - 1
                    finished.append((new[1:], value / ((5 + length) / 6) ** alpha))
                elif value.item() > float("-inf"):
                    longer.append((new, value))
        longer.sort(key=lambda pair: pair[1].item(), reverse=True)
        live = longer[:beam]
    ids, score = max(finished, key=lambda pair: pair[1].item())
    return torch.tensor(ids), score
""", right=True),
    Answer("08b.5", "a right answer with heapq and Python's numbers", """
import heapq

def beam_search(step, bos, eos, beam, max_new, alpha):
    if beam < 1:
        raise ValueError("a beam of " + str(beam) + " keeps nothing")
    begun, sums, results = torch.full((1, 1), bos), [0.0], []
    for n in range(1, max_new + 1):
        table = step(begun)
        lines = table.tolist()
        for row, total, line in zip(begun.tolist(), sums, lines):
            results.append(((total + line[eos]) / ((5 + n) / 6) ** alpha, row[1:] + [eos]))
        others = [(total + p, i, j) for i, (total, line) in enumerate(zip(sums, lines))
                  for j, p in enumerate(line) if j != eos and p > -math.inf]
        chosen = heapq.nlargest(beam, others)
        if not chosen:
            break
        begun = torch.tensor([begun[i].tolist() + [j] for _, i, j in chosen])
        sums = [s for s, _, _ in chosen]
    score, ids = max(results)
    return torch.tensor(ids), torch.tensor(score, dtype=table.dtype)
""", right=True),
    Answer("08b.5", "extensions by eos take places in the beam", """
def beam_search(step, bos, eos, beam, max_new, alpha):
    if beam < 1:
        raise ValueError(f"the beam must be at least 1, not {beam}")
    live, done = [([bos], 0.0)], []
    for length in range(1, max_new + 1):
        every = []
        for (ids, total), row in zip(live, step(torch.tensor([ids for ids, _ in live]))):
            every += [(ids + [token], total + p) for token, p in enumerate(row.tolist())]
        every.sort(key=lambda pair: -pair[1])
        best = every[:beam]
        done += [(ids, total / ((5 + length) / 6) ** alpha) for ids, total in best if ids[-1] == eos]
        live = [(ids, total) for ids, total in best if ids[-1] != eos]
        if not live:
            break
    ids, score = max(done, key=lambda pair: pair[1])
    return torch.tensor(ids[1:]), torch.tensor(score)
"""),
    Answer("08b.5", "the length counts bos as well", edit(BEAM, "(5 + length)", "(5 + length + 1)")),
    Answer("08b.5", "the length does not count eos", edit(BEAM, "(5 + length)", "(5 + length - 1)")),
    Answer("08b.5", "ignores alpha: no length penalty", edit(BEAM, "value / ((5 + length) / 6) ** alpha", "value")),
    Answer("08b.5", "multiplies by the length penalty instead of dividing",
           edit(BEAM, "value / ((5 + length) / 6) ** alpha", "value * ((5 + length) / 6) ** alpha")),
    Answer("08b.5", "alpha is a factor instead of an exponent", edit(BEAM, "((5 + length) / 6) ** alpha", "(((5 + length) / 6) * alpha)")),
    Answer("08b.5", "stops when the best finished sum beats all beginnings, though a longer one may win after the division",
           edit(BEAM, """        if len(sums) == 0:
            break
""", """        if len(sums) == 0 or value >= sums.max():
            break
""")),
    Answer("08b.5", "chooses the sentence by its sum and divides only the score that it returns", """
def beam_search(step, bos, eos, beam, max_new, alpha):
    if beam < 1:
        raise ValueError(f"the beam must be at least 1, not {beam}")
    tokens, sums, best, best_sum = torch.tensor([[bos]]), torch.zeros(1), None, -math.inf
    for length in range(1, max_new + 1):
        totals = sums[:, None] + step(tokens)
        value, row = totals[:, eos].max(0)
        if value > best_sum:
            best_sum, best = value, torch.cat([tokens[row, 1:], torch.tensor([eos])])
        totals[:, eos] = -math.inf
        flat = totals.flatten()
        sums, index = flat.topk(min(beam, flat.numel()))
        sums, index = sums[sums > -math.inf], index[sums > -math.inf]
        if len(sums) == 0:
            break
        tokens = torch.cat([tokens[index // totals.shape[1]], (index % totals.shape[1])[:, None]], dim=1)
    return best, best_sum / ((5 + len(best)) / 6) ** alpha
"""),
    Answer("08b.5", "returns the sentence with bos in front", edit(BEAM, "tokens[row, 1:]", "tokens[row]")),
    Answer("08b.5", "ignores the beam and keeps one beginning", edit(BEAM, "min(beam, flat.numel())", "1")),
    Answer("08b.5", "a sentence may have max_new tokens and eos besides", edit(BEAM, "range(1, max_new + 1)", "range(1, max_new + 2)")),
    Answer("08b.5", "one step too few: a sentence of max_new tokens is never finished",
           edit(BEAM, "range(1, max_new + 1)", "range(1, max_new)")),
    Answer("08b.5", "starts with beam copies of bos, which stay copies", edit(edit(
        BEAM, "torch.tensor([[bos]])", "torch.full((beam, 1), bos)"), "torch.zeros(1)", "torch.zeros(beam)")),
    Answer("08b.5", "only works when there are at least as many extensions as the beam is wide",
           edit(BEAM, "min(beam, flat.numel())", "beam")),
    Answer("08b.5", "a beam of 0 is not refused", edit(BEAM, """    if beam < 1:
        raise ValueError(f"the beam must be at least 1, not {beam}")
""", "")),
    Answer("08b.5", "an unfinished beginning counts as a sentence when max_new is reached",
           edit(BEAM, "    return best, best_score\n", """    if len(sums) and tokens.shape[1] == max_new + 1:
        last = sums[0] / ((5 + max_new) / 6) ** alpha
        if last > best_score:
            return tokens[0, 1:], last
    return best, best_score
""")),
    Answer("08b.5", "greedy decoding up to eos under another name", """
def beam_search(step, bos, eos, beam, max_new, alpha):
    if beam < 1:
        raise ValueError(f"the beam must be at least 1, not {beam}")
    ids, total = [bos], torch.tensor(0.0)
    while ids[-1] != eos and len(ids) <= max_new:
        p, token = step(torch.tensor([ids]))[0].max(-1)
        ids.append(int(token))
        total = total + p
    return torch.tensor(ids[1:]), total / ((5 + len(ids) - 1) / 6) ** alpha
"""),
    # ---- 08b.6 average checkpoints
    Answer("08b.6", "a right answer with stack and mean", AVERAGE, right=True),
    Answer("08b.6", "a right answer with a running sum", """
def average_last(checkpoints, count):
    number = len(checkpoints)
    if count < 1 or count > number:
        raise ValueError(f"cannot average {count} of {number} checkpoints")
    total = torch.zeros_like(checkpoints[-1])
    for k in range(number - count, number):
        total = total + checkpoints[k] / count
    squares = 0.0
    for k in range(number - count, number):
        squares = squares + ((checkpoints[k] - total) ** 2).sum() / count
    return total, squares ** 0.5
""", right=True),
    Answer("08b.6", "a right answer with sum over a reversed list", """
def average_last(checkpoints, count):
    if count not in range(1, len(checkpoints) + 1):
        raise ValueError("count = %d, checkpoints: %d" % (count, len(checkpoints)))
    latest_first = list(reversed(checkpoints))
    mean = sum(latest_first[:count]) / count
    return mean, torch.sqrt(sum((c - mean).square().sum() for c in latest_first[:count]) / count)
""", right=True),
    Answer("08b.6", "averages the first instead of the last", edit(AVERAGE, "[-count:]", "[:count]")),
    Answer("08b.6", "averages all, whatever the count", edit(AVERAGE, "checkpoints[-count:]", "checkpoints")),
    Answer("08b.6", "adds without dividing", edit(AVERAGE, ".mean(0)", ".sum(0)")),
    Answer("08b.6", "the mean over everything: one number instead of a weight", edit(AVERAGE, ".mean(0)", ".mean()")),
    Answer("08b.6", "averages over the last axis of the weight instead of over the checkpoints", edit(AVERAGE, ".mean(0)", ".mean(-1)")),
    Answer("08b.6", "a count of 0 is not refused and averages all", edit(AVERAGE, "not 1 <= count <= len(checkpoints)",
           "count > len(checkpoints)")),
    Answer("08b.6", "a count that is too large is not refused", edit(AVERAGE, "not 1 <= count <= len(checkpoints)", "count < 1")),
    Answer("08b.6", "refuses to average all checkpoints", edit(AVERAGE, "1 <= count <= len", "1 <= count < len")),
    Answer("08b.6", "leaves out the very last checkpoint", edit(AVERAGE, "[-count:]", "[-count - 1:-1]")),
    Answer("08b.6", "picks one checkpoint, the count-th from behind", edit(AVERAGE, "last.mean(0)", "checkpoints[-count]")),
    Answer("08b.6", "always takes the last five, the number of the paper", edit(AVERAGE, "[-count:]", "[-5:]")),
    Answer("08b.6", "divides by the number of all checkpoints", edit(AVERAGE, ".mean(0)", ".sum(0) / len(checkpoints)")),
    Answer("08b.6", "the median instead of the mean", edit(AVERAGE, ".mean(0)", ".median(0).values")),
    Answer("08b.6", "adds into a checkpoint that was handed in", """
def average_last(checkpoints, count):
    if not 1 <= count <= len(checkpoints):
        raise ValueError(f"count is {count}, but there are {len(checkpoints)} checkpoints")
    total = checkpoints[-count]
    for weight in checkpoints[len(checkpoints) - count + 1:]:
        total += weight
    mean = total / count
    return mean, (sum((c - mean).pow(2).sum() for c in checkpoints[-count:]) / count).sqrt()
"""),
    # ---- 08b.7 BLEU
    Answer("08b.7", "a right answer with Counter", BLEU, right=True),
    Answer("08b.7", "a right answer that crosses found runs off a list", """
def bleu(candidates, references, order=4):
    if len(candidates) != len(references):
        raise ValueError("numbers of sentences differ: %d and %d" % (len(candidates), len(references)))
    product = 1.0
    for n in range(1, order + 1):
        found = possible = 0
        for said, truth in zip(candidates, references):
            left = [list(truth[i:i + n]) for i in range(len(truth) - n + 1)]
            for i in range(len(said) - n + 1):
                possible += 1
                run = list(said[i:i + n])
                if run in left:
                    left.remove(run)
                    found += 1
        if found == 0:
            return 0
        product *= (found / possible) ** (1 / order)
    c, r = (sum(map(len, side)) for side in (candidates, references))
    return 100 * product * (1 if c >= r else math.exp(1 - r / c))
""", right=True),
    Answer("08b.7", "a right answer in log-space that returns a tensor", """
def bleu(candidates, references, order=4):
    a, b = len(candidates), len(references)
    if a != b:
        raise ValueError(f"one reference each is needed: {a} candidates, {b} references")
    hits, totals = torch.zeros(order, dtype=torch.float64), torch.zeros(order, dtype=torch.float64)
    for said, truth in zip(candidates, references):
        for n in range(order):
            theirs = {}
            for i in range(len(truth) - n):
                run = tuple(truth[i:i + n + 1])
                theirs[run] = theirs.get(run, 0) + 1
            for i in range(len(said) - n):
                run = tuple(said[i:i + n + 1])
                totals[n] += 1
                if theirs.get(run, 0) > 0:
                    theirs[run] -= 1
                    hits[n] += 1
    if (hits == 0).any():
        return torch.tensor(0.0)
    c, r = sum(len(s) for s in candidates), sum(len(s) for s in references)
    return 100 * (min(0.0, 1 - r / c) + (hits / totals).log().mean()).exp()
""", right=True),
    Answer("08b.7", "does not clip: a run counts as often as the candidate says it", edit(
        BLEU, "sum((mine & theirs).values())", "sum(k for run, k in mine.items() if run in theirs)")),
    Answer("08b.7", "counts every different run once only, however often it stands in both", edit(edit(
        BLEU, "sum((mine & theirs).values())", "len(mine & theirs)"), "sum(mine.values())", "len(mine)")),
    Answer("08b.7", "no brevity penalty", edit(BLEU, "100 * penalty *", "100 *")),
    Answer("08b.7", "candidate and reference are exchanged in the brevity penalty", edit(BLEU, "r / c)", "c / r)")),
    Answer("08b.7", "the brevity penalty has no upper limit, so long candidates gain by it",
           edit(BLEU, "min(1.0, math.exp(1 - r / c))", "math.exp(1 - r / c)")),
    Answer("08b.7", "the arithmetic mean of the precisions instead of the mean of their logarithms", edit(edit(
        BLEU, "math.log(hits / total)", "hits / total"), "math.exp(logs / order)", "logs / order")),
    Answer("08b.7", "compares in lower case", edit(BLEU, "tuple(sentence[i:i + n])", "tuple(w.lower() for w in sentence[i:i + n])")),
    Answer("08b.7", "returns a share from 0 to 1, not a number up to 100", edit(BLEU, "return 100 * penalty", "return penalty")),
    Answer("08b.7", "divides by the runs of the reference: recall instead of precision",
           edit(BLEU, "total += sum(mine.values())", "total += sum(theirs.values())")),
    Answer("08b.7", "ignores order and always counts runs up to four", edit(edit(
        BLEU, "range(1, order + 1)", "range(1, 5)"), "logs / order", "logs / 4")),
    Answer("08b.7", "leaves out an order without any hit instead of returning 0", edit(BLEU, "return 0.0", "continue")),
    Answer("08b.7", "takes the logarithm of zero when no run is found",
           edit(BLEU, "        if hits == 0:\n            return 0.0\n", "")),
    Answer("08b.7", "forgets the last run of every sentence", edit(BLEU, "len(sentence) - n + 1", "len(sentence) - n")),
    Answer("08b.7", "does not refuse unequal numbers of sentences", edit(
        BLEU, """    if len(candidates) != len(references):
        raise ValueError(f"{len(candidates)} candidates, but {len(references)} references")
""", "")),
    Answer("08b.7", "joins the words of a run without a space, so that different runs become equal",
           edit(BLEU, "tuple(sentence[i:i + n])", "''.join(sentence[i:i + n])")),
    Answer("08b.7", "clips over the whole corpus, not within the sentence's own reference", edit(
        BLEU, """        for a, b in zip(candidates, references):
            mine, theirs = runs(a, n), runs(b, n)
            hits += sum((mine & theirs).values())
            total += sum(mine.values())
""", """        mine = sum((runs(a, n) for a in candidates), Counter())
        theirs = sum((runs(b, n) for b in references), Counter())
        hits, total = sum((mine & theirs).values()), sum(mine.values())
""")),
    Answer("08b.7", "the mean of the scores of single sentences instead of one fraction for the corpus", edit(
        BLEU, "def bleu(", "def one_bleu(") + """
def bleu(candidates, references, order=4):
    if len(candidates) != len(references):
        raise ValueError(f"{len(candidates)} candidates, but {len(references)} references")
    return sum(one_bleu([a], [b], order) for a, b in zip(candidates, references)) / len(candidates)
"""),
)
