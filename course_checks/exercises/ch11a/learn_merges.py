"""Exercise 11a.1: learn merges. The oracle is the incremental merger, which the tests compare with a library."""

import random
from collections import Counter

from course_utils.text.merging import Merger, join

from ..common import Case, FunctionExercise, refusal


def learn_merges(words: dict[str, int], count: int) -> list[str]:
    if count < 0:
        raise ValueError(f"count={count} must not be negative")
    parts, merges = {word: list(word) for word in words}, []
    for _ in range(count):
        pairs: Counter = Counter()
        for word, symbols in parts.items():
            for pair in zip(symbols, symbols[1:], strict=False):
                pairs[pair] += words[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(" ".join(best))
        parts = {word: join(symbols, best, "".join(best)) for word, symbols in parts.items()}
    return merges


def oracle(words: dict[str, int], count: int) -> list[str]:
    merger = Merger({word: list(word) for word in words}, words)
    found: list[str] = []
    while len(found) < count and (pair := merger.best(1, lambda p: merger.pairs[p])):
        merger.merge(pair, pair[0] + pair[1])
        found.append(" ".join(pair))
    return found


def corpus(seed: int, letters: str = "abc", size: int = 9) -> dict[str, int]:
    rng = random.Random(seed)
    words = {"".join(rng.choice(letters) for _ in range(rng.randint(2, 8))): rng.randint(1, 9) for _ in range(size)}
    return words | {letters[0] * 3: 2, letters[1] * 5: 1}


def draw(seed: int) -> list[Case]:
    ties = [entry.answer for entry in EXERCISE.misconceptions if entry.name.startswith("ties go")]
    drawn = (corpus(seed + 1000 * turn) for turn in range(1000))
    words = next(words for words in drawn if all(wrong(words, 12) != oracle(words, 12) for wrong in ties))
    return [
        Case("eleven words of a, b and c, 12 merges", {"words": words, "count": 12}),
        Case("eleven words of e to h, 7 merges", {"words": corpus(seed + 500, "efgh"), "count": 7}),
    ]


def fixed() -> list[Case]:
    def case(label: str, words: dict[str, int], count: int, part: str = "ties and repeats") -> Case:
        return Case(label, {"words": words, "count": count}, part)

    return [
        case("low, lower, newest, widest", LISTING, 10, "values"),
        case("equal counts: the first in alphabetical order", {"zy": 2, "xw": 2, "yx": 1}, 3),
        case("equal counts: a capital Z before a small a", {"ab": 2, "Zb": 2, "cZ": 1}, 3),
        case("equal counts: a before ab", {"abc": 3, "ab": 4, "az": 3}, 3),
        case("aaa holds the pair a a twice", {"aaa": 3, "bc": 5, "aad": 1}, 3),
        case("b, ab: a pair at the seam of two symbols", {"bab": 4, "aab": 3, "abab": 2, "ba": 1}, 5),
        case("a capital is another letter", {"Abe": 3, "abe": 2, "cdf": 4, "AB": 1}, 4),
        case("fewer pairs than merges", {"ab": 1, "c": 4}, 5, "edges"),
        case("no merge at all", {"ab": 3}, 0, "edges"),
        case("no words", {}, 3, "edges"),
        refusal("count -1", {"words": {"ab": 1}, "count": -1}, "-1", part="refusal"),
    ]


FORBIDDEN = ("course_utils.text.merging.Merger", "course_utils.text.bpe.ByteBPE.train")
LISTING = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
EXERCISE = FunctionExercise(right=learn_merges, oracle=oracle, draw=draw, fixed=fixed, forbidden=FORBIDDEN)
