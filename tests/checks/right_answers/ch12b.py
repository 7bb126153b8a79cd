"""Right answers to chapter 12b, written differently from its solution."""

import math
from itertools import pairwise

import torch
from torch import nn
from torch.nn import functional as F


def apart_loops(joint):
    total = float(joint.sum())
    if not math.isclose(total, 1, abs_tol=1e-4):
        raise ValueError(f"sum is {total:.3f}")
    product = torch.empty(joint.shape)
    for i in range(joint.shape[0]):
        for j in range(joint.shape[1]):
            product[i, j] = joint[i].sum() * joint[:, j].sum()
    lost = torch.tensor(0.0)
    for i, j in joint.nonzero().tolist():
        lost = lost + joint[i, j] * torch.log(joint[i, j] / product[i, j])
    return product, lost


def apart_entropies(joint):
    """What is lost is the sum of both entropies without that of the pair."""
    if (joint.sum() - 1).abs() > 1e-3:
        raise ValueError(f"adds up to {joint.sum():.4g}")
    a, b = joint.double().sum(1, keepdim=True), joint.double().sum(0, keepdim=True)

    def entropy(p):
        return -torch.special.xlogy(p, p).sum()

    return (a @ b).float(), (entropy(a) + entropy(b) - entropy(joint.double())).float()


def factors_shrink(joint, sentence, order):
    """Look up one axis after the other; axes that are looked up stay with size 1."""
    if sorted(order.tolist()) != list(range(joint.dim())):
        raise ValueError(f"{order.tolist()} is no order of {joint.dim()} positions")
    found, table = [], joint
    for i in order.tolist():
        smaller = table.narrow(i, int(sentence[i]), 1)
        found.append(smaller.sum() / table.sum())
        table = smaller
    return torch.stack(found)


def factors_marginals(joint, sentence, order):
    turns = order.tolist()
    if set(turns) != set(range(joint.dim())) or len(turns) != joint.dim():
        raise ValueError(f"order {turns}")
    masses = [joint.sum()]
    for t in range(1, len(turns) + 1):
        index = [slice(None)] * joint.dim()
        for i in turns[:t]:
            index[i] = int(sentence[i])
        masses.append(joint[tuple(index)].sum())
    return torch.stack([b / a for a, b in pairwise(masses)])


def masks_loops(order):
    turns = order.tolist()
    if sorted(turns) != list(range(len(turns))):
        raise ValueError(f"{turns} is no permutation")
    query = torch.zeros(len(turns), len(turns), dtype=torch.bool)
    for t, i in enumerate(turns):
        query[i, turns[:t]] = True
    content = query.clone()
    content.fill_diagonal_(True)
    return content, query


def masks_scattered(order):
    """The triangle of a left-to-right model, moved to where the order wants it."""
    n = len(order)
    if not torch.equal(order.sort().values, torch.arange(n)):
        raise ValueError(f"not an order: {order.tolist()}")
    content = torch.empty(n, n, dtype=torch.bool)
    content[order[:, None], order] = torch.ones(n, n).tril().bool()
    return content, content & ~torch.eye(n).bool()


class OneHeadAtATime(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} features, {num_heads} heads")
        self.heads, self.width = num_heads, d_model // num_heads
        for name in ("w_q", "w_k", "w_v", "w_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, h, g, content, query):
        k, v = self.w_k(h), self.w_v(h)
        results = []
        for stream, mask in ((h, content), (g, query)):
            q, parts = self.w_q(stream), []
            for head in range(self.heads):
                at = slice(head * self.width, (head + 1) * self.width)
                scores = torch.einsum("bif,bjf->bij", q[..., at], k[..., at]) / self.width**0.5
                weight = torch.where(mask, (scores - scores.detach().amax(-1, keepdim=True)).exp(), 0.0)
                parts.append(weight / weight.sum(-1, keepdim=True).clamp_min(1e-30) @ v[..., at])
            results.append(self.w_o(torch.cat(parts, -1)))
        return tuple(results)


class BothStreamsAtOnce(nn.Module):
    """2n queries, n keys: one attention under the two masks laid on top of each other."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model={d_model}, num_heads={num_heads}")
        self.num_heads = num_heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, h, g, content, query):
        def cut(x):
            return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

        mask = torch.cat([content, query], -2)
        mask = mask[:, None] if mask.dim() == 3 else mask
        none = ~mask.any(-1, keepdim=True)
        mixed = F.scaled_dot_product_attention(cut(self.w_q(torch.cat([h, g], 1))), cut(self.w_k(h)), cut(self.w_v(h)), mask | none)
        mixed = mixed.masked_fill(none, 0.0)
        return self.w_o(mixed.transpose(1, 2).flatten(2)).chunk(2, 1)


def partial_cross_entropy(logits, ids, orders, k):
    labels = torch.full_like(ids, -100)
    for row, order in enumerate(orders.tolist()):
        for place in order[len(order) - k:]:
            labels[row, place] = ids[row, place]
    return F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=-100)


def partial_by_rank(logits, ids, orders, k):
    late = orders.argsort(-1) >= ids.shape[1] - k
    return F.nll_loss(logits[late].log_softmax(-1), ids[late])


NUMBERS = {"pairs that the content mask of 3→2→4→1 allows": 1 + 2 + 3 + 4,
           "pairs that its query mask allows": 0 + 1 + 2 + 3,
           "tokens that a token of 9 sees before its turn, on average over all orders": sum(range(9)) / 9,
           "New York and Los Angeles, half each: probability of no city, both words guessed at once": 1 - 2 / 4,
           "four such cities, a quarter each: bits lost by guessing both words at once": math.log2(16) - math.log2(4),
           "parameters only the query stream has, width 768": 768}

def masked_nats(logits, ids, hidden, t):
    if t.min() <= 0 or t.max() > 1:
        raise ValueError(f"shares from 0 to 1, got {t}")
    nats = F.cross_entropy(logits.transpose(1, 2), ids, reduction="none")
    return torch.einsum("bn,b->", nats * hidden, 1 / t) / len(t)


def gap_by_gap(logits, ids, hidden, t):
    for share in t.tolist():
        if not 0 < share <= 1:
            raise ValueError(str(share))
    total = torch.zeros(())
    for b, i in hidden.nonzero().tolist():
        total = total - logits[b, i].log_softmax(0)[ids[b, i]] / t[b]
    return total / logits.shape[0]


ANSWERS = {"12b.1": [apart_loops, apart_entropies], "12b.2": [factors_shrink, factors_marginals], "12b.3": [masks_loops, masks_scattered],
           "12b.4": [OneHeadAtATime, BothStreamsAtOnce], "12b.5": [partial_cross_entropy, partial_by_rank],
           "12b.6": [NUMBERS, {name: float(value) for name, value in NUMBERS.items()}],
           "12b.7": [masked_nats, gap_by_gap]}
