"""Chapter 11b: answers written from the blank notebook."""

from . import Answer, edit

FIT = """
def fit_power_law(sizes, losses):
    if len(sizes) < 2:
        raise ValueError(f"at least 2 points are needed, got {len(sizes)}")
    for name, values in (("size", sizes), ("loss", losses)):
        for at, value in enumerate(values.tolist()):
            if not value > 0:
                raise ValueError(f"{name} {at} is {value}, not positive")
    x, y = sizes.log(), losses.log()
    dx, dy = x - x.mean(), y - y.mean()
    slope = (dx * dy).sum() / (dx * dx).sum()
    scale = (y.mean() - slope * x.mean()).exp()
    r2 = 1 - (dy - slope * dx).square().sum() / dy.square().sum()
    return scale, -slope, r2
"""

LAW = """
def law_loss(parameters, sizes, tokens, losses, delta):
    a, b, e, alpha, beta = parameters
    parts = torch.stack([a - alpha * sizes.log(), b - beta * tokens.log(), e.expand(len(sizes))])
    return F.huber_loss(parts.logsumexp(0), losses.log(), delta=delta, reduction="sum")
"""

BY_HAND = """
def law_loss(parameters, sizes, tokens, losses, delta):
    a, b, e, alpha, beta = parameters
    law = torch.logaddexp(torch.logaddexp(a - alpha * torch.log(sizes), b - beta * torch.log(tokens)), e)
    error = law - torch.log(losses)
    each = torch.where(error.abs() <= delta, error ** 2 / 2, delta * (error.abs() - delta / 2))
    return each.sum()
"""

GROUP = """
def group_loss(log_probs, rewards):
    if rewards.shape[1] < 2:
        raise ValueError(f"groups of {rewards.shape[1]}: at least 2 answers are needed")
    centred = rewards - rewards.mean(1, keepdim=True)
    spread = rewards.std(1, keepdim=True, correction=0)
    advantages = torch.where(spread > 0, centred / spread.clamp(min=1e-8), torch.zeros_like(centred))
    return -(advantages * log_probs).mean(), advantages
"""

STEP = """
def preference_step(scores, known, chosen, rejected, beta, rate):
    gain = scores.log_softmax(0) - known
    margins = beta * (gain[chosen] - gain[rejected])
    force = beta * torch.sigmoid(-margins) / len(chosen)
    change = torch.zeros_like(scores).index_add(0, chosen, force).index_add(0, rejected, -force)
    return scores + rate * change
"""

BY_AUTOGRAD = """
def preference_step(scores, known, chosen, rejected, beta, rate):
    table = scores.clone().requires_grad_(True)
    gain = table.log_softmax(0) - known
    loss = -F.logsigmoid(beta * (gain[chosen] - gain[rejected])).mean()
    loss.backward()
    return (table - rate * table.grad).detach()
"""

BLOCK = """
from course_utils.models.attention import attention
from course_utils.models.positions import rope

def decoder_block(x, weights, num_heads, num_kv_heads):
    batch, n, width = x.shape
    size = width // num_heads

    def norm(t, weight):
        return t * torch.rsqrt(t.square().mean(-1, keepdim=True) + 1e-6) * weight

    h = norm(x, weights["norm_1"])
    q = (h @ weights["w_q"]).view(batch, n, num_heads, size).transpose(1, 2)
    k = (h @ weights["w_k"]).view(batch, n, num_kv_heads, size).transpose(1, 2)
    v = (h @ weights["w_v"]).view(batch, n, num_kv_heads, size).transpose(1, 2)
    q, k = rope(q, halves=True), rope(k, halves=True)
    k = k.repeat_interleave(num_heads // num_kv_heads, dim=1)
    v = v.repeat_interleave(num_heads // num_kv_heads, dim=1)
    out = attention(q, k, v, causal=True).transpose(1, 2).reshape(batch, n, width)
    x = x + out @ weights["w_o"]
    h = norm(x, weights["norm_2"])
    return x + (F.silu(h @ weights["w_gate"]) * (h @ weights["w_up"])) @ weights["w_down"]
"""

DISTINCT = """
def distinct(texts, n, threshold):
    if n < 1:
        raise ValueError(f"n must be at least 1, it is {n}")
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold must be above 0 and at most 1, it is {threshold}")

    def shingles(text):
        words = text.lower().split()
        return {tuple(words[i:i + n]) for i in range(max(len(words) - n + 1, 1))}

    kept, sets = [], []
    for text in texts:
        mine = shingles(text)
        if all(len(mine & other) / len(mine | other) < threshold for other in sets):
            kept.append(text)
            sets.append(mine)
    return kept
"""

FEW = """
def few_shot(examples, between, behind, last_only=False):
    ids, lesson = [], []
    for at, (question, answer) in enumerate(examples):
        if not question or not answer:
            raise ValueError(f"example {at} has an empty question or answer")
        counts = not last_only or at == len(examples) - 1
        ids += [*question, between, *answer, behind]
        lesson += [False] * (len(question) + 1) + [counts] * (len(answer) + 1)
    row, lesson = torch.tensor(ids), torch.tensor(lesson)
    targets = row.masked_fill(~lesson, -100)
    return row[:-1], targets[1:]
"""

ANSWER = """
def answer_log_prob(logits, ids, prompts, lengths):
    log_p = logits[:, :-1].log_softmax(-1)
    each = log_p.gather(-1, ids[:, 1:, None])[..., 0]
    place = torch.arange(1, ids.shape[1])
    answer = (place >= prompts[:, None]) & (place < lengths[:, None])
    return each.masked_fill(~answer, 0.0).sum(-1)
"""

DPO = """
def preference_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
    if not beta > 0:
        raise ValueError(f"beta must be above 0, it is {beta}")
    chosen = beta * (policy_chosen - reference_chosen)
    rejected = beta * (policy_rejected - reference_rejected)
    margins = chosen - rejected
    return -F.logsigmoid(margins).mean(), margins
"""

ROUTE = """
def route(logits, active):
    experts = logits.shape[1]
    if not 1 <= active <= experts:
        raise ValueError(f"active={active} must lie between 1 and the {experts} experts")
    probabilities = logits.softmax(dim=1)
    chosen = torch.zeros_like(probabilities).scatter(1, probabilities.topk(active, dim=1).indices, 1.0)
    weights = probabilities * chosen
    weights = weights / weights.sum(dim=1, keepdim=True)
    share = chosen.sum(dim=0) / chosen.sum()
    return weights, experts * (share * probabilities.mean(dim=0)).sum()
"""

BANK = (
    # 11b.1 Fit a power law
    Answer("11b.1", "a right answer: sums of products of the centred logarithms", FIT, right=True),
    Answer("11b.1", "a right answer: torch.linalg.lstsq in double precision, r2 as a squared correlation", """
def fit_power_law(sizes, losses):
    points = sizes.shape[0]
    if points < 2:
        raise ValueError(f"{points} point(s) make no line")
    for name, values in {"sizes": sizes, "losses": losses}.items():
        bad = (~(values > 0)).nonzero().flatten().tolist()
        if bad:
            raise ValueError(f"{name}[{bad[0]}] = {values[bad[0]].item()} is not positive")
    x, y = torch.log(sizes.double()), torch.log(losses.double())
    design = torch.stack([torch.ones_like(x), x], dim=1)
    start, slope = torch.linalg.lstsq(design, y[:, None]).solution[:, 0]
    r2 = torch.corrcoef(torch.stack([x, y]))[0, 1] ** 2
    return start.exp().to(losses.dtype), (-slope).to(losses.dtype), r2.to(losses.dtype)
""", right=True),
    Answer("11b.1", "a right answer: numpy's polyfit", """
import numpy as np

def fit_power_law(sizes, losses):
    n, l = np.asarray(sizes.detach(), dtype=float), np.asarray(losses.detach(), dtype=float)
    if n.size < 2:
        raise ValueError(f"too few points: {n.size}")
    for what, numbers in (("size", n), ("loss", l)):
        for k, number in enumerate(numbers):
            if not number > 0:
                raise ValueError(f"the {what} at place {k}, {number}, is not positive")
    slope, height = np.polyfit(np.log(n), np.log(l), 1)
    left = np.log(l) - (slope * np.log(n) + height)
    r2 = 1 - np.var(left) / np.var(np.log(l))
    return torch.tensor(float(np.exp(height))), torch.tensor(float(-slope)), torch.tensor(float(r2))
""", right=True),
    Answer("11b.1", "returns the slope, not the exponent: the sign is turned round", edit(FIT, "scale, -slope, r2", "scale, slope, r2")),
    Answer("11b.1", "returns the logarithm of the scale", edit(FIT, "(y.mean() - slope * x.mean()).exp()", "y.mean() - slope * x.mean()")),
    Answer("11b.1", "takes logarithms to base 10 but undoes them with e",
           edit(FIT, "sizes.log(), losses.log()", "sizes.log10(), losses.log10()")),
    Answer("11b.1", "fits a straight line to the numbers themselves", edit(FIT, "sizes.log(), losses.log()", "sizes, losses")),
    Answer("11b.1", "returns the correlation, not its square",
           edit(FIT, "1 - (dy - slope * dx).square().sum() / dy.square().sum()",
                "(dx * dy).sum() / (dx.square().sum() * dy.square().sum()).sqrt()")),
    Answer("11b.1", "r2 of the losses, not of their logarithms",
           edit(FIT, "1 - (dy - slope * dx).square().sum() / dy.square().sum()",
                "1 - (losses - scale * sizes**slope).square().sum() / (losses - losses.mean()).square().sum()")),
    Answer("11b.1", "a mean over n divided by a variance over n - 1, so r2 is too large",
           edit(FIT, "(dy - slope * dx).square().sum() / dy.square().sum()", "(dy - slope * dx).square().mean() / y.var()")),
    Answer("11b.1", "returns the share that is not explained",
           edit(FIT, "1 - (dy - slope * dx).square().sum()", "(dy - slope * dx).square().sum()")),
    Answer("11b.1", "draws the line through the first and the last point only",
           edit(FIT, "(dx * dy).sum() / (dx * dx).sum()", "(y[-1] - y[0]) / (x[-1] - x[0])")),
    Answer("11b.1", "forces the line through the origin", """
def fit_power_law(sizes, losses):
    if len(sizes) < 2:
        raise ValueError(f"only {len(sizes)} points")
    for values in (sizes, losses):
        if (values <= 0).any():
            raise ValueError(f"not positive: {values[values <= 0].tolist()}")
    x, y = sizes.log(), losses.log()
    slope = (x * y).sum() / (x * x).sum()
    left = y - slope * x
    return torch.ones(()), -slope, 1 - left.square().sum() / (y - y.mean()).square().sum()
"""),
    Answer("11b.1", "regresses the sizes on the losses and turns the slope over",
           edit(FIT, "(dx * dy).sum() / (dx * dx).sum()", "(dy * dy).sum() / (dx * dy).sum()")),
    Answer("11b.1", "checks the sizes, but not the losses",
           edit(FIT, '(("size", sizes), ("loss", losses))', '(("size", sizes),)')),
    Answer("11b.1", "lets a zero pass", edit(FIT, "if not value > 0", "if value < 0")),
    Answer("11b.1", "refuses two points", edit(FIT, "len(sizes) < 2", "len(sizes) <= 2")),
    Answer("11b.1", "results have shape (1,), not ()",
           edit(FIT, "scale, -slope, r2", "scale.reshape(1), -slope.reshape(1), r2.reshape(1)")),
    Answer("11b.1", "one point gives nan, no ValueError",
           edit(FIT, '    if len(sizes) < 2:\n        raise ValueError(f"at least 2 points are needed, got {len(sizes)}")\n', "")),
    Answer("11b.1", "returns scale and exponent, but no r2", edit(FIT, "return scale, -slope, r2", "return scale, -slope")),

    # 11b.2 How badly a law fits
    Answer("11b.2", "a right answer: logsumexp and PyTorch's Huber", LAW, right=True),
    Answer("11b.2", "a right answer: logaddexp, Huber by hand", BY_HAND, right=True),
    Answer("11b.2", "a right answer: a loop over the points", """
def law_loss(parameters, sizes, tokens, losses, delta):
    total = 0
    for n, d, l in zip(sizes, tokens, losses):
        terms = torch.stack([parameters[0] - parameters[3] * n.log(), parameters[1] - parameters[4] * d.log(), parameters[2]])
        error = torch.logsumexp(terms, dim=0) - l.log()
        size = error.abs()
        total = total + (0.5 * error * error if size < delta else delta * size - 0.5 * delta * delta)
    return total
""", right=True),
    Answer("11b.2", "a right answer: Huber as a clamped error, in doubles", """
def law_loss(parameters, sizes, tokens, losses, delta):
    p = parameters.double()
    terms = torch.stack([p[0] - p[3] * sizes.double().log(), p[1] - p[4] * tokens.double().log(), p[2] + 0 * sizes.double()])
    error = (terms.logsumexp(0) - losses.double().log()).abs()
    near = error.clamp(max=delta)
    return (near * (error - near / 2)).sum().float()
""", right=True),
    Answer("11b.2", "the mean, not the sum", edit(LAW, 'reduction="sum"', 'reduction="mean"')),
    Answer("11b.2", "delta is not handed on", edit(LAW, "delta=delta, ", "")),
    Answer("11b.2", "smooth_l1_loss with beta", edit(LAW, "F.huber_loss(parts.logsumexp(0), losses.log(), delta=delta,",
                                                    "F.smooth_l1_loss(parts.logsumexp(0), losses.log(), beta=delta,")),
    Answer("11b.2", "squared errors", edit(LAW, "F.huber_loss(parts.logsumexp(0), losses.log(), delta=delta,",
                                           "F.mse_loss(parts.logsumexp(0), losses.log(),")),
    Answer("11b.2", "absolute errors", edit(LAW, "F.huber_loss(parts.logsumexp(0), losses.log(), delta=delta,",
                                            "F.l1_loss(parts.logsumexp(0), losses.log(),")),
    Answer("11b.2", "losses not in logarithms", edit(LAW, "parts.logsumexp(0), losses.log()", "parts.logsumexp(0).exp(), losses")),
    Answer("11b.2", "measured losses without logarithm", edit(LAW, "losses.log()", "losses")),
    Answer("11b.2", "logarithms of the parts added", edit(LAW, "parts.logsumexp(0)", "parts.sum(0)")),
    Answer("11b.2", "A, B and E themselves: overflows", """
def law_loss(parameters, sizes, tokens, losses, delta):
    a, b, e, alpha, beta = parameters
    law = e.exp() + a.exp() / sizes ** alpha + b.exp() / tokens ** beta
    return F.huber_loss(law.log(), losses.log(), delta=delta, reduction="sum")
"""),
    Answer("11b.2", "parameters taken for A, B and E", """
def law_loss(parameters, sizes, tokens, losses, delta):
    a, b, e, alpha, beta = parameters
    law = e + a / sizes ** alpha + b / tokens ** beta
    return F.huber_loss(law.log(), losses.log(), delta=delta, reduction="sum")
"""),
    Answer("11b.2", "E not a logarithm", """
def law_loss(parameters, sizes, tokens, losses, delta):
    a, b, e, alpha, beta = parameters
    law = e + (a - alpha * sizes.log()).exp() + (b - beta * tokens.log()).exp()
    return F.huber_loss(law.log(), losses.log(), delta=delta, reduction="sum")
"""),
    Answer("11b.2", "E forgotten", edit(LAW, ", e.expand(len(sizes))])", "])")),
    Answer("11b.2", "the exponents exchanged", edit(LAW, "a, b, e, alpha, beta = parameters", "a, b, e, beta, alpha = parameters")),
    Answer("11b.2", "the letters in another order", edit(LAW, "a, b, e, alpha, beta = parameters", "e, a, b, alpha, beta = parameters")),
    Answer("11b.2", "exponents with the wrong sign", edit(edit(LAW, "a - alpha", "a + alpha"), "b - beta", "b + beta")),
    Answer("11b.2", "the square is not halved", edit(BY_HAND, "error ** 2 / 2", "error ** 2")),
    Answer("11b.2", "half of delta forgotten", edit(BY_HAND, "error.abs() - delta / 2", "error.abs()")),
    Answer("11b.2", "the sign of the error forgotten", edit(BY_HAND, "error.abs() <= delta", "error <= delta")),
    Answer("11b.2", "logarithms to base ten", edit(edit(BY_HAND, "error = law - torch.log(losses)",
                                                        "error = (law - torch.log(losses)) / math.log(10)"), "each.sum()", "each.sum()")),
    Answer("11b.2", "a number without gradient", edit(LAW, 'reduction="sum")', 'reduction="sum").item()')),
    Answer("11b.2", "detached", edit(LAW, 'reduction="sum")', 'reduction="sum").detach()')),

    # 11b.3 Drop near-duplicates
    Answer("11b.3", "a right answer: sets of tuples, compared with those that were kept", DISTINCT, right=True),
    Answer("11b.3", "a right answer: zip, for-else, union as a difference of counts", """
def rows(text, n):
    words = text.lower().split()
    found = set(zip(*(words[i:] for i in range(n))))
    return found or {tuple(words)}

def distinct(texts, n, threshold):
    if n < 1 or threshold <= 0 or threshold > 1:
        raise ValueError(f"n={n}, threshold={threshold}: n starts at 1, the threshold lies above 0 and at most at 1")
    result = []
    for text in texts:
        a = rows(text, n)
        for earlier in result:
            b = rows(earlier, n)
            both = len(a.intersection(b))
            if both / (len(a) + len(b) - both) >= threshold:
                break
        else:
            result.append(text)
    return result
""", right=True),
    Answer("11b.3", "a right answer: shingles as strings, pairs in a dictionary", """
def distinct(texts, n, threshold):
    if n < 1:
        raise ValueError("shingles of " + str(n) + " words")
    if not (threshold > 0 and threshold <= 1):
        raise ValueError("no threshold: " + str(threshold))
    kept = {}
    for at, text in enumerate(texts):
        words = text.lower().split()
        if len(words) < n:
            own = frozenset([" ".join(words)])
        else:
            own = frozenset(" ".join(words[i:i + n]) for i in range(len(words) - n + 1))
        likeness = [sum(s in other for s in own) / len(own.union(other)) for other in kept.values()]
        if max(likeness, default=0) < threshold:
            kept[at] = own
    return [texts[at] for at in kept]
""", right=True),
    Answer("11b.3", "compares with all earlier texts, also with those that were dropped", edit(
        DISTINCT, "            kept.append(text)\n            sets.append(mine)",
        "            kept.append(text)\n        sets.append(mine)")),
    Answer("11b.3", "a similarity of exactly the threshold is kept",
           edit(DISTINCT, "len(mine | other) < threshold", "len(mine | other) <= threshold")),
    Answer("11b.3", "capitals make another word", edit(DISTINCT, "text.lower().split()", "text.split()")),
    Answer("11b.3", "splits at single spaces, so two spaces or a line end make other words",
           edit(DISTINCT, "text.lower().split()", 'text.lower().split(" ")')),
    Answer("11b.3", "compares sets of words, not rows of n words",
           edit(DISTINCT, "{tuple(words[i:i + n]) for i in range(max(len(words) - n + 1, 1))}", "set(words) or {()}")),
    Answer("11b.3", "rows of n letters, not of n words",
           edit(DISTINCT, "words = text.lower().split()", 'words = " ".join(text.lower().split())')),
    Answer("11b.3", "the last row of each text is missing",
           edit(DISTINCT, "max(len(words) - n + 1, 1)", "max(len(words) - n, 1)")),
    Answer("11b.3", "fails for texts with fewer than n words, which have no shingle",
           edit(DISTINCT, "range(max(len(words) - n + 1, 1))", "range(len(words) - n + 1)")),
    Answer("11b.3", "never drops a text with fewer than n words",
           edit(edit(DISTINCT, "range(max(len(words) - n + 1, 1))", "range(len(words) - n + 1)"),
                "len(mine & other) / len(mine | other)", "len(mine & other) / max(len(mine | other), 1)")),
    Answer("11b.3", "divides by the smaller set: containment, not Jaccard",
           edit(DISTINCT, "len(mine | other)", "min(len(mine), len(other))")),
    Answer("11b.3", "divides by the sum of both sizes, so the shared ones count twice",
           edit(DISTINCT, "len(mine | other)", "(len(mine) + len(other))")),
    Answer("11b.3", "keeps the later of two copies, not the earlier", edit(
        edit(DISTINCT, "for text in texts:", "for text in reversed(texts):"), "return kept", "return kept[::-1]")),
    Answer("11b.3", "compares with the text kept last only", edit(DISTINCT, "for other in sets)", "for other in sets[-1:])")),
    Answer("11b.3", "returns the texts in small letters", edit(DISTINCT, "kept.append(text)", "kept.append(text.lower())")),
    Answer("11b.3", "returns the places, not the texts", edit(
        edit(DISTINCT, "for text in texts:", "for at, text in enumerate(texts):"), "kept.append(text)", "kept.append(at)")),
    Answer("11b.3", "refuses a threshold of 1", edit(DISTINCT, "0 < threshold <= 1", "0 < threshold < 1")),
    Answer("11b.3", "accepts a threshold of 0", edit(DISTINCT, "0 < threshold <= 1", "0 <= threshold <= 1")),
    Answer("11b.3", "removes from the caller's list while going through it", """
def distinct(texts, n, threshold):
    if n < 1:
        raise ValueError(f"n={n}")
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold={threshold}")
    def shingles(text):
        words = text.lower().split()
        return {tuple(words[i:i + n]) for i in range(max(len(words) - n + 1, 1))}
    for i, text in enumerate(texts):
        for other in texts[:i]:
            a, b = shingles(text), shingles(other)
            if len(a & b) / len(a | b) >= threshold:
                texts.remove(text)
                break
    return texts
"""),
    Answer("11b.3", "finds exact copies only", """
def distinct(texts, n, threshold):
    if n < 1 or not 0 < threshold <= 1:
        raise ValueError(f"n={n}, threshold={threshold}")
    seen, kept = set(), []
    for text in texts:
        key = tuple(text.lower().split())
        if key not in seen:
            seen.add(key)
            kept.append(text)
    return kept
"""),

    # 11b.4 A few-shot prompt and its lessons
    Answer("11b.4", "a right answer: ids and marks side by side", FEW, right=True),
    Answer("11b.4", "a right answer: a list of targets, counted with places", """
def few_shot(examples, between, behind, last_only=False):
    row, spans = [], []
    for number, example in enumerate(examples):
        question, answer = example
        if min(len(question), len(answer)) == 0:
            raise ValueError(f"nothing in a part of example {number}")
        row.extend(question)
        row.append(between)
        spans.append((len(row), len(row) + len(answer) + 1))
        row.extend(answer)
        row.append(behind)
    targets = torch.full((len(row) - 1,), -100)
    for first, end in (spans[-1:] if last_only else spans):
        targets[first - 1:end - 1] = torch.tensor(row[first:end])
    return torch.tensor(row[:-1]), targets
""", right=True),
    Answer("11b.4", "a right answer: pairs of id and target, example by example", """
def few_shot(examples, between, behind, last_only=False):
    couples = []
    for i in range(len(examples)):
        q, a = list(examples[i][0]), list(examples[i][1])
        if q == [] or a == []:
            raise ValueError("example number " + str(i) + " is not complete")
        told = [*a, behind] if i + 1 == len(examples) or not last_only else [-100] * (len(a) + 1)
        couples.extend(zip(q + [between] + a + [behind], [-100] * (len(q) + 1) + told))
    ids, marks = zip(*couples)
    return torch.tensor(ids)[:-1], torch.tensor(marks)[1:]
""", right=True),
    Answer("11b.4", "the targets are not shifted: each place has to name its own id", edit(FEW, "targets[1:]", "targets[:-1]")),
    Answer("11b.4", "the marks are not shifted with the ids: a place counts if its input belongs to an answer",
           edit(FEW, "    targets = row.masked_fill(~lesson, -100)\n    return row[:-1], targets[1:]",
                "    return row[:-1], row[1:].masked_fill(~lesson[:-1], -100)")),
    Answer("11b.4", "the end of an answer is no lesson",
           edit(FEW, "[counts] * (len(answer) + 1)", "[counts] * len(answer) + [False]")),
    Answer("11b.4", "the separator between question and answer is a lesson too",
           edit(FEW, "[False] * (len(question) + 1) + [counts] * (len(answer) + 1)",
                "[False] * len(question) + [counts] * (len(answer) + 2)")),
    Answer("11b.4", "every token counts, questions too", edit(FEW, "row.masked_fill(~lesson, -100)", "row")),
    Answer("11b.4", "looks for the separators by their ids, which may also stand in a question or an answer", """
def few_shot(examples, between, behind, last_only=False):
    ids = []
    for at, (question, answer) in enumerate(examples):
        if not question or not answer:
            raise ValueError(f"example {at} is empty")
        start = len(ids)
        ids += [*question, between, *answer, behind]
    row, inside, targets = torch.tensor(ids), False, []
    for at, i in enumerate(ids):
        targets.append(i if inside and (at >= start or not last_only) else -100)
        if i == between:
            inside = True
        if i == behind:
            inside = False
    return row[:-1], torch.tensor(targets[1:])
"""),
    Answer("11b.4", "ignores last_only", edit(FEW, "not last_only or at == len(examples) - 1", "True")),
    Answer("11b.4", "last_only throws the earlier examples away", edit(
        FEW, "    ids, lesson = [], []\n", "    ids, lesson = [], []\n    if last_only:\n        examples = examples[-1:]\n")),
    Answer("11b.4", "last_only turned round: all answers but the last",
           edit(FEW, "at == len(examples) - 1", "at < len(examples) - 1")),
    Answer("11b.4", "finds the last example by comparing, so an equal earlier one counts too",
           edit(FEW, "at == len(examples) - 1", "[question, answer] == list(examples[-1])")),
    Answer("11b.4", "fills up with 0, not -100", edit(FEW, "~lesson, -100", "~lesson, 0")),
    Answer("11b.4", "the inputs keep their last id, so they are one longer than the targets", edit(FEW, "row[:-1]", "row")),
    Answer("11b.4", "writes into the caller's questions", edit(
        FEW, "        ids += [*question, between, *answer, behind]\n        lesson += [False] * (len(question) + 1)",
        "        question.append(between)\n        ids += [*question, *answer, behind]\n        lesson += [False] * len(question)")),
    Answer("11b.4", "an empty question is accepted", edit(FEW, "if not question or not answer", "if not answer")),
    Answer("11b.4", "the ValueError counts the examples from 1", edit(FEW, "example {at} has", "example {at + 1} has")),
    Answer("11b.4", "returns lists, not tensors", edit(FEW, "row[:-1], targets[1:]", "row[:-1].tolist(), targets[1:].tolist()")),
    Answer("11b.4", "leaves out the separators", """
def few_shot(examples, between, behind, last_only=False):
    ids, lesson = [], []
    for at, (question, answer) in enumerate(examples):
        if not question or not answer:
            raise ValueError(f"example {at}")
        ids += question + answer
        lesson += [False] * len(question) + [not last_only or at == len(examples) - 1] * len(answer)
    row = torch.tensor(ids)
    return row[:-1], row.masked_fill(~torch.tensor(lesson), -100)[1:]
"""),

    # 11b.5 The probability of an answer
    Answer("11b.5", "a right answer: gather, mask, sum", ANSWER, right=True),
    Answer("11b.5", "a right answer: row by row, only the slice of the answer", """
def answer_log_prob(logits, ids, prompts, lengths):
    sums = []
    for scores, row, start, end in zip(logits, ids, prompts.tolist(), lengths.tolist()):
        total = scores.new_zeros(())
        for t in range(start, end):
            total = total + scores[t - 1].log_softmax(0)[row[t]]
        sums.append(total)
    return torch.stack(sums)
""", right=True),
    Answer("11b.5", "a right answer: logit less logsumexp, cumulated and subtracted by masks", """
def answer_log_prob(logits, ids, prompts, lengths):
    before = logits[:, :-1]
    named = torch.take_along_dim(before, ids[:, 1:].unsqueeze(-1), dim=-1).squeeze(-1)
    log_p = named - before.logsumexp(dim=-1)                    # (batch, n - 1), place t is for token t + 1
    t = torch.arange(log_p.shape[1]).expand_as(log_p)
    outside = (t + 1 < prompts.unsqueeze(1)) | (t + 1 >= lengths.unsqueeze(1))
    return torch.where(outside, torch.zeros_like(log_p), log_p).sum(dim=1)
""", right=True),
    Answer("11b.5", "not shifted: row t is asked for token t", """
def answer_log_prob(logits, ids, prompts, lengths):
    each = logits.log_softmax(-1).gather(-1, ids[..., None])[..., 0]
    place = torch.arange(ids.shape[1])
    answer = (place >= prompts[:, None]) & (place < lengths[:, None])
    return (each * answer).sum(-1)
"""),
    Answer("11b.5", "the first token of the answer is missing", edit(ANSWER, "place >= prompts", "place > prompts")),
    Answer("11b.5", "the last token of the prompt counts too",
           edit(ANSWER, "place >= prompts[:, None]", "place >= prompts[:, None] - 1")),
    Answer("11b.5", "the mask was not moved with the shifted ids",
           edit(ANSWER, "torch.arange(1, ids.shape[1])", "torch.arange(ids.shape[1] - 1)")),
    Answer("11b.5", "one token of the padding counts", edit(ANSWER, "place < lengths", "place <= lengths")),
    Answer("11b.5", "all of the padding counts", edit(ANSWER, " & (place < lengths[:, None])", "")),
    Answer("11b.5", "the prompt counts too", edit(ANSWER, "(place >= prompts[:, None]) & ", "")),
    Answer("11b.5", "takes the lengths for those of the answers alone",
           edit(ANSWER, "place < lengths[:, None]", "place < prompts[:, None] + lengths[:, None]")),
    Answer("11b.5", "the mean over the tokens of the answer, nan for an empty one",
           edit(ANSWER, ".sum(-1)", ".sum(-1) / answer.sum(-1)")),
    Answer("11b.5", "softmax over the positions", edit(ANSWER, "log_softmax(-1)", "log_softmax(1)")),
    Answer("11b.5", "logarithm of a softmax: minus infinity where it rounds to 0",
           edit(ANSWER, "log_softmax(-1)", "softmax(-1).log()")),
    Answer("11b.5", "the probability, not its logarithm", edit(ANSWER, ".sum(-1)", ".sum(-1).exp()")),
    Answer("11b.5", "one sum for the whole batch", edit(ANSWER, ".sum(-1)", ".sum()")),
    Answer("11b.5", "uses the first row's prompt length for all rows", edit(ANSWER, "place >= prompts[:, None]", "place >= prompts[0]")),
    Answer("11b.5", "the sign of a loss: minus ln p", edit(ANSWER, "return each", "return -each")),
    Answer("11b.5", "adds up logits, without a softmax", edit(ANSWER, "logits[:, :-1].log_softmax(-1)", "logits[:, :-1]")),

    # 11b.6 The loss of preferences
    Answer("11b.6", "a right answer: two rewards, logsigmoid", DPO, right=True),
    Answer("11b.6", "a right answer: softplus of the negative margin", """
def preference_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
    if beta <= 0 or math.isnan(beta):
        raise ValueError(f"no beta: {beta}")
    policy = policy_chosen - policy_rejected
    reference = reference_chosen - reference_rejected
    margins = (policy - reference) * beta
    return F.softplus(-margins).mean(), margins
""", right=True),
    Answer("11b.6", "a right answer: logaddexp, mean as a sum over the number", """
def preference_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
    def reward(policy, reference):
        return beta * policy - beta * reference
    if not beta > 0:
        raise ValueError("beta = " + str(beta) + " is not above 0")
    margins = reward(policy_chosen, reference_chosen) - reward(policy_rejected, reference_rejected)
    losses = torch.logaddexp(torch.zeros_like(margins), -margins)
    return losses.sum() / len(losses), margins
""", right=True),
    Answer("11b.6", "minus the log of a sigmoid that rounds to 0: infinite for large margins",
           edit(DPO, "-F.logsigmoid(margins).mean()", "-torch.sigmoid(margins).log().mean()")),
    Answer("11b.6", "divides the log-probabilities: the logarithm of a ratio is a difference", edit(edit(
        DPO, "(policy_chosen - reference_chosen)", "(policy_chosen / reference_chosen)"),
        "(policy_rejected - reference_rejected)", "(policy_rejected / reference_rejected)")),
    Answer("11b.6", "rejected less chosen", edit(DPO, "chosen - rejected\n", "rejected - chosen\n")),
    Answer("11b.6", "the reference is left out", edit(edit(
        DPO, "(policy_chosen - reference_chosen)", "policy_chosen"), "(policy_rejected - reference_rejected)", "policy_rejected")),
    Answer("11b.6", "beta is left out",
           edit(edit(DPO, "beta * (policy_chosen", "(policy_chosen"), "beta * (policy_rejected", "(policy_rejected")),
    Answer("11b.6", "beta counts twice", edit(DPO, "margins = chosen - rejected", "margins = beta * (chosen - rejected)")),
    Answer("11b.6", "beta multiplies the loss, not the rewards", """
def preference_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
    if not beta > 0:
        raise ValueError(f"beta={beta}")
    margins = (policy_chosen - reference_chosen) - (policy_rejected - reference_rejected)
    return -beta * F.logsigmoid(margins).mean(), margins
"""),
    Answer("11b.6", "the margins come back without beta", edit(DPO, ".mean(), margins", ".mean(), margins / beta")),
    Answer("11b.6", "the sum of the losses, not the mean", edit(DPO, ".mean()", ".sum()")),
    Answer("11b.6", "the mean of the margins first, one sigmoid after it",
           edit(DPO, "F.logsigmoid(margins).mean()", "F.logsigmoid(margins.mean())")),
    Answer("11b.6", "no mean: one loss for each pair", edit(DPO, ".mean()", "")),
    Answer("11b.6", "the sign of the loss is missing", edit(DPO, "-F.logsigmoid", "F.logsigmoid")),
    Answer("11b.6", "the margins are detached", edit(DPO, ".mean(), margins", ".mean(), margins.detach()")),
    Answer("11b.6", "returns the loss alone", edit(DPO, ".mean(), margins", ".mean()")),
    Answer("11b.6", "returns margins first and the loss second",
           edit(DPO, "return -F.logsigmoid(margins).mean(), margins", "return margins, -F.logsigmoid(margins).mean()")),
    Answer("11b.6", "beta = 0 is accepted", edit(DPO, "not beta > 0", "beta < 0")),
    Answer("11b.6", "clips the margins to keep them finite, so larger ones are wrong and have no gradient",
           edit(DPO, "margins = chosen - rejected", "margins = (chosen - rejected).clamp(-50, 50)")),
    Answer("11b.6", "half-finished: squared distance of the rewards", """
def preference_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
    margins = beta * (policy_chosen - policy_rejected)
    return F.mse_loss(margins, beta * (reference_chosen - reference_rejected)), margins
"""),

    # 11b.7 Find the bugs: the router
    Answer("11b.7", "a right answer: the lines repaired", ROUTE, right=True),
    Answer("11b.7", "a right answer: softmax of the chosen logits, choices counted", """
def route(logits, active):
    tokens, experts = logits.shape
    if active < 1 or active > experts:
        raise ValueError(f"{active} active of {experts} experts")
    best, where = logits.topk(active, dim=-1)
    weights = torch.zeros_like(logits).scatter(-1, where, best.softmax(-1))
    share = torch.bincount(where.flatten(), minlength=experts).to(logits.dtype) / (tokens * active)
    mean = logits.softmax(-1).mean(0)
    return weights, experts * torch.dot(share, mean)
""", right=True),
    Answer("11b.7", "a right answer: one_hot, everything else masked out before the softmax", """
def route(logits, active):
    n = logits.shape[1]
    if not (1 <= active and active <= n):
        raise ValueError("active = " + str(active) + ", experts = " + str(n))
    order = logits.argsort(dim=1, descending=True)[:, :active]
    used = F.one_hot(order, n).sum(dim=1)                      # (tokens, experts)
    weights = logits.masked_fill(used == 0, -torch.inf).softmax(dim=1)
    share = used.to(logits.dtype).mean(dim=0) / active
    balance = sum(share[e] * logits.softmax(dim=1)[:, e].mean() for e in range(n)) * n
    return weights, balance
""", right=True),
    Answer("11b.7", "a fault of its own: the softmax runs over the tokens", edit(ROUTE, "softmax(dim=1)", "softmax(dim=0)")),
    Answer("11b.7", "the weights do not sum to 1",
           edit(ROUTE, "    weights = weights / weights.sum(dim=1, keepdim=True)\n", "")),
    Answer("11b.7", "share times share, which has no gradient",
           edit(ROUTE, "(share * probabilities.mean(dim=0)).sum()", "(share * share).sum() + 0 * logits.sum()")),
    Answer("11b.7", "weights as they are, and a loss without gradient",
           edit(edit(ROUTE, "    weights = weights / weights.sum(dim=1, keepdim=True)\n", ""),
                "(share * probabilities.mean(dim=0)).sum()", "(share * share).sum() + 0 * logits.sum()")),
    Answer("11b.7", "the weights are normalised over the tokens", edit(
        ROUTE, "weights.sum(dim=1, keepdim=True)", "weights.sum(dim=0, keepdim=True).clamp(min=1e-9)")),
    Answer("11b.7", "a second softmax over the weights: experts that were not chosen get some",
           edit(ROUTE, "weights / weights.sum(dim=1, keepdim=True)", "weights.softmax(dim=1)")),
    Answer("11b.7", "the balance takes the mean weight, not the mean probability",
           edit(ROUTE, "share * probabilities.mean(dim=0)", "share * weights.mean(dim=0)")),
    Answer("11b.7", "probability squared: the share of the choices is gone",
           edit(ROUTE, "(share * probabilities.mean(dim=0)).sum()", "probabilities.mean(dim=0).square().sum()")),
    Answer("11b.7", "the shares sum to the number of active experts, not to 1", edit(ROUTE, "/ chosen.sum()", "/ len(chosen)")),
    Answer("11b.7", "the sum is not multiplied by the number of experts",
           edit(ROUTE, "experts * (share * probabilities.mean(dim=0)).sum()", "(share * probabilities.mean(dim=0)).sum()")),
    Answer("11b.7", "the sum of the probabilities, not their mean", edit(ROUTE, "probabilities.mean(dim=0)", "probabilities.sum(dim=0)")),
    Answer("11b.7", "chooses by a threshold: more experts than active where some are equally probable",
           edit(ROUTE, "torch.zeros_like(probabilities).scatter(1, probabilities.topk(active, dim=1).indices, 1.0)",
                "(probabilities >= probabilities.topk(active, dim=1).values[:, -1:]).float()")),
    Answer("11b.7", "the probabilities in the balance are detached",
           edit(ROUTE, "share * probabilities.mean(dim=0)).sum()", "share * probabilities.detach().mean(dim=0)).sum() + 0 * logits.sum()")),
    Answer("11b.7", "chosen experts share equally, so no gradient reaches the logits through the weights", edit(edit(
        ROUTE, "weights = probabilities * chosen", "weights = chosen / active"),
        "    weights = weights / weights.sum(dim=1, keepdim=True)\n", "")),
    Answer("11b.7", "counts only the first choice of each token in the shares",
           edit(ROUTE, "chosen.sum(dim=0) / chosen.sum()",
                "F.one_hot(probabilities.argmax(dim=1), experts).float().mean(dim=0)")),
    Answer("11b.7", "no error for a bad number of active experts: it is clamped",
           edit(ROUTE, '        raise ValueError(f"active={active} must lie between 1 and the {experts} experts")',
                "        active = min(max(active, 1), experts)")),
    Answer("11b.7", "returns the weights alone", edit(
        ROUTE, "return weights, experts * (share * probabilities.mean(dim=0)).sum()", "return weights")),
    Answer("11b.7", "one repaired: ties still take more experts, chosen.mean in the shares", edit(edit(ROUTE,
           "torch.zeros_like(probabilities).scatter(1, probabilities.topk(active, dim=1).indices, 1.0)",
           "(probabilities >= probabilities.topk(active, dim=1).values[:, -1:]).float()"),
           "chosen.sum(dim=0) / chosen.sum()", "chosen.mean(dim=0)")),
    Answer("11b.7", "one left: logits multiplied by the mask, then a softmax", edit(edit(ROUTE,
           "weights = probabilities * chosen", "weights = (logits * chosen).softmax(dim=1)"),
           "    weights = weights / weights.sum(dim=1, keepdim=True)\n", "")),

    # 11b.8 The advantage of an answer
    Answer("11b.8", "a right answer: torch.where", GROUP, right=True),
    Answer("11b.8", "a right answer: a small number under the line", """
def group_loss(log_probs, rewards):
    size = rewards.shape[-1]
    if size == 1:
        raise ValueError("1 answer cannot be compared")
    advantages = (rewards - rewards.mean(-1, keepdim=True)) / (rewards.std(-1, keepdim=True, unbiased=False) + 1e-6)
    return -torch.mean(log_probs * advantages.detach()), advantages.detach()
""", right=True),
    Answer("11b.8", "a right answer: loops", """
def group_loss(log_probs, rewards):
    if len(rewards[0]) < 2:
        raise ValueError(f"{len(rewards[0])} answers")
    rows = []
    for row in rewards.tolist():
        mean = sum(row) / len(row)
        spread = math.sqrt(sum((r - mean) ** 2 for r in row) / len(row))
        rows.append([(r - mean) / spread if spread > 0 else 0.0 for r in row])
    advantages = torch.tensor(rows)
    return -(log_probs * advantages).sum() / log_probs.numel(), advantages
""", right=True),
    Answer("11b.8", "a right answer: var_mean and nan_to_num", """
def group_loss(log_probs, rewards):
    if not rewards.shape[1] > 1:
        raise ValueError("group of size " + str(rewards.shape[1]))
    var, mean = torch.var_mean(rewards, dim=1, keepdim=True, correction=0)
    advantages = ((rewards - mean) / var.sqrt()).nan_to_num(0.0)
    return (-advantages * log_probs).mean(), advantages
""", right=True),
    Answer("11b.8", "no baseline", edit(GROUP, "rewards - rewards.mean(1, keepdim=True)", "rewards")),
    Answer("11b.8", "the mean of the whole batch", edit(GROUP, "rewards.mean(1, keepdim=True)", "rewards.mean()")),
    Answer("11b.8", "the mean over the questions", edit(GROUP, "rewards.mean(1, keepdim=True)", "rewards.mean(0, keepdim=True)")),
    Answer("11b.8", "the other axis for both", edit(edit(GROUP, "rewards.mean(1, keepdim=True)", "rewards.mean(0, keepdim=True)"),
                                                    "rewards.std(1, keepdim=True", "rewards.std(0, keepdim=True")),
    Answer("11b.8", "not divided", edit(GROUP, "centred / spread.clamp(min=1e-8)", "centred")),
    Answer("11b.8", "PyTorch's std as it comes", edit(GROUP, "keepdim=True, correction=0", "keepdim=True")),
    Answer("11b.8", "the deviation of the whole batch", edit(GROUP, "rewards.std(1, keepdim=True, correction=0)",
                                                            "rewards.std(correction=0)")),
    Answer("11b.8", "divided by the variance", edit(GROUP, "rewards.std(1", "rewards.var(1")),
    Answer("11b.8", "0/0 in a group of equals", edit(
        GROUP, "torch.where(spread > 0, centred / spread.clamp(min=1e-8), torch.zeros_like(centred))", "centred / spread")),
    Answer("11b.8", "a group of equals gets 1", edit(GROUP, "torch.zeros_like(centred)", "torch.ones_like(centred)")),
    Answer("11b.8", "the sign", edit(GROUP, "-(advantages", "(advantages")),
    Answer("11b.8", "the sum", edit(GROUP, ".mean(), advantages", ".sum(), advantages")),
    Answer("11b.8", "summed within the groups", edit(GROUP, ".mean(), advantages", ".sum(1).mean(), advantages")),
    Answer("11b.8", "probabilities", edit(GROUP, "advantages * log_probs", "advantages * log_probs.exp()")),
    Answer("11b.8", "the bare rewards in the loss", edit(GROUP, "advantages * log_probs", "rewards * log_probs")),
    Answer("11b.8", "no gradient", edit(GROUP, "advantages * log_probs", "advantages * log_probs.detach()")),
    Answer("11b.8", "results exchanged", edit(GROUP, "return -(advantages * log_probs).mean(), advantages",
                                              "return advantages, -(advantages * log_probs).mean()")),
    Answer("11b.8", "a group of one is let through", edit(GROUP, "rewards.shape[1] < 2", "rewards.shape[1] < 1")),
    Answer("11b.8", "mean times mean", edit(GROUP, "(advantages * log_probs).mean()", "(advantages.mean(1) * log_probs.mean(1)).mean()")),
    Answer("11b.8", "bad answers left alone", edit(GROUP, "(advantages * log_probs)", "(advantages.clamp(min=0) * log_probs)")),
    Answer("11b.8", "mean of the others", edit(GROUP, "rewards - rewards.mean(1, keepdim=True)",
                                               "rewards - (rewards.sum(1, keepdim=True) - rewards) / (rewards.shape[1] - 1)")),

    # 11b.9 Assemble the decoder of today
    Answer("11b.9", "a right answer: the parts of the course", BLOCK, right=True),
    Answer("11b.9", "a right answer: scores, mask and softmax written out", """
from course_utils.models.positions import rope

def decoder_block(x, weights, num_heads, num_kv_heads):
    n, width = x.shape[1:]
    norm = lambda t, w: F.rms_norm(t, (width,), w, 1e-6)
    h, groups = norm(x, weights["norm_1"]), num_heads // num_kv_heads
    q = rope((h @ weights["w_q"]).unflatten(-1, (num_kv_heads, groups, -1)).permute(0, 2, 3, 1, 4), halves=True)
    k = rope((h @ weights["w_k"]).unflatten(-1, (num_kv_heads, 1, -1)).permute(0, 2, 3, 1, 4), halves=True)
    v = (h @ weights["w_v"]).unflatten(-1, (num_kv_heads, 1, -1)).permute(0, 2, 3, 1, 4)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(torch.ones(n, n).triu(1).bool(), float("-inf"))
    said = (scores.softmax(-1) @ v).permute(0, 3, 1, 2, 4).flatten(2)
    x = x + said @ weights["w_o"]
    h = norm(x, weights["norm_2"])
    return x + (F.silu(h @ weights["w_gate"]) * (h @ weights["w_up"])) @ weights["w_down"]
""", right=True),
    Answer("11b.9", "a right answer: one head after the other", """
from course_utils.models.attention import attention
from course_utils.models.positions import rope

def decoder_block(x, weights, num_heads, num_kv_heads):
    size, w = x.shape[-1] // num_heads, weights
    norm = lambda t, name: t / (t.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt() * w[name]
    h, said = norm(x, "norm_1"), []
    for head in range(num_heads):
        own, shared = head * size, head // (num_heads // num_kv_heads) * size
        q = rope(h @ w["w_q"][:, own:own + size], halves=True)
        k = rope(h @ w["w_k"][:, shared:shared + size], halves=True)
        v = h @ w["w_v"][:, shared:shared + size]
        said.append(attention(q, k, v, causal=True))
    x = x + torch.cat(said, -1) @ w["w_o"]
    h = norm(x, "norm_2")
    gate = h @ w["w_gate"]
    return x + (gate * gate.sigmoid() * (h @ w["w_up"])) @ w["w_down"]
""", right=True),
    Answer("11b.9", "a right answer: PyTorch's own attention with grouped heads", edit(BLOCK,
           "attention(q, k, v, causal=True)", "F.scaled_dot_product_attention(q, k, v, is_causal=True)"), right=True),
    Answer("11b.9", "no causal mask", edit(BLOCK, ", causal=True", "")),
    Answer("11b.9", "neighbouring columns rotated", edit(BLOCK, "rope(q, halves=True), rope(k, halves=True)", "rope(q), rope(k)")),
    Answer("11b.9", "keys not rotated", edit(BLOCK, "rope(k, halves=True)\n", "k\n")),
    Answer("11b.9", "values rotated too", edit(BLOCK, "    k = k.repeat", "    v = rope(v, halves=True)\n    k = k.repeat")),
    Answer("11b.9", "no rotation", edit(BLOCK, "rope(q, halves=True), rope(k, halves=True)", "q, k")),
    Answer("11b.9", "key heads in turns", edit(edit(
        BLOCK, "k.repeat_interleave(num_heads // num_kv_heads, dim=1)", "k.repeat(1, num_heads // num_kv_heads, 1, 1)"),
        "v.repeat_interleave(num_heads // num_kv_heads, dim=1)", "v.repeat(1, num_heads // num_kv_heads, 1, 1)")),
    Answer("11b.9", "heads not moved back", edit(BLOCK, ".transpose(1, 2).reshape(batch, n, width)", ".reshape(batch, n, width)")),
    Answer("11b.9", "LayerNorm", edit(BLOCK, "t * torch.rsqrt(t.square().mean(-1, keepdim=True) + 1e-6) * weight",
                                      "F.layer_norm(t, weight.shape, weight)")),
    Answer("11b.9", "the norm's weight forgotten", edit(BLOCK, " + 1e-6) * weight", " + 1e-6)")),
    Answer("11b.9", "the first norm twice", edit(BLOCK, 'norm(x, weights["norm_2"])', 'norm(x, weights["norm_1"])')),
    Answer("11b.9", "no norm before the gated layer", edit(BLOCK, 'h = norm(x, weights["norm_2"])', "h = x")),
    Answer("11b.9", "the stream replaced by its norm", edit(BLOCK, "x = x + out", "x = h + out")),
    Answer("11b.9", "attention without residual", edit(BLOCK, "x = x + out", "x = out")),
    Answer("11b.9", "no second residual", edit(BLOCK, "return x + (F.silu", "return (F.silu")),
    Answer("11b.9", "SiLU on the wrong branch", edit(
        BLOCK, 'F.silu(h @ weights["w_gate"]) * (h @ weights["w_up"])', '(h @ weights["w_gate"]) * F.silu(h @ weights["w_up"])')),
    Answer("11b.9", "GELU", edit(BLOCK, "F.silu", "F.gelu")),
    Answer("11b.9", "sigmoid", edit(BLOCK, "F.silu", "torch.sigmoid")),
    Answer("11b.9", "a matrix transposed", edit(BLOCK, 'out @ weights["w_o"]', 'out @ weights["w_o"].T')),
    Answer("11b.9", "both branches side by side", edit(BLOCK, 'h = norm(x, weights["norm_2"])',
                                                      'h = norm(x - out @ weights["w_o"], weights["norm_2"])')),

    # 11b.10 A step of DPO
    Answer("11b.10", "a right answer: forces by hand", STEP, right=True),
    Answer("11b.10", "a right answer: autograd", BY_AUTOGRAD, right=True),
    Answer("11b.10", "a right answer: a loop over the pairs", """
def preference_step(scores, known, chosen, rejected, beta, rate):
    new = scores.clone()
    for c, r in zip(chosen.tolist(), rejected.tolist()):
        margin = beta * ((scores[c] - known[c]) - (scores[r] - known[r]))
        pull = rate * beta * torch.sigmoid(-margin) / len(chosen)
        new[c] += pull
        new[r] -= pull
    return new
""", right=True),
    Answer("11b.10", "a right answer: an optimiser", """
def preference_step(scores, known, chosen, rejected, beta, rate):
    table = torch.nn.Parameter(scores.clone())
    optimizer = torch.optim.SGD([table], lr=rate)
    gain = F.log_softmax(table, dim=0) - known
    F.softplus(-beta * (gain[chosen] - gain[rejected])).mean().backward()
    optimizer.step()
    return table.detach()
""", right=True),
    Answer("11b.10", "the reference is left out", edit(STEP, " - known", "")),
    Answer("11b.10", "the reference is added", edit(STEP, " - known", " + known")),
    Answer("11b.10", "beta only before the sigmoid", edit(STEP, "margins = beta * (gain[chosen] - gain[rejected])",
                                                         "margins = gain[chosen] - gain[rejected]")),
    Answer("11b.10", "beta only in the margin", edit(STEP, "force = beta * torch", "force = torch")),
    Answer("11b.10", "settled pairs pull hardest", edit(STEP, "torch.sigmoid(-margins)", "torch.sigmoid(margins)")),
    Answer("11b.10", "the sum over the pairs", edit(STEP, " / len(chosen)", "")),
    Answer("11b.10", "indexing instead of index_add", edit(
        STEP, "change = torch.zeros_like(scores).index_add(0, chosen, force).index_add(0, rejected, -force)",
        "change = torch.zeros_like(scores)\n    change[chosen] += force\n    change[rejected] -= force")),
    Answer("11b.10", "the rejected answers stay", edit(STEP, ".index_add(0, rejected, -force)", "")),
    Answer("11b.10", "the rejected answers rise as well", edit(STEP, "rejected, -force", "rejected, force")),
    Answer("11b.10", "up the loss", edit(BY_AUTOGRAD, "table - rate", "table + rate")),
    Answer("11b.10", "the gradient alone", edit(BY_AUTOGRAD, "(table - rate * table.grad).detach()", "table.grad")),
    Answer("11b.10", "the rate is forgotten", edit(STEP, "scores + rate * change", "scores + change")),
    Answer("11b.10", "the new probabilities", edit(STEP, "return scores + rate * change", "return (scores + rate * change).softmax(0)")),
    Answer("11b.10", "in place", edit(STEP, "return scores + rate * change", "scores += rate * change\n    return scores")),
    Answer("11b.10", "no sigmoid", edit(STEP, "torch.sigmoid(-margins)", "(-margins)")),
    Answer("11b.10", "the derivative of the sigmoid, not of its logarithm", edit(
        STEP, "torch.sigmoid(-margins)", "torch.sigmoid(-margins) * torch.sigmoid(margins)")),
    Answer("11b.10", "the margins averaged first", edit(BY_AUTOGRAD, "F.logsigmoid(beta * (gain[chosen] - gain[rejected])).mean()",
                                                      "F.logsigmoid((beta * (gain[chosen] - gain[rejected])).mean())")),

    # what a reader of the blank chapter tried besides
    Answer("11b.1", "a right answer: correlation times the ratio of the deviations", edit(
        FIT, "(dx * dy).sum() / (dx * dx).sum()", "torch.corrcoef(torch.stack([x, y]))[0, 1] * y.std() / x.std()"), right=True),
    Answer("11b.1", "polyfit's two numbers exchanged", """
import numpy as np
def fit_power_law(sizes, losses):
    if len(sizes) < 2 or sizes.min() <= 0 or losses.min() <= 0:
        raise ValueError(f"{len(sizes)} points, from {sizes.min()} and {losses.min()}")
    x, y = sizes.log().numpy(), losses.log().numpy()
    start, slope = np.polyfit(x, y, 1)
    return torch.tensor(np.exp(start)), torch.tensor(-slope), torch.tensor(np.corrcoef(x, y)[0, 1]**2)
""", says=("Slope and start exchanged",)),
    Answer("11b.1", "the scale is the height at the means", edit(FIT, "(y.mean() - slope * x.mean()).exp()", "y.mean().exp()"),
           says=("Height at the means",)),
    Answer("11b.1", "log1p for log", edit(FIT, "sizes.log(), losses.log()", "sizes.log1p(), losses.log1p()")),
    Answer("11b.1", "mean of the ratios", edit(FIT, "(dx * dy).sum() / (dx * dx).sum()", "(dy / dx).mean()")),
    Answer("11b.1", "exponent before scale", edit(FIT, "return scale, -slope, r2", "return -slope, scale, r2"), says=("wrong order",)),
    Answer("11b.2", "a right answer: target and prediction exchanged", edit(
        LAW, "parts.logsumexp(0), losses.log()", "losses.log(), parts.logsumexp(0)"), right=True),
    Answer("11b.2", "the logarithm of E added to the logarithm of the rest", edit(edit(LAW, ", e.expand(len(sizes))])", "])"),
                                                                              "parts.logsumexp(0)", "(parts.logsumexp(0) + e)"),
           says=("Floor added to the logarithm",)),
    Answer("11b.2", "alpha times N", edit(edit(LAW, "alpha * sizes.log()", "alpha * sizes"), "beta * tokens.log()", "beta * tokens"),
           says=("Sizes without logarithm",)),
    Answer("11b.2", "the exponents on A and B too", edit(edit(LAW, "a - alpha * sizes.log()", "alpha * (a - sizes.log())"),
                                                         "b - beta * tokens.log()", "beta * (b - tokens.log())"),
           says=("Exponent times the factor too",)),
    Answer("11b.2", "the errors clipped", edit(BY_HAND, "error = law - torch.log(losses)",
                                               "error = (law - torch.log(losses)).clamp(-delta, delta)")),
    Answer("11b.4", "the mark of the separator, so that the first token of an answer is lost", edit(
        FEW, "[False] * (len(question) + 1) + [counts] * (len(answer) + 1)", "[False] * (len(question) + 2) + [counts] * len(answer)"),
           says=("First token of each answer not counted",)),
    Answer("11b.4", "-1 where nothing counts", edit(FEW, "~lesson, -100", "~lesson, -1"), says=("filled with -1",)),
    Answer("11b.4", "the first id cut from the inputs", edit(FEW, "return row[:-1], targets[1:]", "return row[1:], targets[:-1]"),
           says=("Moved the wrong way",)),
    Answer("11b.4", "only the last answer's end counts", edit(FEW, "[counts] * (len(answer) + 1)",
                                                             "[counts] * len(answer) + [at == len(examples) - 1]")),
    Answer("11b.5", "a right answer: cross_entropy with -100", """
def answer_log_prob(logits, ids, prompts, lengths):
    batch, n, vocab = logits.shape
    place = torch.arange(n).expand(batch, n)
    wanted = ids.masked_fill((place < prompts[:, None]) | (place >= lengths[:, None]), -100)
    nats = F.cross_entropy(logits[:, :-1].reshape(-1, vocab), wanted[:, 1:].reshape(-1), reduction="none")
    return -nats.view(batch, n - 1).sum(1)
""", right=True),
    Answer("11b.5", "cross_entropy with its mean", """
def answer_log_prob(logits, ids, prompts, lengths):
    return torch.stack([-F.cross_entropy(logits[b, p - 1:l - 1], ids[b, p:l]) for b, (p, l) in enumerate(zip(prompts, lengths))])
""", says=("Mean instead of sum",)),
    Answer("11b.5", "the likeliest token's logarithm", edit(ANSWER, "log_p.gather(-1, ids[:, 1:, None])[..., 0]", "log_p.max(-1).values")),
    Answer("11b.6", "a right answer: binary cross-entropy with logits", edit(
        DPO, "-F.logsigmoid(margins).mean()", "F.binary_cross_entropy_with_logits(margins, torch.ones_like(margins))"), right=True),
    Answer("11b.6", "log(1 + exp): infinite", edit(DPO, "-F.logsigmoid(margins).mean()", "torch.log(1 + torch.exp(-margins)).mean()")),
    Answer("11b.6", "chosen less rejected, added to the references' difference", edit(edit(
        DPO, "policy_chosen - reference_chosen", "policy_chosen - policy_rejected"), "policy_rejected - reference_rejected",
        "reference_rejected - reference_chosen"), says=("Reference added",)),
    Answer("11b.7", "more probable than the last of the best", edit(
        ROUTE, "torch.zeros_like(probabilities).scatter(1, probabilities.topk(active, dim=1).indices, 1.0)",
        "(probabilities > probabilities.topk(active, dim=1).values[:, -1:]).float()"),
           says=("The last of the best left out",), never=("has no effect",)),
    Answer("11b.7", "logits shared out", edit(ROUTE, "weights = probabilities * chosen", "weights = logits * chosen"),
           says=("Logits shared out",)),
    Answer("11b.7", "shares of tokens times experts", edit(ROUTE, "chosen.sum(dim=0) / chosen.sum()", "chosen.sum(dim=0) / chosen.numel()"),
           says=("shares do not sum to 1",)),
    Answer("11b.8", "a right answer: layer_norm", edit(
        GROUP, "advantages = torch.where(spread > 0, centred / spread.clamp(min=1e-8), torch.zeros_like(centred))",
        "advantages = F.layer_norm(rewards, rewards.shape[1:], eps=1e-12)"), right=True),
    Answer("11b.8", "PPO's ratio, whose value is 1", edit(GROUP, "(advantages * log_probs).mean()",
                                                        "(advantages * (log_probs - log_probs.detach()).exp()).mean()"),
           never=("have no gradient",)),
    Answer("11b.8", "groups of equals left out of the mean", edit(GROUP, "-(advantages * log_probs).mean()",
                                                                 "-(advantages * log_probs)[(spread > 0)[:, 0]].mean()")),
    Answer("11b.8", "the best answer alone", edit(GROUP, "    return -(adv",
                                                 "    advantages = (rewards == rewards.amax(1, keepdim=True)).float()\n    return -(adv")),
    Answer("11b.9", "a right answer: F.rms_norm", edit(BLOCK, "t * torch.rsqrt(t.square().mean(-1, keepdim=True) + 1e-6) * weight",
                                                      "F.rms_norm(t, t.shape[-1:], weight, 1e-6)"), right=True),
    Answer("11b.9", "the variance", edit(BLOCK, "t.square().mean(-1, keepdim=True)", "t.var(-1, keepdim=True)"),
           says=("Variance for mean square",)),
    Answer("11b.9", "queries not rotated", edit(BLOCK, "rope(q, halves=True), rope(k, halves=True)", "q, rope(k, halves=True)"),
           says=("Queries not rotated",)),
    Answer("11b.9", "rotated by the number of the head", edit(edit(edit(
        BLOCK, '(h @ weights["w_q"]).view(batch, n, num_heads, size).transpose(1, 2)',
        'rope((h @ weights["w_q"]).view(batch, n, num_heads, size), halves=True).transpose(1, 2)'),
        '(h @ weights["w_k"]).view(batch, n, num_kv_heads, size).transpose(1, 2)',
        'rope((h @ weights["w_k"]).view(batch, n, num_kv_heads, size), halves=True).transpose(1, 2)'),
        "    q, k = rope(q, halves=True), rope(k, halves=True)\n", ""), says=("last axis but one",)),
    Answer("11b.9", "keys in turns, values not", edit(BLOCK, "k.repeat_interleave(num_heads // num_kv_heads, dim=1)",
                                                     "k.repeat(1, num_heads // num_kv_heads, 1, 1)"), says=("two different orders",)),
    Answer("11b.9", "the output matrix forgotten", edit(BLOCK, 'out @ weights["w_o"]', "out"), says=("Output matrix forgotten",)),
    Answer("11b.9", "SiLU of the product", edit(BLOCK, '(F.silu(h @ weights["w_gate"]) * (h @ weights["w_up"]))',
                                               'F.silu((h @ weights["w_gate"]) * (h @ weights["w_up"]))'), says=("SiLU of the product",)),
    Answer("11b.9", "w_k for the values", edit(BLOCK, 'v = (h @ weights["w_v"])', 'v = (h @ weights["w_k"])'), says=("Keys for values",)),
    Answer("11b.10", "a right answer: pairs as rows of one-hot differences", """
def preference_step(scores, known, chosen, rejected, beta, rate):
    pairs = F.one_hot(chosen, len(scores)).float() - F.one_hot(rejected, len(scores)).float()
    force = torch.sigmoid(-beta * (pairs @ (scores - known)))
    return scores + rate * beta * (force @ pairs) / len(chosen)
""", right=True),
    Answer("11b.10", "pair after pair", """
def preference_step(scores, known, chosen, rejected, beta, rate):
    new = scores.clone()
    for c, r in zip(chosen, rejected):
        force = rate * beta * torch.sigmoid(-beta * (new[c] - new[r] - known[c] + known[r])) / len(chosen)
        new[c] += force
        new[r] -= force
    return new
""", says=("Pair after pair",)),
    Answer("11b.10", "Adam", edit(edit(BY_AUTOGRAD, "loss.backward()", "loss.backward()\n    step = torch.optim.Adam([table], lr=rate)"),
                                  "return (table - rate * table.grad).detach()", "step.step()\n    return table.detach()"),
           says=("An adaptive optimiser",)),
    Answer("11b.10", "the sigmoid as exp over 1 + exp", edit(STEP, "torch.sigmoid(-margins)",
                                                            "torch.exp(-margins) / (1 + torch.exp(-margins))")),
    Answer("11b.3", "commas taken away", edit(DISTINCT, "text.lower().split()", 'text.lower().replace(",", "").split()'),
           says=("Commas taken away",)),
    Answer("11b.3", "sorted", edit(DISTINCT, "return kept\n", "return sorted(kept)\n"), says=("Texts sorted",)),
)
