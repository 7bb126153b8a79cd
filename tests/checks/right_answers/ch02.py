"""Right answers to chapter 02, written differently from its solution."""

import torch
from torch import nn
from torch.nn import functional as F


class ConcatElman(nn.Module):
    """Both parts in one product of the joined vectors with the joined matrices."""

    def __init__(self, d_in, width):
        super().__init__()
        self.u = nn.Linear(width, width, bias=False)
        self.w = nn.Linear(d_in, width)

    def forward(self, x, h=None):
        if h is None:
            h = torch.zeros(x.size(0), self.u.weight.size(0))
        joined = torch.cat([self.w.weight, self.u.weight], 1)
        out = []
        for t in range(x.size(1)):
            h = F.linear(torch.cat([x[:, t], h], 1), joined, self.w.bias).tanh()
            out.append(h[:, None])
        return torch.cat(out, 1)


class ByHandElman(nn.Module):
    def __init__(self, d_in, width):
        super().__init__()
        self.w = nn.Linear(d_in, width)
        self.u = nn.Linear(width, width, bias=False)

    def forward(self, x, h=None):
        states = [torch.zeros(len(x), self.u.in_features) if h is None else h]
        for x_t in x.transpose(0, 1):
            z = x_t @ self.w.weight.T + states[-1] @ self.u.weight.T + self.w.bias
            states.append((torch.exp(z) - torch.exp(-z)) / (torch.exp(z) + torch.exp(-z)))
        return torch.stack(states[1:], dim=1)


def scores_by_loop(query, key, w_q, w_k, v):
    rows = [(torch.tanh((query[:, i] @ w_q).unsqueeze(1) + key @ w_k) * v).sum(-1) for i in range(query.shape[1])]
    return torch.stack(rows, dim=1)


def scores_by_concat(query, key, w_q, w_k, v):
    n, m = query.shape[1], key.shape[1]
    pairs = torch.cat([query[:, :, None].expand(-1, -1, m, -1), key[:, None].expand(-1, n, -1, -1)], -1)
    return torch.einsum("bnma,a->bnm", torch.tanh(pairs @ torch.cat([w_q, w_k])), v)


def step_einsum(state, annotations, w_s, w_h, v):
    scores = scores_by_loop(state[:, None], annotations, w_s, w_h, v)[:, 0]
    weights = torch.exp(scores - torch.logsumexp(scores, 1, keepdim=True))
    return torch.einsum("bt,btd->bd", weights, annotations), weights


def step_bmm(state, annotations, w_s, w_h, v):
    weights = torch.softmax(torch.tanh(state[:, None] @ w_s + annotations @ w_h) @ v[:, None], dim=1)
    return [torch.bmm(weights.mT, annotations).squeeze(1), weights.squeeze(2)]


class LoopAttention(nn.Module):
    def __init__(self, d_query, d_key, d_attn):
        super().__init__()
        self.v = nn.Linear(d_attn, 1, bias=False)
        self.w_k = nn.Linear(d_key, d_attn, bias=False)
        self.w_q = nn.Linear(d_query, d_attn, bias=False)

    def forward(self, query, key, value, mask=None):
        scores = torch.cat([self.v(torch.tanh(self.w_q(query[:, i:i + 1]) + self.w_k(key))).mT for i in range(query.size(1))], 1)
        if mask is not None:
            scores = torch.where(mask, scores, torch.tensor(-1e30))
        weights = scores.softmax(-1)
        return torch.bmm(weights, value), weights


class DividingAttention(LoopAttention):
    def forward(self, query, key, value, mask=None):
        hidden = torch.tanh(self.w_q(query).unsqueeze(2) + self.w_k(key).unsqueeze(1))
        scores = torch.einsum("bnma,a->bnm", hidden, self.v.weight[0])
        if mask is None:
            mask = torch.ones_like(scores, dtype=torch.bool)
        power = torch.where(mask, torch.exp(scores - scores.masked_fill(~mask, -1e30).amax(-1, keepdim=True)), 0.0)
        weights = power / power.sum(-1, keepdim=True)
        return torch.einsum("bnm,bmd->bnd", weights, value), weights


def field_by_walking(kernels, dilations):
    if len(kernels) != len(dilations):
        raise ValueError(f"{len(kernels)} against {len(dilations)}")
    seen = {0}
    for k, d in zip(kernels, dilations, strict=True):
        seen = {p + tap * d for p in seen for tap in range(k)}
    return max(seen) - min(seen) + 1


def field_recursive(kernels, dilations):
    if len(kernels) != len(dilations):
        raise ValueError("lengths {} and {}".format(*map(len, (kernels, dilations))))
    if not kernels:
        return 1
    return field_recursive(kernels[1:], dilations[1:]) + dilations[0] * kernels[0] - dilations[0]


GROWTH = {"recurrent layer: steps that wait for each other": "n", "recurrent layer: path, first to last": "n",
          "convolutions, kernel 3: path, first to last": "n", "dilations 1, 3, 9, …: path, first to last": "log n",
          "self-attention: path, first to last": "constant", "self-attention: scores to compute": "n squared"}

ANSWERS = {
    "02.1": [ConcatElman, ByHandElman],
    "02.2": [scores_by_loop, scores_by_concat],
    "02.3": [step_einsum, step_bmm],
    "02.4": [LoopAttention, DividingAttention],
    "02.5": [field_by_walking, field_recursive],
    "02.6": [GROWTH, {key: word.upper() for key, word in GROWTH.items()}],
}
