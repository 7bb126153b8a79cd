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

GUESS = """
prediction_of_the_mix = {
    "times that every token of Wikipedia is read": 3.0,
    "times that every token of Common Crawl is read": 0.44,
    "times that every token of WebText2 is read": 3.5,
    "tokens of Wikipedia read for one of Common Crawl, per token that there is": 6.8,
    "billions of Common Crawl tokens that are never read": 230,
    "sum of the five weights, in per cent": 101,
}
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

    # 11b.2 Predict: who is read how often
    Answer("11b.2", "a right answer: two digits", GUESS, right=True),
    Answer("11b.2", "a right answer: expressions", """
def times(size, weight, drawn=300):
    return drawn * weight / 100 / size

prediction_of_the_mix = {
    "times that every token of Wikipedia is read": times(3, 3),
    "times that every token of Common Crawl is read": times(410, 60),
    "times that every token of WebText2 is read": times(19, 22),
    "tokens of Wikipedia read for one of Common Crawl, per token that there is": times(3, 3) / times(410, 60),
    "billions of Common Crawl tokens that are never read": 410 - 0.6 * 300,
    "sum of the five weights, in per cent": sum((60, 22, 8, 8, 3)),
}
""", right=True),
    Answer("11b.2", "a right answer: fractions and ints", """
from fractions import Fraction
prediction_of_the_mix = {
    "times that every token of Wikipedia is read": 3,
    "times that every token of Common Crawl is read": Fraction(180, 410),
    "times that every token of WebText2 is read": Fraction(66, 19),
    "tokens of Wikipedia read for one of Common Crawl, per token that there is": Fraction(3 * 410, 180),
    "billions of Common Crawl tokens that are never read": 230,
    "sum of the five weights, in per cent": 101,
}
""", right=True),
    Answer("11b.2", "copies 3.4 for Wikipedia from the last column", edit(GUESS, ": 3.0,", ": 3.4,")),
    Answer("11b.2", "copies 2.9 for WebText2 from the last column", edit(GUESS, ": 3.5,", ": 2.9,")),
    Answer("11b.2", "ratio of the printed times, 3.4 / 0.44", edit(GUESS, ": 6.8,", ": 7.7,")),
    Answer("11b.2", "the ratio turned round: Common Crawl for one of Wikipedia", edit(GUESS, ": 6.8,", ": 0.15,")),
    Answer("11b.2", "ratio of the weights alone, 3 / 60, not per token that there is", edit(GUESS, ": 6.8,", ": 0.05,")),
    Answer("11b.2", "ignores the weight of Common Crawl: 300 / 410", edit(GUESS, ": 0.44,", ": 0.73,")),
    Answer("11b.2", "takes the weight from the collection, not from the 300 billion: 0.6", edit(GUESS, ": 0.44,", ": 0.6,")),
    Answer("11b.2", "takes all 300 billion tokens for Common Crawl: 110 are left", edit(GUESS, ": 230,", ": 110,")),
    Answer("11b.2", "gives the billions that are read: 180", edit(GUESS, ": 230,", ": 180,")),
    Answer("11b.2", "60 % are read, so 40 % of 410 are not: 164", edit(GUESS, ": 230,", ": 164,")),
    Answer("11b.2", "tokens, not billions of them", edit(GUESS, ": 230,", ": 230e9,")),
    Answer("11b.2", "trusts that weights make 100", edit(GUESS, ": 101,", ": 100,")),
    Answer("11b.2", "the sum as a share, not in per cent", edit(GUESS, ": 101,", ": 1.01,")),
    Answer("11b.2", "drawn tokens in billions, not times: 9, 180, 66",
           edit(edit(edit(GUESS, ": 3.0,", ": 9,"), ": 0.44,", ": 180,"), ": 3.5,", ": 66,")),
    Answer("11b.2", "half-finished: the last three are left open",
           edit(edit(edit(GUESS, ": 6.8,", ": None,"), ": 230,", ": None,"), ": 101,", ": None,")),

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
    Answer("11b.7", "a right answer: the three lines repaired", ROUTE, right=True),
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
    Answer("11b.7", "two of three: the softmax still runs over the tokens", edit(ROUTE, "softmax(dim=1)", "softmax(dim=0)")),
    Answer("11b.7", "two of three: the weights do not sum to 1",
           edit(ROUTE, "    weights = weights / weights.sum(dim=1, keepdim=True)\n", "")),
    Answer("11b.7", "two of three: the balance is still share times share, which has no gradient",
           edit(ROUTE, "(share * probabilities.mean(dim=0)).sum()", "(share * share).sum() + 0 * logits.sum()")),
    Answer("11b.7", "one of three: only the softmax is repaired",
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
)
