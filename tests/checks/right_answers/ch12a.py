"""Right answers of chapter 12a, each written differently from its solution."""

import math

import torch
from torch.nn import functional as F


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


NUMBERS = {
    "ALBERT base: weights in its factorised token table, 30,000 × 128 and 128 × 768": 128 * (30_000 + 768),
    "multiplications in the blocks of ALBERT base, as a percentage of BERT base's": 100,
    "a shared weight, used at three depths, gets 2, −1 and 8 there: its gradient": 2 - 1 + 8,
    "right answers in SOP, half of the pairs swapped, in percent, by a judge who sees only which words occur": 50,
    "100 tokens, 15 chosen, the generator guesses 4 right: labelled “replaced”": 15 - 4,
    "of these 100, tokens with a loss of their own in ELECTRA": 100,
    "of these 100, tokens with a loss of their own in BERT": 15,
    "DistilBERT as a percentage of BERT base, in parameters": 61,
    "different scores a DeBERTa query gives to 9 equal words beyond its largest distance, all on its left": 1}

ANSWERS = {"12a.1": [replaced_where, replaced_softplus], "12a.2": [distil_kl, distil_by_token],
           "12a.3": [disentangled_loops, disentangled_gather], "12a.4": [NUMBERS, {name: float(value) for name, value in NUMBERS.items()}]}
