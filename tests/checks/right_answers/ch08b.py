"""Right answers to chapter 08b, written differently from its solution."""

import heapq
import math
from collections import Counter, defaultdict

import torch
from torch.nn import functional as F


def _at_least_one(name, value):
    if value < 1:
        raise ValueError(f"{name} is {value}, but must be 1 or more")


def greedy_rows(step, start, eos, pad, max_new):
    _at_least_one("max_new", max_new)
    width, rows = start.shape[1], start.tolist()
    while len(rows[0]) < width + max_new and not all(eos in row[width:] for row in rows):
        best = step(torch.tensor(rows)).max(dim=1).indices.tolist()
        rows = [row + [pad if eos in row[width:] else token] for row, token in zip(rows, best, strict=True)]
    return torch.tensor(rows)[:, width:]


def greedy_buffer(step, start, eos, pad, max_new):
    _at_least_one("max_new", max_new)
    batch, width = start.shape
    buffer = torch.full((batch, width + max_new), pad)
    buffer[:, :width] = start
    running = torch.ones(batch, dtype=torch.bool)
    for t in range(width, width + max_new):
        buffer[running, t] = step(buffer[:, :t].clone()).log_softmax(-1).argmax(1)[running]
        running = running & (buffer[:, t] != eos)
        if not running.any():
            return buffer[:, width:t + 1]
    return buffer[:, width:]


def cached_loop(x, w_q, w_k, w_v, num_heads, keys=None, values=None):
    if keys is not None and keys.shape[0] != x.shape[0]:
        raise ValueError(f"{keys.shape[0]} sentences cached, {x.shape[0]} given")
    batch, n, _ = x.shape
    split = lambda y: y.view(batch, n, num_heads, -1).permute(0, 2, 1, 3)  # noqa: E731
    q, k, v = split(x @ w_q), split(x @ w_k), split(x @ w_v)
    if keys is not None:
        k, v = torch.cat((keys, k), dim=-2), torch.cat((values, v), dim=-2)
    old = k.shape[-2] - n
    rows = []
    for i in range(n):  # token i sees what lies before it, and itself
        upto = old + i + 1
        w = F.softmax(torch.einsum("bhd,bhtd->bht", q[:, :, i], k[:, :, :upto]) / q.shape[-1] ** 0.5, -1)
        rows.append(torch.einsum("bht,bhtd->bhd", w, v[:, :, :upto]).reshape(batch, -1))
    return torch.stack(rows, 1), k, v


def cached_positions(x, w_q, w_k, w_v, num_heads, keys=None, values=None):
    n = x.size(1)
    if keys is not None and keys.size(0) != x.size(0):
        raise ValueError(f"cache of {keys.size(0)}, batch of {x.size(0)}")
    q, k, v = (torch.stack((x @ w).chunk(num_heads, dim=-1), dim=1) for w in (w_q, w_k, w_v))
    old = 0
    if keys is not None:
        old = keys.size(2)
        k, v = torch.cat([keys, k], 2), torch.cat([values, v], 2)
    late = torch.arange(old + n)[None, :] > torch.arange(old, old + n)[:, None]
    scores = torch.matmul(q, k.transpose(-1, -2)) * q.size(-1) ** -0.5
    weights = torch.softmax(scores + torch.zeros(late.shape).masked_fill(late, float("-inf")), dim=-1)
    return [torch.cat((weights @ v).unbind(1), dim=-1), k, v]


def pieces_at_once(ids, pieces, embedding, table, w_q, w_k, w_v):
    x = embedding[ids] + table[: ids.shape[1]]
    scores = torch.einsum("bid,bjd->bij", x @ w_q, x @ w_k) / math.sqrt(w_q.shape[1])
    later = torch.ones(ids.shape[1], ids.shape[1]).triu(1).bool()
    return scores.masked_fill(later, -torch.inf).softmax(-1) @ x @ w_v


def pieces_single(ids, pieces, embedding, table, w_q, w_k, w_v):
    outputs, keys, values = [], [], []
    for t in range(ids.size(1)):  # however the pieces lie, token by token gives the same
        x = embedding[ids[:, t]] + table[t]
        keys.append(x @ w_k)
        values.append(x @ w_v)
        scores = (torch.stack(keys, 1) @ (x @ w_q)[:, :, None])[..., 0] / math.sqrt(w_k.size(1))
        outputs.append((F.softmax(scores, 1)[:, None] @ torch.stack(values, 1))[:, 0])
    return torch.stack(outputs, 1)


PREDICT = {"positions computed without cache, 100 tokens": 5050, "positions computed with cache, 100 tokens": 100,
           "numbers kept per token, 12 layers of width 768": 18432, "kilobytes of that in 16 bits": 36.864,
           "numbers per token if block inputs are kept instead": 9216}
ROUGH = {"positions computed without cache, 100 tokens": 5050.0, "positions computed with cache, 100 tokens": torch.tensor(100.0),
         "numbers kept per token, 12 layers of width 768": 18_432.0, "kilobytes of that in 16 bits": 37,
         "numbers per token if block inputs are kept instead": 9_216}


def beam_heap(step, bos, eos, beam, max_new, alpha):
    _at_least_one("beam", beam)
    running, ended = [(0.0, [bos])], []
    for _ in range(max_new):
        longer = []
        for total, ids in running:
            for token, value in enumerate(step(torch.tensor([ids]))[0].tolist()):
                (ended if token == eos else longer).append((total + value, [*ids, token]))
        running = heapq.nlargest(beam, longer)
    score, ids = max((total / ((4 + len(ids)) / 6) ** alpha, ids) for total, ids in ended)
    return torch.tensor(ids[1:]), torch.tensor(score)


def beam_tensors(step, bos, eos, beam, max_new, alpha):
    _at_least_one("beam", beam)
    tokens, sums, best = torch.full((1, 1), bos), torch.zeros(1, dtype=torch.float64), (-math.inf, None)
    for length in range(1, max_new + 1):
        totals = step(tokens).double() + sums.unsqueeze(1)
        top = totals[:, eos].argmax()
        score = totals[top, eos].item() / ((5 + length) / 6) ** alpha
        if score > best[0]:
            best = score, torch.cat([tokens[top, 1:], torch.tensor([eos])])
        totals = totals.index_fill(1, torch.tensor([eos]), -math.inf)
        order = totals.reshape(-1).argsort(descending=True)[:beam]
        order = order[totals.reshape(-1)[order] > -math.inf]
        sums = totals.reshape(-1)[order]
        parents = torch.div(order, totals.shape[1], rounding_mode="floor")
        tokens = torch.cat([tokens.index_select(0, parents), (order - parents * totals.shape[1]).unsqueeze(1)], 1)
    return best[1], torch.tensor(best[0], dtype=torch.float32)


def _same_number(candidates, references):
    if len(candidates) != len(references):
        raise ValueError(f"got {len(candidates)} candidates for {len(references)} references")


def bleu_counts(candidates, references, order=4):
    _same_number(candidates, references)
    hits, totals = [0] * order, [0] * order
    for c, r in zip(candidates, references, strict=True):
        for n in range(order):
            left = Counter(zip(*(r[k:] for k in range(n + 1)), strict=False))
            mine = Counter(zip(*(c[k:] for k in range(n + 1)), strict=False))
            totals[n] += sum(mine.values())
            hits[n] += sum(min(count, left[gram]) for gram, count in mine.items())
    if 0 in hits:
        return 0
    ratio = sum(map(len, references)) / sum(map(len, candidates))
    return 100 * math.prod(h / t for h, t in zip(hits, totals, strict=True)) ** (1 / order) * min(1, math.exp(1 - ratio))


def bleu_strings(candidates, references, order=4):
    _same_number(candidates, references)
    logs = 0.0
    for n in range(1, order + 1):
        hits, total = 0, 0
        for c, r in zip(candidates, references, strict=True):
            found = defaultdict(int)
            for i in range(len(r) - n + 1):
                found["\t".join(r[i:i + n])] += 1
            for i in range(len(c) - n + 1):
                gram, total = "\t".join(c[i:i + n]), total + 1
                hits += found[gram] > 0
                found[gram] -= 1
        if hits == 0:
            return torch.tensor(0.0)
        logs += math.log(hits) - math.log(total)
    length, wanted = sum(len(c) for c in candidates), sum(len(r) for r in references)
    return torch.tensor(100 * math.exp(logs / order + (1 - wanted / length if length < wanted else 0)))


def _enough(checkpoints, count):
    if count < 1 or count > len(checkpoints):
        raise ValueError(f"count {count}, checkpoints {len(checkpoints)}")


def average_running(checkpoints, count):
    _enough(checkpoints, count)
    mean = torch.zeros_like(checkpoints[0])
    for i, weights in enumerate(checkpoints[len(checkpoints) - count:], start=1):
        mean = mean + (weights - mean) / i
    far = [torch.linalg.vector_norm(weights - mean) for weights in checkpoints[len(checkpoints) - count:]]
    return mean, (sum(d * d for d in far) / count) ** 0.5


def average_double(checkpoints, count):
    _enough(checkpoints, count)
    last = [w.double().flatten() for w in checkpoints[-count:]]
    mean = sum(last) / count
    square = sum(w @ w for w in last) / count - mean @ mean
    return mean.view(checkpoints[0].shape), square.clamp_min(0).sqrt()


ANSWERS = {
    "08b.1": [greedy_rows, greedy_buffer],
    "08b.2": [cached_loop, cached_positions],
    "08b.4": [pieces_at_once, pieces_single],
    "08b.3": [PREDICT, ROUGH],
    "08b.5": [beam_heap, beam_tensors],
    "08b.7": [bleu_counts, bleu_strings],
    "08b.6": [average_running, average_double],
}
