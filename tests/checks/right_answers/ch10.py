"""Right answers to chapter 10, written differently from its solution."""

import math
import re

import torch
from torch import nn
from torch.nn import functional as F

D, POOLER = 768, 768**2 + 768
HEADS = {"output layer for 2 classes": 2 * D + 2, "output layer for 9 tags": 9 * D + 9, "output layer for start and end": 2 * D + 2,
         "the whole 2-class model, pooler included": 109_482_240 + 1_538,
         "trained when embeddings and 11 of 12 blocks are frozen, 2 classes": 12 * D * D + 13 * D + POOLER + 1_538}


class Sequential(nn.Module):
    """Dropout as a module, which knows its mode by itself."""

    def __init__(self, d_model, num_labels, dropout):
        super().__init__()
        self.output, self.pooler, self.drop = nn.Linear(d_model, num_labels), nn.Linear(d_model, d_model), nn.Dropout(dropout)

    def forward(self, hidden):
        return self.output(self.drop(self.pooler(hidden[:, 0, :]).tanh()))


class Functional(nn.Module):
    """The pooler runs over all tokens before the first is taken."""

    def __init__(self, d_model, num_labels, dropout):
        super().__init__()
        self.pooler, self.output, self.dropout = nn.Linear(d_model, d_model), nn.Linear(d_model, num_labels), dropout

    def forward(self, hidden):
        first = torch.tanh(F.linear(hidden, self.pooler.weight, self.pooler.bias)).select(1, 0)
        first = F.dropout(first, self.dropout, training=self.training)
        return first @ self.output.weight.T + self.output.bias


def pool_einsum(hidden, mask):
    count = mask.sum(1).clamp(min=1).double()
    return (torch.einsum("bnd,bn->bd", hidden.double(), mask.double()) / count[:, None]).float()


def pool_loop(hidden, mask):
    return torch.stack([states[keep].mean(0) if keep.any() else 0 * states.sum(0) for states, keep in zip(hidden, mask, strict=True)])


def labels_set(words, labels, length):
    if len(words) > length or any(word is not None and word >= len(labels) for word in words):
        raise ValueError(f"pieces of words {words}, {len(words)} of them; length {length}; {len(labels)} labels")
    seen, out = {None}, torch.full((length,), -100)
    for place, word in enumerate(words):
        if word not in seen:
            out[place] = labels[word]
            seen.add(word)
    return out


def labels_list(words, labels, length):
    if length < len(words):
        raise ValueError(f"{length} < {len(words)}")
    highest = max([w for w in words if w is not None] or [0])
    if highest >= len(labels):
        raise ValueError(f"word {highest} has no label")
    out = [labels[w] if w is not None and (i == 0 or words[i - 1] != w) else -100 for i, w in enumerate(words)]
    return torch.tensor(out + (length - len(out)) * [-100], dtype=torch.long)


def scores_regex(wanted, guessed):
    """Each sentence as a string; a name is a match."""
    def names(sentences):
        found = set()
        for number, tags in enumerate(sentences):
            text = " ".join(tags)
            for match in re.finditer(r"[BI]-(\w+)(?: I-\1\b)*", text):
                found.add((number, match[1], text[:match.start()].count(" "), text[:match.end()].count(" ")))
        return found

    truth, guess = names(wanted), names(guessed)
    p = len(truth & guess) / max(1, len(guess))
    r = len(truth & guess) / max(1, len(truth))
    return p, r, 0.0 if p + r == 0 else 2 / (1 / p + 1 / r)


def scores_counts(wanted, guessed):
    hits = truths = guesses = 0
    for a, b in zip(wanted, guessed, strict=True):
        sets = []
        for tags in (a, b):
            opened = [i for i, tag in enumerate(tags) if tag != "O" and (tag[0] == "B" or i == 0 or tags[i - 1][1:] != tag[1:])]
            spans = set()
            for i in opened:
                j = i + 1
                while j < len(tags) and tags[j] == "I" + tags[i][1:]:
                    j += 1
                spans.add((tags[i][2:], i, j))
            sets.append(spans)
        hits, truths, guesses = hits + len(sets[0] & sets[1]), truths + len(sets[0]), guesses + len(sets[1])
    precision = hits / guesses if guesses else 0.0
    recall = hits / truths if truths else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if hits else 0.0


def span_loop(start, end, longest):
    if longest < 1:
        raise ValueError(f"longest is {longest}")
    best = (-math.inf, 0, 0)
    for i, s in enumerate(start.tolist()):
        for j in range(i, min(len(end), i + longest)):
            if s + end[j].item() > best[0]:
                best = (s + end[j].item(), i, j)
    return best[1], best[2], best[0]


def span_triangle(start, end, longest):
    if longest <= 0:
        raise ValueError(f"at most {longest} tokens")
    pairs = start.unsqueeze(1) + end.unsqueeze(0)
    band = torch.ones_like(pairs, dtype=torch.bool).triu().tril(longest - 1)
    value, place = torch.where(band, pairs, -math.inf).flatten().max(0)
    return divmod(int(place), len(start)) + (float(value),)


def windows_loop(passage, room, stride, answer):
    if not 0 < stride <= room:
        raise ValueError(f"{stride} is no stride for {room}")
    rows, starts, places, s = [], [], [], 0
    while True:
        row = passage[s:s + room]
        rows.append(F.pad(row, (0, room - len(row))))
        starts.append(s)
        places.append([answer[0] - s, answer[1] - s] if s <= answer[0] and answer[1] < s + room else [-1, -1])
        if s + room >= len(passage):
            return torch.stack(rows), torch.tensor(starts), torch.tensor(places)
        s += stride


def windows_unfold(passage, room, stride, answer):
    if stride < 1 or stride > room:
        raise ValueError(f"stride {stride}, room {room}")
    more = math.ceil(max(0, len(passage) - room) / stride)
    rows = F.pad(passage, (0, room + more * stride - len(passage))).unfold(0, room, stride)
    starts = torch.arange(0, more * stride + 1, stride)
    spans = torch.tensor([answer]) - starts[:, None]
    spans[(spans[:, 0] < 0) | (spans[:, 1] >= room)] = -1
    return rows, starts, spans


class LowRankEinsum(nn.Module):
    def __init__(self, d_out, d_in, rank, alpha):
        super().__init__()
        if rank < 1 or rank > d_out or rank > d_in:
            raise ValueError(f"no matrix of {d_out} rows and {d_in} columns has a change of rank {rank}")
        self.up = nn.Parameter(torch.zeros(d_out, rank))
        self.down = nn.Parameter(torch.empty(rank, d_in).uniform_(-0.1, 0.1))
        self.alpha = alpha

    def forward(self, weight):
        return weight + torch.einsum("or,ri->oi", self.up, self.down) * (self.alpha / self.up.shape[1])


class LowRankLoop(nn.Module):
    def __init__(self, d_out, d_in, rank, alpha):
        super().__init__()
        if rank not in range(1, min(d_out, d_in) + 1):
            raise ValueError(f"rank {rank}")
        self.down = nn.Parameter(nn.Linear(d_in, rank, bias=False).weight.detach().clone())
        self.up = nn.Parameter(torch.zeros(d_out, rank))
        self.rank, self.alpha = rank, alpha

    def forward(self, weight):
        for k in range(self.rank):
            weight = weight + self.alpha * self.up[:, k, None] * self.down[k] / self.rank
        return weight


ANSWERS = {
    "10.1": [HEADS, {key: float(value) for key, value in HEADS.items()}],
    "10.2": [Sequential, Functional],
    "10.3": [pool_einsum, pool_loop],
    "10.4": [labels_set, labels_list],
    "10.5": [scores_regex, scores_counts],
    "10.6": [span_loop, span_triangle],
    "10.7": [windows_loop, windows_unfold],
    "10.8": [LowRankEinsum, LowRankLoop],
}
