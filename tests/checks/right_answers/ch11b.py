"""Right answers to chapter 11b (power laws, data, experts), written differently from its solution."""

import math

import torch

from course_utils.models.attention import attention
from course_utils.models.positions import rope


def power_polynomial(sizes, losses):
    """Normal equations of a 2 × 2 system."""
    if len(sizes) < 2 or len(sizes) != len(losses):
        raise ValueError(f"{len(sizes)} and {len(losses)} points")
    if (sizes <= 0).any() or (losses <= 0).any():
        raise ValueError(f"not positive: {sizes.tolist()}, {losses.tolist()}")
    x, y = sizes.double().log2(), losses.double().log2()
    n, sx, sy, sxx, sxy = len(x), x.sum(), y.sum(), x @ x, x @ y
    slope = (n * sxy - sx * sy) / (n * sxx - sx**2)
    start = (sy - slope * sx) / n
    left = y - start - slope * x
    return (2**start).float(), (-slope).float(), (1 - (left @ left) / ((y - sy / n) ** 2).sum()).float()


def power_lists(sizes, losses):
    x, y = sizes.tolist(), losses.tolist()
    if len(x) != len(y) or len(x) <= 1:
        raise ValueError(f"{len(x)} sizes, {len(y)} losses")
    if min(x + y) <= 0:
        raise ValueError(f"{min(x)} or {min(y)} is not positive")
    x, y = [math.log(v) for v in x], [math.log(v) for v in y]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    xx, yy = sum((v - mx) ** 2 for v in x), sum((v - my) ** 2 for v in y)
    xy = sum((v - mx) * (w - my) for v, w in zip(x, y, strict=True))
    return torch.tensor(math.exp(my - xy / xx * mx)), torch.tensor(-xy / xx), torch.tensor(xy**2 / xx / yy)


def distinct_strings(texts, n, threshold):
    if n <= 0 or threshold <= 0 or threshold > 1:
        raise ValueError(f"n={n}, threshold={threshold}")

    def rows(text):
        words = text.lower().split()
        if len(words) < n:
            return {" ".join(words)}
        return {" ".join(group) for group in zip(*(words[k:] for k in range(n)), strict=False)}

    kept = {}
    for number, text in enumerate(texts):
        new = rows(text)
        if all(len(new & old) < threshold * len(new | old) for old in kept.values()):
            kept[number] = new
    return [texts[number] for number in kept]


def distinct_recursive(texts, n, threshold):
    if n < 1 or not 0.0 < threshold <= 1.0:
        raise ValueError(f"{n}, {threshold}")
    if not texts:
        return []
    *before, last = texts
    kept = distinct_recursive(before, n, threshold)

    def rows(text):
        words, found = tuple(text.lower().split()), set()
        while len(words) >= n:
            found.add(words[:n])
            words = words[1:]
        return found or {words}

    new = rows(last)
    for old in map(rows, kept):
        both = sum(row in old for row in new)
        if both / (len(new) + len(old) - both) >= threshold:
            return kept
    return [*kept, last]


def route_masked(logits, active):
    """The weights are a softmax in which all but the chosen are at minus infinity."""
    n, experts = logits.shape
    if active < 1 or active > experts:
        raise ValueError(f"{active} of {experts}")
    chosen = torch.zeros(n, experts, dtype=torch.bool)
    chosen[torch.arange(n)[:, None], logits.topk(active, dim=1).indices] = True
    weights = logits.masked_fill(~chosen, -torch.inf).softmax(1)
    return weights, experts * (chosen.float().sum(0) / (n * active)) @ logits.softmax(1).mean(0)


def route_loop(logits, active):
    if not 0 < active <= len(logits[0]):
        raise ValueError(f"active {active}, experts {len(logits[0])}")
    rows, load, probable = [], torch.zeros(logits.shape[1]), 0
    for row in logits:
        p = (row - row.max()).exp() / (row - row.max()).exp().sum()
        order = row.argsort(descending=True)[:active]
        rows.append(torch.zeros(len(row)).index_put((order,), p[order] / p[order].sum()))
        load[order] += 1
        probable = probable + p
    return torch.stack(rows), (load / load.sum() * probable).sum() * len(load) / len(logits)


def law_by_hand(parameters, sizes, tokens, losses, delta):
    a, b, e, alpha, beta = parameters
    error = (torch.logaddexp(torch.logaddexp(a - alpha * sizes.log(), b - beta * tokens.log()), e) - losses.log()).abs()
    inside = error.clamp(max=delta)
    return (inside * (error - 0.5 * inside)).sum()


def law_points(parameters, sizes, tokens, losses, delta):
    """Point by point."""
    total = parameters.new_zeros(())
    for n, d, measured in zip(sizes, tokens, losses, strict=True):
        terms = torch.stack([parameters[2], parameters[0] - parameters[3] * n.log(), parameters[1] - parameters[4] * d.log()])
        total = total + torch.nn.functional.huber_loss(torch.logsumexp(terms, 0), measured.log(), delta=delta)
    return total


def group_moments(log_probs, rewards):
    if rewards.size(1) < 2:
        raise ValueError(f"only {rewards.size(1)} answer for each question")
    centred = rewards - rewards.mean(dim=1)[:, None]
    spread = centred.square().mean(dim=1).sqrt()[:, None]
    advantages = centred / torch.where(spread == 0, torch.ones_like(spread), spread)
    return -torch.einsum("qa,qa->", advantages, log_probs) / rewards.numel(), advantages


def group_small(log_probs, rewards):
    if rewards.shape[1] == 1:
        raise ValueError("one answer only: 1")
    with torch.no_grad():
        mean, spread = rewards.mean(1, True), rewards.std(1, correction=0, keepdim=True)
        advantages = (rewards - mean) / (spread + 1e-8)
    return (-log_probs * advantages).mean(), advantages


def block_parts(x, weights, num_heads, num_kv_heads):
    def norm(t, w):
        return torch.nn.functional.rms_norm(t, w.shape, w, 1e-6)

    def heads(name, count):
        return (h @ weights[name]).unflatten(-1, (count, -1)).transpose(1, 2)

    h = norm(x, weights["norm_1"])
    q, k, v = rope(heads("w_q", num_heads), halves=True), rope(heads("w_k", num_kv_heads), halves=True), heads("w_v", num_kv_heads)
    k, v = (t.repeat_interleave(num_heads // num_kv_heads, 1) for t in (k, v))
    x = x + attention(q, k, v, causal=True).transpose(1, 2).flatten(2) @ weights["w_o"]
    h = norm(x, weights["norm_2"])
    return x + (torch.nn.functional.silu(h @ weights["w_gate"]) * (h @ weights["w_up"])) @ weights["w_down"]


def block_heads(x, weights, num_heads, num_kv_heads):
    """Head by head, with scores and mask written out."""
    n, d = x.shape[1], x.shape[2] // num_heads
    h = x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * weights["norm_1"]
    said = []
    for head in range(num_heads):
        kv = head * num_kv_heads // num_heads
        q = rope(h @ weights["w_q"][:, head * d:(head + 1) * d], halves=True)
        k = rope(h @ weights["w_k"][:, kv * d:(kv + 1) * d], halves=True)
        scores = (q @ k.mT / d**0.5).masked_fill(~torch.ones(n, n).tril().bool(), -torch.inf)
        said.append(scores.softmax(-1) @ (h @ weights["w_v"][:, kv * d:(kv + 1) * d]))
    x = x + torch.cat(said, -1) @ weights["w_o"]
    h = x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * weights["norm_2"]
    gate = h @ weights["w_gate"]
    return x + (gate * torch.sigmoid(gate) * (h @ weights["w_up"])) @ weights["w_down"]


def step_matrix(scores, known, chosen, rejected, beta, rate):
    """Pairs as rows of +1 and -1."""
    pairs = torch.nn.functional.one_hot(chosen, len(scores)) - torch.nn.functional.one_hot(rejected, len(scores))
    pairs = pairs.to(scores.dtype)
    return scores + rate * beta / len(chosen) * pairs.T @ torch.sigmoid(-beta * pairs @ (scores - known))


def step_grad(scores, known, chosen, rejected, beta, rate):
    start = scores.detach().clone().requires_grad_()
    gain = torch.log_softmax(start, 0) - known
    loss = torch.nn.functional.softplus(-beta * (gain[chosen] - gain[rejected])).mean()
    return scores - rate * torch.autograd.grad(loss, start)[0]


ANSWERS = {"11b.1": [power_polynomial, power_lists], "11b.2": [law_by_hand, law_points], "11b.3": [distinct_strings, distinct_recursive],
           "11b.7": [route_masked, route_loop], "11b.8": [group_moments, group_small], "11b.9": [block_parts, block_heads],
           "11b.10": [step_matrix, step_grad]}
