"""Right answers of chapter 12a, each written differently from its solution."""

import math

import torch
from torch.nn import functional as F

from course_checks.exercises.ch12a.predict import NAMES
from course_utils.models.masks import sliding_window_mask
from course_utils.models.multihead import merge_heads, split_heads
from course_utils.models.positions import rope


def replaced_where(logits, original, spoiled, chosen, mask):
    replaced = spoiled[mask] != original[mask]
    return -torch.where(replaced, F.logsigmoid(logits[mask]), F.logsigmoid(-logits[mask])).mean()


def replaced_softplus(logits, original, spoiled, chosen, mask):
    sign = torch.where(spoiled.eq(original), 1.0, -1.0)  # softplus(+z) for originals, softplus(-z) for replaced
    losses = F.softplus(sign * logits) * mask
    return losses.sum() / mask.sum()


def distil_kl(student, teacher, labels, temperature, share):
    if not temperature > 0:
        raise ValueError(f"temperature {temperature}")
    with torch.no_grad():
        taught = torch.softmax(teacher / temperature, -1)
    soft = F.kl_div(F.log_softmax(student / temperature, -1), taught, reduction="batchmean") * temperature * temperature
    return share * soft + (1 - share) * F.nll_loss(F.log_softmax(student, -1), labels)


def distil_by_token(student, teacher, labels, temperature, share):
    if temperature <= 0:
        raise ValueError(f"the temperature is {temperature}")
    total = 0
    for mine, theirs, label in zip(student.double(), teacher.double().detach(), labels.tolist(), strict=True):
        p = (theirs / temperature - torch.logsumexp(theirs / temperature, 0)).exp()
        cross = -(p * (mine / temperature)).sum() + torch.logsumexp(mine / temperature, 0)
        entropy = -(p * p.log()).sum()
        total = total + share * temperature**2 * (cross - entropy) + (1 - share) * (torch.logsumexp(mine, 0) - mine[label])
    return (total / len(labels)).float()


def disentangled_loops(query, key, far_query, far_key, largest):
    batch, n, d = query.shape
    scores = torch.zeros(batch, n, n)
    for i in range(n):
        for j in range(n):
            there, back = (min(max(x + largest, 0), 2 * largest - 1) for x in (i - j, j - i))
            scores[:, i, j] = (query[:, i] * (key[:, j] + far_key[there])).sum(-1) + (key[:, j] * far_query[back]).sum(-1)
    return scores / math.sqrt(3 * d)


def disentangled_gather(query, key, far_query, far_key, largest):
    batch, n, d = query.shape
    place = torch.arange(n)
    index = (place[:, None] - place[None] + largest).clamp(0, 2 * largest - 1).expand(batch, n, n)
    c2p = torch.einsum("bid,rd->bir", query, far_key).gather(2, index)
    p2c = torch.einsum("bjd,rd->bjr", key, far_query).gather(2, index).transpose(1, 2)
    return (torch.einsum("bid,bjd->bij", query, key) + c2p + p2c) * (3 * d) ** -0.5


def stepped_by_autograd(weight, x, teacher, temperature, rate):
    if temperature <= 0:
        raise ValueError(f"temperature {temperature}")
    with torch.enable_grad():
        w = weight.detach().clone().requires_grad_()
        loss = temperature**2 * F.kl_div((x @ w.T / temperature).log_softmax(-1), (teacher / temperature).log_softmax(-1),
                                         reduction="batchmean", log_target=True)
        (slope,) = torch.autograd.grad(loss, w)
    return weight - rate * slope, loss.detach()


def stepped_by_hand(weight, x, teacher, temperature, rate):
    if not temperature > 0:
        raise ValueError(f"T = {temperature}")
    z, t = torch.einsum("nd,vd->nv", x, weight).double() / temperature, teacher.double() / temperature
    log_q, log_p = z - z.logsumexp(-1, keepdim=True), t - t.logsumexp(-1, keepdim=True)
    step = torch.einsum("nv,nd->vd", (log_q.exp() - log_p.exp()).float(), x) * temperature / len(x)
    return weight - rate * step, (temperature**2 * (log_p.exp() * (log_p - log_q)).sum() / len(x)).float()


def modern_fused(x, weights, num_heads, reach, base):
    n, d = x.shape[1:]
    mask = None if reach is None else sliding_window_mask(n, reach + 1, causal=False)
    q, k, v = (split_heads(t, num_heads) for t in F.linear(F.layer_norm(x, (d,), weights["norm_1"]), weights["qkv"]).chunk(3, -1))
    q, k = rope(q, base=base, halves=True), rope(k, base=base, halves=True)
    x = x + F.linear(merge_heads(F.scaled_dot_product_attention(q, k, v, attn_mask=mask)), weights["out"])
    gate, value = F.linear(F.layer_norm(x, (d,), weights["norm_2"]), weights["up"]).chunk(2, -1)
    return x + F.linear(F.gelu(gate) * value, weights["down"])


def modern_by_heads(x, weights, num_heads, reach, base):
    n, d = x.shape[1:]
    width, place = d // num_heads, torch.arange(n)
    hidden = torch.zeros(n, n) if reach is None else torch.where((place[:, None] - place).abs() > reach, -1e9, 0.0)
    read, outputs = F.layer_norm(x, (d,), weights["norm_1"]), []
    for rows in torch.arange(d).split(width):
        q, k, v = (read @ weights["qkv"][rows + part * d].T for part in range(3))
        scores = rope(q, base=base, halves=True) @ rope(k, base=base, halves=True).mT * width**-0.5 + hidden
        outputs.append(scores.softmax(-1) @ v)
    x = x + torch.cat(outputs, -1) @ weights["out"].T
    gate, value = (F.layer_norm(x, (d,), weights["norm_2"]) @ weights["up"].T).chunk(2, -1)
    return x + (F.gelu(gate) * value) @ weights["down"].T


GUESSED = dict(zip(NAMES, "less same more less same less less less same".split(), strict=True))

ANSWERS = {"12a.1": [replaced_where, replaced_softplus], "12a.2": [distil_kl, distil_by_token],
           "12a.3": [disentangled_loops, disentangled_gather],
           "12a.4": [GUESSED, {name: word.upper() for name, word in GUESSED.items()}],
           "12a.5": [stepped_by_autograd, stepped_by_hand], "12a.8": [modern_fused, modern_by_heads]}
