"""Right answers to chapter 13a, written differently from its solution."""

import math

import torch
from torch.nn import functional as F

from course_checks.exercises.ch13a.growth import RIGHT


def merge_double(a, b):
    (ma, sa, oa), (mb, sb, ob) = ([x.double() for x in y] for y in (a, b))
    m = torch.stack([ma, mb]).amax(0)
    x, y = (torch.where(z == -torch.inf, torch.zeros_like(z), torch.exp(z - m)) for z in (ma, mb))
    return m.float(), (x * sa + y * sb).float(), (x.unsqueeze(1) * oa + y.unsqueeze(1) * ob).float()


def merge_rows(a, b):
    m, s, o = (torch.empty_like(x) for x in a)
    for i in range(len(m)):
        one, two = [x[i] for x in a], [x[i] for x in b]
        if one[0] < two[0]:
            one, two = two, one
        f = (two[0] - one[0]).exp() if two[0] > -torch.inf else torch.tensor(0.0)
        m[i], s[i], o[i] = one[0], one[1] + f * two[1], one[2] + f * two[2]
    return m, s, o


def rows_two_passes(query, key, value, size):
    """First the log-sum-exp of every block, then the weights."""
    if not size > 0:
        raise ValueError(f"blocks of {size}")
    scores = [query @ k.T / math.sqrt(query.shape[-1]) for k in key.split(size)]
    top = torch.stack([s.max(1).values for s in scores]).max(0).values[:, None]
    lse = top + sum((s - top).exp().sum(1, keepdim=True) for s in scores).log()
    return sum((s - lse).exp() @ v for s, v in zip(scores, value.split(size), strict=True)), lse[:, 0]


def rows_loops(query, key, value, size):
    if size <= 0:
        raise ValueError(f"size {size}")
    n, start = len(query), 0
    m, s, o = torch.full((n, 1), float("-inf")), torch.zeros(n, 1), torch.zeros(n, value.shape[1])
    while start < len(key):
        x = torch.einsum("nd,md->nm", query, key[start:start + size]) / query.shape[1] ** 0.5
        new = torch.maximum(m, x.max(1, keepdim=True).values)
        p = torch.exp(x - new)
        s = s * torch.exp(m - new) + p.sum(1, keepdim=True)
        o = o * torch.exp(m - new) + torch.einsum("nm,mv->nv", p, value[start:start + size])
        m, start = new, start + size
    return o / s, (m + torch.log(s)).squeeze(1)


def gradients_einsum(q, k, v, grad, output, lse):
    root = math.sqrt(q.shape[1])
    p = torch.exp(torch.einsum("id,jd->ij", q, k) / root - lse.unsqueeze(1))
    ds = p * (torch.einsum("iv,jv->ij", grad, v) - torch.einsum("iv,iv->i", grad, output).unsqueeze(1)) / root
    return torch.einsum("ij,jd->id", ds, k), torch.einsum("ij,id->jd", ds, q), torch.einsum("ij,iv->jv", p, grad)


def gradients_by_rows(q, k, v, grad, output, lse):
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    scale = 1 / math.sqrt(q.shape[1])
    for i in range(len(q)):
        p = (scale * (k @ q[i]) - lse[i]).exp()
        ds = p * ((v - output[i]) @ grad[i])
        dq[i] = scale * ds @ k
        dk += scale * torch.outer(ds, q[i])
        dv += torch.outer(p, grad[i])
    return dq, dk, dv


def few_bits_rows(x, bits, group=None):
    group = group or x.shape[1]
    if x.shape[1] % group != 0:
        raise ValueError(f"{group} does not divide {x.shape[1]}")
    top, codes, scales = 2 ** (bits - 1) - 1, [], []
    for part in x.split(group, 1):
        scale = part.abs().max(1, keepdim=True).values / top
        scale[scale == 0] = 1
        codes.append(torch.round(part / scale))
        scales.append(scale)
    return torch.cat(codes, 1), torch.cat(scales, 1)


def few_bits_unflatten(x, bits, group=None):
    group = x.size(1) if group is None else group
    if x.size(1) // group * group != x.size(1):
        raise ValueError(f"columns={x.size(1)}, group={group}")
    parts = x.double().unflatten(1, (-1, group))
    largest = torch.linalg.vector_norm(parts, float("inf"), dim=2, keepdim=True)
    scale = (largest / (2 ** (bits - 1) - 1)).masked_fill(largest == 0, 1)
    return (parts / scale).round().flatten(1).float(), scale[..., 0].float()


def draft_loop(p, q, token, u, w):
    new, accepted = token.clone(), torch.zeros(len(token), dtype=torch.bool)
    for i, x in enumerate(token.tolist()):
        accepted[i] = bool(u[i] * q[i, x] < p[i, x])
        if not accepted[i]:
            left = F.relu(p[i] - q[i])
            new[i] = int(torch.searchsorted(left.cumsum(0) / left.sum(), w[i], right=True).clamp(max=len(left) - 1))
    return new, accepted


def draft_double(p, q, token, u, w):
    rows = torch.arange(len(token))
    accepted = u < torch.minimum(torch.ones(len(token)), p[rows, token] / q[rows, token])
    left = torch.where(p > q, p.double() - q.double(), 0.0)
    left = left / left.sum(1, keepdim=True).clamp_min(1e-12)
    above = left.cumsum(1) > w[:, None].double()
    return torch.where(accepted, token, above.int().argmax(1)), accepted


ANSWERS = {"13a.1": (merge_double, merge_rows), "13a.2": (rows_two_passes, rows_loops),
           "13a.4": (dict(RIGHT), dict(reversed(RIGHT.items()))),
                 "13a.5": (few_bits_rows, few_bits_unflatten), "13a.6": (draft_loop, draft_double),
                 "13a.3": (gradients_einsum, gradients_by_rows)}
