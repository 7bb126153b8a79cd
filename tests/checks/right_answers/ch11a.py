"""Right answers to chapter 11a, written differently from its solution."""

import math
from collections import Counter
from itertools import pairwise

import torch
from torch.nn import functional as F

from course_utils.text.merging import join


def learn_with_join(words, count):
    if count < 0:
        raise ValueError(f"{count} merges cannot be learned")
    parts, merges = {word: tuple(word) for word in words}, []
    while len(merges) < count:
        pairs = Counter()
        for word, symbols in parts.items():
            for pair in pairwise(symbols):
                pairs[pair] += words[word]
        if not pairs:
            break
        most = max(pairs.values())
        best = sorted(pair for pair, n in pairs.items() if n == most)[0]
        parts = {word: tuple(join(symbols, best, best[0] + best[1])) for word, symbols in parts.items()}
        merges.append(f"{best[0]} {best[1]}")
    return merges


def learn_in_one_list(words, count):
    """All words, as often as they occur, in one list with None between them."""
    if count < 0:
        raise ValueError(f"count was {count}")
    text = [symbol for word, n in words.items() for _ in range(n) for symbol in (*word, None)]
    merges = []
    for _ in range(count):
        pairs = Counter(p for p in zip(text, text[1:], strict=False) if None not in p)
        if not pairs:
            return merges
        (a, b), _ = min(pairs.items(), key=lambda item: (-item[1], item[0]))
        merges.append(a + " " + b)
        new, i = [], 0
        while i < len(text):
            hit = text[i:i + 2] == [a, b]
            new.append(a + b if hit else text[i])
            i += 1 + hit
        text = new
    return merges


def apply_in_order(word, merges):
    """Learned merges may also be applied one after the other, each once over the whole word."""
    symbols = list(word)
    for merge in merges:
        a, b = merge.split()
        symbols = join(symbols, (a, b), a + b)
    return symbols


def apply_by_rank(word, merges):
    ranks, symbols = {m: r for r, m in enumerate(merges)}, list(word)
    while True:
        found = [(ranks[f"{a} {b}"], i) for i, (a, b) in enumerate(pairwise(symbols)) if f"{a} {b}" in ranks]
        if not found:
            return symbols
        _, i = min(found)  # one place at a time, the leftmost of the best
        symbols[i:i + 2] = [symbols[i] + symbols[i + 1]]


def windows_unfold(ids, size, stride):
    if stride < 1 or stride > size:
        raise ValueError(f"stride {stride}, size {size}")
    n = len(ids) - 1
    if n < 1:
        raise ValueError(f"{len(ids)} token")
    count = 1 + max(0, math.ceil((n - size) / stride))
    missing = (count - 1) * stride + size - n
    inputs, targets = F.pad(ids[:-1], (0, missing)), F.pad(ids[1:], (0, missing), value=-100)
    return inputs.unfold(0, size, stride), targets.unfold(0, size, stride)


def windows_lookup(ids, size, stride):
    if not 0 < stride <= size or len(ids) < 2:
        raise ValueError(f"size={size}, stride={stride}, {len(ids)} tokens")
    starts = [0]
    while starts[-1] + size + 1 < len(ids):
        starts.append(starts[-1] + stride)
    place = torch.tensor(starts)[:, None] + torch.arange(size)
    there = place + 1 < len(ids)
    safe = place.clamp(max=len(ids) - 2)
    return torch.where(there, ids[safe], 0), torch.where(there, ids[safe + 1], -100)


def logits_functional(ids, token, position, blocks, weight, bias):
    n, room = ids.shape[1], position.shape[0]
    if n > room:
        raise ValueError(f"no more than {room} ids fit, got {n}")
    x = F.embedding(ids, token) + F.embedding(torch.arange(n), position)
    for block in blocks:
        x = block(x)
    return F.linear(F.layer_norm(x, token.shape[1:], weight, bias, 1e-5), token)


def logits_by_hand(ids, token, position, blocks, weight, bias):
    """The norm written out; each text of the batch by itself."""
    if len(position) < ids.shape[1]:
        raise ValueError(f"ids of length {ids.shape[1]}, {len(position)} positions")
    texts = []
    for row in ids:
        x = torch.stack([token[i] + position[t] for t, i in enumerate(row.tolist())])[None]
        for block in blocks:
            x = block(x)
        x = (x - x.mean(-1, True)) * torch.rsqrt(x.var(-1, unbiased=False, keepdim=True) + 1e-5)
        texts.append(((x * weight + bias) @ token.mT)[0])
    return torch.stack(texts)


def bits_window_by_window(logits_of, ids, size, stride, characters):
    total, done, start = 0.0, 0, 0
    while done < len(ids) - 1:
        given, wanted = ids[start:start + size][:len(ids) - 1 - start], ids[start + 1:start + size + 1]
        losses = F.cross_entropy(logits_of(given[None])[0], wanted, reduction="none")
        total += losses[done - start:].sum()
        done, start = start + len(wanted), start + stride
    return total / characters / math.log(2)


def bits_of_each_token(logits_of, ids, size, stride, characters):
    """Probabilities in a dictionary that keeps the first score of each place."""
    n, scored = len(ids), {}
    for start in range(0, n - 1, stride):
        rows = logits_of(ids[start:start + size][None])[0].softmax(-1)
        for t, row in enumerate(rows):
            if start + t + 1 < n:
                scored.setdefault(start + t + 1, math.log2(row[ids[start + t + 1]].item()))
    return -sum(scored.values()) / characters


def loss_ignoring(logits, ids, lengths):
    wanted = ids[:, 1:].clone()
    wanted[torch.arange(1, ids.shape[1]) >= lengths[:, None]] = -100
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), wanted, ignore_index=-100)


def loss_selected(logits, ids, lengths):
    rows = [F.cross_entropy(row[:n - 1], tokens[1:n], reduction="none")
            for row, tokens, n in zip(logits, ids, lengths.tolist(), strict=True)]
    return torch.cat(rows).mean()


def choose_loop(logits, temperature=1.0, top_k=None, top_p=None):
    if temperature < 0 or (top_k is not None and top_k < 1) or (top_p is not None and not 0 < top_p <= 1):
        raise ValueError(f"{temperature}, {top_k}, {top_p}")
    out = torch.zeros(logits.shape)
    for row, new in zip(logits, out, strict=True):
        if temperature == 0:
            new[row.argmax()] = 1
            continue
        order = row.argsort(descending=True)[:top_k]
        p = (row[order] / temperature).softmax(0)
        if top_p is not None:
            size = 1
            while size < len(p) and p[:size].sum() < top_p:
                size += 1
            order, p = order[:size], p[:size] / p[:size].sum()
        new[order] = p
    return out


def choose_sorted(logits, temperature=1.0, top_k=None, top_p=None):
    if top_p is not None and (top_p <= 0 or top_p > 1) or top_k is not None and top_k <= 0 or temperature < 0:
        raise ValueError(f"temperature {temperature}, k {top_k}, p {top_p}")
    if temperature == 0:
        temperature, top_k = 1.0, 1
    ordered, place = (logits.double() / temperature).sort(-1, descending=True)
    rank = torch.arange(logits.shape[-1])
    ordered = torch.where(rank < (top_k or len(rank)), ordered, -torch.inf)
    p = ordered.softmax(-1)
    ordered = torch.where(F.pad(p.cumsum(-1)[:, :-1], (1, 0)) < (top_p or 2.0), ordered, -torch.inf)
    return torch.empty_like(p).scatter(-1, place, ordered.softmax(-1)).float()


def similar_stacked(read, a, b, start, delimiter, extract, weight, bias):
    """Both orders in one batch: the rows have the same length."""
    n = len(a)
    begin, middle, end = (torch.full((n, 1), token) for token in (start, delimiter, extract))
    rows = torch.cat([torch.cat([begin, a, middle, b, end], 1), torch.cat([begin, b, middle, a, end], 1)])
    last = read(rows)[:, -1]
    return F.linear(last[:n] + last[n:], weight, bias)


def similar_pairs(read, a, b, start, delimiter, extract, weight, bias):
    scores = []
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        total = bias
        for one, other in ((x, y), (y, x)):
            total = total + weight @ read(torch.tensor([[start] + one + [delimiter] + other + [extract]]))[0, -1]
        scores.append(total)
    return torch.stack(scores)


def share_by_odds(p, q, rounds):
    if p.numel() != q.numel():
        raise ValueError(f"{p.numel()} and {q.numel()}")
    ratio, share = p.double() / q.double(), 0.5
    for _ in range(rounds):
        share = float((share * ratio / (share * ratio + 1 - share)).mean())
    return share


def share_in_a_loop(p, q, rounds):
    if len(p) != len(q):
        raise ValueError(f"{len(p)} tokens and {len(q)}")
    share = 0.5
    for _ in range(rounds):
        asked = [share * a / (share * a + (1 - share) * b) for a, b in zip(p.tolist(), q.tolist(), strict=True)]
        share = sum(asked) / len(asked)
    return share


NUMBERS = {"tokens that a byte-level BPE without merges makes of “naïve café”": len("naïve café".encode()),
           "targets in one pass over 16 windows of 64 inputs": 16 * 64, "targets if only the last row of each window is used": 16,
           "bits per character: all of 1,024 tokens equally likely, 2.5 characters a token": math.log2(1024) / 2.5,
           "of ten parameters of a block, how many are in its feed-forward network": 10 * (8 * 768 + 5) / (12 * 768 + 13),
           "of ten parameters of GPT-2 small, how many are in the token embedding": 10 * 50_257 / (51_281 + 12 * (12 * 768 + 13) + 2)}

ROUNDED = {name: float(round(value)) for name, value in NUMBERS.items()}

ANSWERS = {"11a.1": [learn_with_join, learn_in_one_list], "11a.2": [apply_in_order, apply_by_rank],
           "11a.3": [windows_unfold, windows_lookup], "11a.4": [logits_functional, logits_by_hand],
           "11a.5": [loss_ignoring, loss_selected], "11a.6": [bits_window_by_window, bits_of_each_token],
           "11a.7": [choose_loop, choose_sorted], "11a.8": [similar_stacked, similar_pairs], "11a.9": [NUMBERS, ROUNDED],
           "11a.10": [share_by_odds, share_in_a_loop]}
