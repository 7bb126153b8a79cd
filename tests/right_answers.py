"""For every exercise at least two right answers written differently from the solution: all must score full marks."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

# ---- chapter 01

def weights_by_loops(query, keys, bandwidth):
    if bandwidth <= 0:
        raise ValueError("bandwidth must be above zero but is " + str(bandwidth))
    out = torch.zeros(len(query), len(keys))
    for i in range(len(query)):
        scores = torch.stack([-((query[i] - keys[j]) / bandwidth) ** 2 / 2 for j in range(len(keys))])
        out[i] = torch.exp(scores - scores.max()) / torch.exp(scores - scores.max()).sum()
    return out


def weights_in_double(query, keys, bandwidth):
    if not bandwidth > 0:
        raise ValueError(f"{bandwidth=} is not positive")
    distance = torch.cdist(query.double()[:, None], keys.double()[:, None])
    return torch.exp(torch.log_softmax(-(distance**2) / (2 * bandwidth * bandwidth), dim=1))


def predict_with_einsum(query, keys, values, bandwidth):
    if len(keys) != len(values) or len(keys) == 0:
        raise ValueError(f"{len(keys)} keys, {len(values)} values")
    return torch.einsum("mn,n->m", weights_in_double(query, keys, bandwidth), values.double())


def predict_by_loop(query, keys, values, bandwidth):
    if len(keys) != len(values) or len(keys) == 0:
        raise ValueError(f"{len(keys)} keys, {len(values)} values")
    return torch.stack([(torch.exp(-((q - keys) ** 2) / (2 * bandwidth**2)) * values).sum()
                        / torch.exp(-((q - keys) ** 2) / (2 * bandwidth**2)).sum() for q in query])


def loo_by_leaving_out(keys, values, bandwidth):
    if len(keys) < 2:
        raise ValueError(f"cannot leave one out of {len(keys)}")
    errors = []
    for i in range(len(keys)):
        others = torch.cat([torch.arange(i), torch.arange(i + 1, len(keys))])
        errors.append((weights_by_loops(keys[i:i + 1], keys[others], bandwidth) @ values[others] - values[i]) ** 2)
    return torch.cat(errors).mean()


def loo_by_shortcut(keys, values, bandwidth):
    if len(keys) == 1:
        raise ValueError("1 point only")
    weights = weights_in_double(keys, keys, bandwidth)
    own = weights.diagonal()
    return (((weights @ values.double()) - own * values) / (1 - own) - values).square().mean()


def lookup_by_division(query, keys, values, temperature):
    strength = torch.exp((query @ keys.T) / temperature)
    return (strength @ values) / strength.sum(dim=1, keepdim=True)


def lookup_one_by_one(query, keys, values, temperature):
    return torch.stack([F.softmax(keys @ q / temperature, dim=0) @ values for q in query])


def dot_scores_full_square(query, keys):
    return -0.5 * ((query[:, None] - keys[None]) ** 2).sum(-1)


def dot_scores_einsum(query, keys):
    return torch.einsum("id,jd->ij", query, keys) - torch.einsum("jd,jd->j", keys, keys) / 2


class LoopKernel(nn.Module):
    def __init__(self, num_features):
        super().__init__()
        self.w = nn.Parameter(torch.rand(num_features))

    def forward(self, query, keys, values, exclude_self=False):
        out = []
        for i, q in enumerate(query):
            kernel = torch.exp(-(((q - keys) * self.w) ** 2).sum(1) / 2)
            if exclude_self:
                kernel = kernel * (torch.arange(len(keys)) != i)
            out.append((kernel * values).sum() / kernel.sum())
        return torch.stack(out)


class CdistKernel(nn.Module):
    def __init__(self, num_features):
        super().__init__()
        self.w = nn.Parameter(torch.ones(num_features))

    def forward(self, query, keys, values, exclude_self=False):
        left, right = query * self.w, keys * self.w
        scores = left @ right.mT - 0.5 * (right**2).sum(-1)
        if exclude_self:
            scores = torch.where(torch.eye(len(scores)) == 1, torch.tensor(float("-inf")), scores)
        return scores.softmax(1).matmul(values)


LIMITS = {"bandwidth -> 0": "nearest", "bandwidth -> infinity": "mean", "sum of a row": "one", "sum of a column": "not one"}


# ---- chapter 03

def _widths(query, key, value=None):
    if query.size(-1) != key.size(-1):
        raise ValueError(f"widths {query.size(-1)} and {key.size(-1)} differ")
    if value is not None and key.size(-2) != value.size(-2):
        raise ValueError(f"{key.size(-2)} keys, {value.size(-2)} values")


def scores_einsum(query, key):
    _widths(query, key)
    return torch.einsum("...ik,...jk->...ij", query / query.shape[-1] ** 0.25, key / key.shape[-1] ** 0.25)


def scores_loop(query, key):
    _widths(query, key)
    columns = [(query * key[..., j:j + 1, :]).sum(-1) for j in range(key.shape[-2])]
    return torch.stack(columns, dim=-1) / math.sqrt(key.shape[-1])


def attention_where(query, key, value, mask=None):
    _widths(query, key, value)
    scores = torch.matmul(query, key.transpose(-2, -1)) * key.shape[-1] ** -0.5
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    top = scores.detach().masked_fill(~mask, -1e30).amax(-1, keepdim=True)
    power = torch.where(mask, torch.exp((scores - top).masked_fill(~mask, 0.0)), torch.zeros(()))
    weights = power / power.sum(-1, keepdim=True).clamp_min(1e-30)
    return weights @ value, weights


def attention_list(query, key, value, mask=None):
    _widths(query, key, value)
    scores = scores_loop(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e30)
    weights = F.softmax(scores.double(), dim=-1)
    if mask is not None:
        weights = weights * mask
    weights = weights.to(query.dtype)
    return [torch.einsum("...ij,...jd->...id", weights, value), weights]


SPREAD = {"variance of q·k": 64, "std of q·k": 8, "std of q·k / sqrt(d_k)": 1, "std of q·k / d_k": 0.125}
SPREAD_MEASURED = {"variance of q·k": 63.2, "std of q·k": torch.tensor(7.95), "std of q·k / sqrt(d_k)": np.float64(0.99),
                   "std of q·k / d_k": 0.124}


def jacobian_loop(p):
    n = len(p)
    return torch.stack([torch.stack([p[i] * (float(i == j) - p[j]) for j in range(n)]) for i in range(n)])


def jacobian_kronecker(p):
    return (torch.eye(len(p), dtype=torch.float64) - p.double()) * p[:, None]


def self_attention_transposed(x, w_q, w_k, w_v):
    scores = torch.mm(x @ w_q @ w_k.t(), x.t()).div(w_k.size(1) ** 0.5)
    return scores.softmax(dim=1).mm(x).mm(w_v)


def self_attention_rows(x, w_q, w_k, w_v):
    return torch.stack([F.softmax((x @ w_k) @ (row @ w_q) / math.sqrt(w_q.shape[-1]), 0) @ (x @ w_v) for row in x])


class FusedSelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.w_v = nn.Linear(d_model, d_v, bias=False)
        self.w_k = nn.Linear(d_model, d_k, bias=False)
        self.w_q = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x, mask=None):
        return F.scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x), attn_mask=mask)


class LateValueSelfAttention(nn.Module):
    """Mixes the tokens first and projects afterwards: the same by linearity."""

    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k, bias=False)
        self.w_k = nn.Linear(d_model, d_k, bias=False)
        self.w_v = nn.Linear(d_model, d_v, bias=False)

    def forward(self, x, mask=None):
        _, weights = attention_where(self.w_q(x), self.w_k(x), x, mask)
        return self.w_v(weights @ x)


ORDER = {"self-attention": "shuffled along", "mean of its outputs": "unchanged", "fixed query, pairs shuffled": "unchanged",
         "fixed query, only keys shuffled": "changed", "causal self-attention": "changed"}

ANSWERS = {
    "01.1": [weights_by_loops, weights_in_double],
    "01.2": [predict_with_einsum, predict_by_loop],
    "01.5": [loo_by_leaving_out, loo_by_shortcut],
    "01.3": [LIMITS, {key: word.upper() + " " for key, word in LIMITS.items()}],
    "01.4": [lookup_by_division, lookup_one_by_one],
    "01.7": [dot_scores_full_square, dot_scores_einsum],
    "01.6": [LoopKernel, CdistKernel],
    "03.1": [scores_einsum, scores_loop],
    "03.2": [attention_where, attention_list],
    "03.3": [SPREAD, SPREAD_MEASURED],
    "03.4": [jacobian_loop, jacobian_kronecker],
    "03.5": [self_attention_transposed, self_attention_rows],
    "03.6": [FusedSelfAttention, LateValueSelfAttention],
    "03.7": [ORDER, {key: word.title() for key, word in ORDER.items()}],
}
