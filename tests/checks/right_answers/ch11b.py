"""Right answers to chapter 11b (power laws, data, experts), written differently from its solution."""

import math

import torch


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


DRAWN = {"Common Crawl": 0.60, "WebText2": 0.22, "Wikipedia": 0.03}
TIMES = {name: share * 300 / size for (name, share), size in zip(DRAWN.items(), (410, 19, 3), strict=True)}
NUMBERS = {"times that every token of Wikipedia is read": TIMES["Wikipedia"],
           "times that every token of Common Crawl is read": TIMES["Common Crawl"],
           "times that every token of WebText2 is read": TIMES["WebText2"],
           "tokens of Wikipedia read for one of Common Crawl, per token that there is": TIMES["Wikipedia"] / TIMES["Common Crawl"],
           "billions of Common Crawl tokens that are never read": 410 * (1 - TIMES["Common Crawl"]),
           "sum of the five weights, in per cent": 60 + 22 + 8 + 8 + 3}
ROUNDED = dict(zip(NUMBERS, (3, 0.44, 3.5, 6.8, 230, 101), strict=True))


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


ANSWERS = {"11b.1": [power_polynomial, power_lists], "11b.2": [NUMBERS, ROUNDED], "11b.3": [distinct_strings, distinct_recursive],
           "11b.7": [route_masked, route_loop]}
