"""Exercise 08b.7: BLEU with clipped counts and brevity penalty. The oracle counts by hand; tests compare it with sacrebleu."""

from __future__ import annotations

import math
from collections import Counter
from functools import partial

from ...exercise import Case, Exercise, Twin, generator

Sentences = list[list[str]]


def _oracle(candidates: Sentences, references: Sentences, order: int = 4) -> float:
    """Each n-gram of a candidate crosses out one equal n-gram of its reference."""
    logs, found, wanted = 0.0, 0, 0
    for n in range(1, order + 1):
        hits = total = 0
        for c, r in zip(candidates, references, strict=True):
            left = [r[i:i + n] for i in range(len(r) - n + 1)]
            for i in range(len(c) - n + 1):
                total += 1
                if c[i:i + n] in left:
                    left.remove(c[i:i + n])
                    hits += 1
        if not hits:
            return 0.0
        logs += math.log(hits / total) / order
    for c, r in zip(candidates, references, strict=True):
        found, wanted = found + len(c), wanted + len(r)
    return 100 * math.exp(logs) * (1.0 if found > wanted else math.exp(1 - wanted / found))


def _grams(tokens: list[str], n: int, missed: int = 0) -> Counter:
    return Counter(tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1 - missed))


def _glued(grams: Counter) -> Counter:
    strings: Counter = Counter()
    for gram, count in grams.items():
        strings["".join(gram)] += count
    return strings


def _bleu(candidates: Sentences, references: Sentences, order: int = 4, how: str = "right") -> float:
    if how == "sentences":
        return sum(_bleu([c], [r], order) for c, r in zip(candidates, references, strict=True)) / len(candidates)
    if how == "joined":
        candidates, references = [sum(candidates, [])], [sum(references, [])]
    precision = []
    if how == "lower case":
        candidates, references = ([[w.lower() for w in s] for s in side] for side in (candidates, references))
    if how == "order ignored":
        order = 4
    orders = {"last order": range(order, order + 1), "one order short": range(1, max(order, 2))}.get(how, range(1, order + 1))
    for n in orders:
        pairs = [(_grams(c, n), _grams(r, n)) for c, r in zip(candidates, references, strict=True)]
        if how == "missed":
            pairs = [(_grams(c, n, 1), _grams(r, n, 1)) for c, r in zip(candidates, references, strict=True)]
        if how == "bag":
            pairs = [(_grams(sorted(c), n), _grams(sorted(r), n)) for c, r in zip(candidates, references, strict=True)]
        if how == "pooled":
            pairs = [(sum((p[0] for p in pairs), Counter()), sum((p[1] for p in pairs), Counter()))]
        if how == "glued":
            pairs = [tuple(_glued(grams) for grams in pair) for pair in pairs]
        if how == "sets":
            hits, total = sum(len(c.keys() & r.keys()) for c, r in pairs), sum(c.total() for c, _ in pairs)
        elif how == "kinds":
            hits, total = (sum(len(c.keys() & r.keys()) for c, r in pairs), sum(len(c) for c, _ in pairs))
        elif how == "no clipping":
            hits, total = sum(sum(k for g, k in c.items() if g in r) for c, r in pairs), sum(c.total() for c, _ in pairs)
        else:
            hits = sum((c & r).total() for c, r in pairs)
            total = sum(r.total() if how == "recall" else c.total() for c, r in pairs)
        if how == "words in all":
            total = sum(map(len, candidates))
        if how == "ratios" and total:
            ratios = [(c & r).total() / max(1, c.total()) for c, r in pairs]
            hits, total = sum(ratios), len(ratios)
        if how == "smoothed" and n > 1 or how == "one added":
            hits, total = hits + 1, total + 1
        if not hits and how != "arithmetic":
            return 0.0
        precision.append(hits / total if total else 0.0)
    length, wanted = sum(map(len, candidates)), sum(map(len, references))
    brevity = min(1.0, math.exp(1 - wanted / length))
    match how:
        case "no brevity":
            brevity = 1.0
        case "long punished":
            brevity = math.exp(1 - wanted / length)
        case "turned":
            brevity = min(1.0, math.exp(1 - length / wanted))
        case "plain ratio":
            brevity = min(1.0, length / wanted)
        case "arithmetic":
            return 100 * brevity * sum(precision) / len(precision)
        case "product":
            return 100 * brevity * math.prod(precision)
        case "sum of logs":
            return 100 * brevity * math.exp(sum(math.log2(p) for p in precision) / len(precision))
    value = brevity * math.exp(sum(map(math.log, precision)) / (4 if how == "four" else len(precision)))
    return value if how == "unit" else 100 * value


def _reference(candidates: Sentences, references: Sentences, order: int = 4) -> float:
    if len(candidates) != len(references):
        raise ValueError(f"{len(candidates)} candidates but {len(references)} references")
    return _bleu(candidates, references, order)


def _sentences(seed: int, count: int, change: float, cut: int, repeat: bool = False) -> tuple[Sentences, Sentences]:
    """References of a small language and candidates that differ in some words and in length."""
    import random

    rng = random.Random(int(generator(seed).initial_seed()) * 31 + cut)
    words = "the a cat dog house old new sees likes in under".split()
    references = [[rng.choice(words) for _ in range(rng.randint(8, 13))] for _ in range(count)]
    candidates = []
    for r in references:
        c = [w if rng.random() > change else rng.choice(words) for w in r]
        c = c[: len(c) - cut] if cut > 0 else c + [rng.choice(words) for _ in range(-cut)]
        candidates.append([*c, *c[:4]] if repeat else c)
    return candidates, references


def _draw(seed: int) -> list[Case]:
    def case(label: str, part: str, count: int, change: float, cut: int, order: int = 4, repeat: bool = False) -> Case:
        c, r = _sentences(seed + 1, count, change, cut, repeat)
        return Case(label, {"candidates": c, "references": r, "order": order}, part=part)

    return [case("5 sentences, some words wrong, 2 words short", "precision", 5, 0.15, 2),
            case("4 sentences, 2 words too long", "precision", 4, 0.1, -2),
            case("3 sentences that repeat their beginning", "precision", 3, 0.05, 0, 4, True),
            case("order 2, 3 words short", "brevity", 6, 0.15, 3, 2),
            case("right words, 5 of them missing", "brevity", 3, 0.0, 5)]


def _fixed() -> list[Case]:
    def case(label: str, c: list[str], r: list[str], part: str = "edges") -> Case:
        return Case(label, {"candidates": [s.split() for s in c], "references": [s.split() for s in r]}, part=part)

    return [case("identical", ["a cat sat on a mat"], ["a cat sat on a mat"], "precision"),
            case("no common run of four words", ["a b c d e f"], ["c b a f e d"]),
            case("two sentences, one without a common run of four", ["a b c d e", "x y z u v"], ["a b c d e", "z x v u y"], "precision"),
            case("words that read alike when glued", ["ab c d e f g"], ["a bc d e f g"], "precision"),
            case("capitals are other words", ["The cat saw the dog in May"], ["the cat saw the dog in may"], "precision"),
            case("three words, too short for a run of four", ["a b c"], ["a b c"]),
            Case("3 candidates, 2 references", {"candidates": [["a"]] * 3, "references": [["a"]] * 2}, part="bad input", rejects=ValueError,
                 mentions=("3", "2")),
            Case("2 candidates, 3 references", {"candidates": [["a"]] * 2, "references": [["a"]] * 3}, part="bad input", rejects=ValueError,
                 mentions=("2", "3"))]


BLEU = Exercise(
    id="08b.7", title="BLEU", name="bleu", kind="function", stars=2, minutes=20,
    signature="bleu(candidates, references, order=4) -> number from 0 to 100",
    oracle=_oracle, reference=_reference, draw=_draw, fixed=_fixed, rtol=1e-4, atol=1e-4,
    parts={"precision": 3, "brevity": 2, "edges": 1, "bad input": 1}, forbidden=("course_utils.text.bleu.bleu",),
    twins=(
        Twin("counts not clipped", partial(_bleu, how="no clipping"),
             "In your version, repeating a right word gives a better score. An n-gram counts at most as often as it is in the reference."),
        Twin("kinds counted, not occurrences", partial(_bleu, how="kinds"),
             "You count each n-gram once. A word that occurs twice in both sentences is found twice."),
        Twin("clipped with sets", partial(_bleu, how="sets"),
             "A set knows whether a run occurs, not how often. A run that occurs twice in both sentences is found twice."),
        Twin("words glued together", partial(_bleu, how="glued"),
             "Without a gap between the words, different runs can give the same string. Keep the words of a run apart."),
        Twin("corpus joined into one sentence", partial(_bleu, how="joined"),
             "If you join sentences, runs cross their borders and words are found in another sentence's reference. Count in "
             "each sentence."),
        Twin("one added to all counts", partial(_bleu, how="one added"),
             "You add one to the hits and totals of every order. Here counts stay as they are, and a missing order gives zero."),
        Twin("counts smoothed", partial(_bleu, how="smoothed"),
             "Adding one to hits and totals is a kind of smoothing. Here counts stay as they are, and a missing order gives zero."),
        Twin("brevity penalty missing", partial(_bleu, how="no brevity"),
             "Precision alone favours short candidates. A corpus that is shorter than its references must get a lower score."),
        Twin("no limit for long candidates", partial(_bleu, how="long punished"),
             "The penalty is for short candidates only and never exceeds 1; long ones already lose precision."),
        Twin("lengths turned round in the penalty", partial(_bleu, how="turned"),
             "Your penalty hits candidates that are too long. Check which of the two lengths is the numerator."),
        Twin("penalty is the plain ratio", partial(_bleu, how="plain ratio"),
             "The penalty is an exponential of one minus the ratio of the lengths, not the ratio itself."),
        Twin("arithmetic mean", partial(_bleu, how="arithmetic"),
             "The precisions are combined by their geometric mean: if one of them is zero, the result is zero."),
        Twin("product instead of mean", partial(_bleu, how="product"),
             "The product of four precisions is the geometric mean only after the fourth root."),
        Twin("logarithms of another base", partial(_bleu, how="sum of logs"),
             "Logarithm and exponential must have the same base, or they do not undo each other."),
        Twin("only the longest n-grams", partial(_bleu, how="last order"),
             "You use runs of the highest order alone. All orders from one up take part, with equal weight."),
        Twin("capitals ignored", partial(_bleu, how="lower case"),
             "You turn all words into small letters first. Two words are equal here if they are spelt alike, capitals included."),
        Twin("order ignored", partial(_bleu, how="order ignored"),
             "Runs of up to four words are counted whatever the caller asks for. The longest run is an argument."),
        Twin("longest order missed", partial(_bleu, how="one order short"),
             "A range stops before its second number, so that the longest runs are never counted."),
        Twin("mean over sentences", partial(_bleu, how="sentences"),
             "Hits and totals are added up over the whole corpus before anything is divided; a mean of sentence scores is another number."),
        Twin("mean of sentence precisions", partial(_bleu, how="ratios"),
             "You divide in each sentence and then average. Add up hits and totals over the corpus first, then divide once."),
        Twin("sentences thrown together", partial(_bleu, how="pooled"),
             "Look for an n-gram only in the reference of its own sentence, not in those of others."),
        Twin("recall instead of precision", partial(_bleu, how="recall"),
             "You divide by the n-grams of the references. Precision asks which share of the candidate's n-grams is right."),
        Twin("every order divided by words", partial(_bleu, how="words in all"),
             "A sentence of ten words has ten single words but only seven runs of four. Divide by as many n-grams as there are."),
        Twin("order of words ignored", partial(_bleu, how="bag"),
             "You sort the words first. But n-grams are there to measure the order of the words."),
        Twin("last run missed", partial(_bleu, how="missed"),
             "The last run of every sentence is missing: a sentence of ten words has seven runs of four, not six."),
        Twin("always a quarter", partial(_bleu, how="four"),
             "The logarithms are divided by four whatever the order is. Each of the orders has the same share of the mean."),
        Twin("between 0 and 1", partial(_bleu, how="unit"), "The number is right up to a factor of one hundred; papers and the "
             "docstring count up to 100."),
    ),
)
