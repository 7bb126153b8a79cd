"""Exercise 08b.7: BLEU with clipped counts and brevity penalty. The oracle counts in lists; tests compare it with sacrebleu."""

import math
import random
from collections import Counter

from ..common import Case, FunctionExercise, refusal


def grams(words: list[str], n: int) -> Counter:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def bleu(candidates: list[list[str]], references: list[list[str]], order: int = 4) -> float:
    if len(candidates) != len(references):
        raise ValueError(f"{len(candidates)} candidates but {len(references)} references")
    precisions = []
    for n in range(1, order + 1):
        hits = total = 0
        for c, r in zip(candidates, references, strict=True):
            found, known = grams(c, n), grams(r, n)
            hits += (found & known).total()  # clipped: repeating a word does not pay
            total += found.total()
        if not hits:
            return 0.0
        precisions.append(hits / total)
    length, wanted = sum(map(len, candidates)), sum(map(len, references))
    brevity = min(1.0, math.exp(1 - wanted / length))
    return 100 * brevity * math.exp(sum(map(math.log, precisions)) / len(precisions))


def oracle(candidates: list[list[str]], references: list[list[str]], order: int = 4) -> float:
    """The k-th occurrence of an n-gram is a hit when its sentence's reference has k of them."""
    logs = 0.0
    for n in range(1, order + 1):
        runs = [[[words[i : i + n] for i in range(len(words) - n + 1)] for words in side] for side in (candidates, references)]
        hits = [c[: i + 1].count(gram) <= r.count(gram) for c, r in zip(*runs, strict=True) for i, gram in enumerate(c)]
        if not any(hits):
            return 0.0
        logs += math.log(sum(hits) / len(hits)) / order
    found, wanted = len(sum(candidates, [])), len(sum(references, []))
    return 100 * math.exp(logs) * (1.0 if found > wanted else math.exp(1 - wanted / found))


def drawn(label: str, part: str, seed: int, count: int, change: float, cut: int, order: int = 4, again: int = 0) -> Case:
    """References of a small language; candidates differ in some words and in length, and repeat their first ``again`` words."""
    g, words = random.Random((seed + 1) * 31 + cut), "the a cat dog house old new sees likes in under".split()
    references = [[g.choice(words) for _ in range(g.randint(8, 13))] for _ in range(count)]
    candidates = []
    for r in references:
        c = [w if g.random() > change else g.choice(words) for w in r]
        c = c[: len(c) - cut] if cut > 0 else c + [g.choice(words) for _ in range(-cut)]
        candidates.append([*c, *c[:again]])
    return Case(label, {"candidates": candidates, "references": references, "order": order}, part)


def draw(seed: int) -> list[Case]:
    return [
        drawn("5 sentences, some words wrong, 2 words short", "precision", seed, 5, 0.15, 2),
        drawn("4 sentences, 2 words too long", "precision", seed, 4, 0.1, -2),
        drawn("3 sentences that repeat their beginning", "precision", seed, 3, 0.05, 0, again=4),
        drawn("order 2, 3 words short", "brevity", seed, 6, 0.15, 3, order=2),
        drawn("right words, 5 of them missing", "brevity", seed, 3, 0.0, 5),
    ]


def case(label: str, part: str, candidates: str, references: str) -> Case:
    c, r = ([sentence.split() for sentence in text.split(" | ")] for text in (candidates, references))
    args = {"candidates": c, "references": r}
    return Case(label, args, part) if len(c) == len(r) else refusal(label, args, str(len(c)), str(len(r)))


def fixed() -> list[Case]:
    half = "two sentences, one without a common run of four"
    return [
        case("identical", "precision", "a cat sat on a mat", "a cat sat on a mat"),
        case("no common run of four words", "edges", "a b c d e f", "c b a f e d"),
        case(half, "precision", "a b c d e | x y z u v", "a b c d e | z x v u y"),
        case("words that read alike when glued", "precision", "ab c d e f g", "a bc d e f g"),
        case("capitals are other words", "precision", "The cat saw the dog in May", "the cat saw the dog in may"),
        case("three words, too short for a run of four", "edges", "a b c", "a b c"),
        case("3 candidates, 2 references", "bad input", "a | a | a", "a | a"),
        case("2 candidates, 3 references", "bad input", "a | a", "a | a | a"),
    ]


FORBIDDEN = ("course_utils.text.bleu.bleu",)
EXERCISE = FunctionExercise(right=bleu, helpers=(grams,), oracle=oracle, draw=draw, fixed=fixed, atol=1e-4, forbidden=FORBIDDEN)
