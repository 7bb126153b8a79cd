"""Right answers to chapter 01, written differently from its solution."""


import torch
from torch import nn
from torch.nn import functional as F


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


def weights_by_softmax(query, keys, bandwidth):
    if bandwidth <= 0:
        raise ValueError(f"the bandwidth is {bandwidth}")
    return F.softmax(((query.unsqueeze(1) - keys) / bandwidth).square().mul(-0.5), dim=-1)


def predict_with_einsum(query, keys, values, bandwidth):
    if len(keys) != len(values) or len(keys) == 0:
        raise ValueError(f"{len(keys)} keys, {len(values)} values")
    return torch.einsum("mn,n->m", weights_in_double(query, keys, bandwidth), values.double())


def predict_by_loop(query, keys, values, bandwidth):
    if len(keys) != len(values) or len(keys) == 0:
        raise ValueError(f"{len(keys)} keys, {len(values)} values")
    out = []
    for q in query:
        away = (q - keys) ** 2
        kernel = torch.exp(-(away - away.min()) / (2 * bandwidth**2))
        out.append((kernel * values).sum() / kernel.sum())
    return torch.stack(out)


def loo_by_leaving_out(keys, values, bandwidth):
    if len(keys) < 2:
        raise ValueError(f"cannot leave one out of {len(keys)}")
    errors = []
    for i in range(len(keys)):
        others = torch.cat([torch.arange(i), torch.arange(i + 1, len(keys))])
        errors.append((weights_by_loops(keys[i:i + 1], keys[others], bandwidth) @ values[others] - values[i]) ** 2)
    return torch.cat(errors).mean()


def loo_with_a_gather(keys, values, bandwidth):
    if len(keys) < 2:
        raise ValueError(f"{len(keys)} points only")
    n = len(keys)
    others = torch.tensor([[j for j in range(n) if j != i] for i in range(n)])       # (n, n - 1)
    scores = -((keys[:, None] - keys[others]) ** 2) / (2 * bandwidth**2)
    return F.mse_loss((scores.softmax(1) * values[others]).sum(1), values)


def lookup_by_division(query, keys, values, temperature):
    scores = (query.double() @ keys.double().T) / temperature
    strength = torch.exp(scores - scores.amax(dim=1, keepdim=True)).to(values.dtype)
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
        self.w = nn.Parameter(torch.full((num_features,), 1.0))

    def forward(self, query, keys, values, exclude_self=False):
        out = []
        for i, q in enumerate(query):
            others = [j for j in range(len(keys)) if not exclude_self or j != i]
            away = (((q - keys[others]) * self.w) ** 2).sum(1)
            kernel = torch.exp(-(away - away.min()) / 2)
            out.append((kernel * values[others]).sum() / kernel.sum())
        return torch.stack(out)


class CdistKernel(nn.Module):
    def __init__(self, num_features):
        super().__init__()
        self.w = nn.Parameter(torch.ones(num_features))

    def forward(self, query, keys, values, exclude_self=False):
        left, right = (query * self.w).double(), (keys * self.w).double()
        scores = left @ right.mT - 0.5 * (right**2).sum(-1)
        if exclude_self:
            scores = torch.where(torch.eye(len(scores)) == 1, torch.tensor(float("-inf")), scores)
        return scores.softmax(1).to(values.dtype).matmul(values)


LIMITS = {"bandwidth -> 0": "nearest", "bandwidth -> infinity": "mean", "sum of a row": "one", "sum of a column": "not one"}

ANSWERS = {
    "01.1": [weights_by_loops, weights_in_double, weights_by_softmax],
    "01.2": [predict_with_einsum, predict_by_loop],
    "01.5": [loo_by_leaving_out, loo_with_a_gather],
    "01.3": [LIMITS, {key: word.upper() + " " for key, word in LIMITS.items()}],
    "01.4": [lookup_by_division, lookup_one_by_one],
    "01.7": [dot_scores_full_square, dot_scores_einsum],
    "01.6": [LoopKernel, CdistKernel],
}
