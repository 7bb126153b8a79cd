"""Right answers to chapter 03, written differently from its solution."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


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
    "03.1": [scores_einsum, scores_loop],
    "03.2": [attention_where, attention_list],
    "03.3": [SPREAD, SPREAD_MEASURED],
    "03.4": [jacobian_loop, jacobian_kronecker],
    "03.5": [self_attention_transposed, self_attention_rows],
    "03.6": [FusedSelfAttention, LateValueSelfAttention],
    "03.7": [ORDER, {key: word.title() for key, word in ORDER.items()}],
}
