"""Exercise 11a.6: cut a word with learned merges. The oracle works on marked text with regular expressions."""

import random
import re

from course_utils.text.merging import join

from ..common import Case, FunctionExercise
from .learn_merges import LISTING, corpus
from .learn_merges import oracle as learned


def apply_merges(word: str, merges: list[str]) -> list[str]:
    ranks = {tuple(merge.split(" ")): rank for rank, merge in enumerate(merges)}
    symbols = list(word)
    while True:
        present = [pair for pair in zip(symbols, symbols[1:], strict=False) if pair in ranks]
        if not present:
            return symbols
        best = min(present, key=lambda pair: ranks[pair])
        symbols = join(symbols, best, "".join(best))


def oracle(word: str, merges: list[str]) -> list[str]:
    """Symbols between marks; a regular expression that starts and ends at marks replaces a pair. Lowest rank present first."""
    text = "|" + "".join(f"{letter}|" for letter in word)
    while word:
        present = [m for m in merges if f"|{m.replace(' ', '|')}|" in text]
        if not present:
            break
        left, right = map(re.escape, present[0].split(" "))
        text = re.sub(rf"(?<=\|){left}\|{right}(?=\|)", present[0].replace(" ", ""), text)
    return [part for part in text.split("|") if part]


def draw(seed: int) -> list[Case]:
    merges, rng = learned(corpus(seed, size=25), 14), random.Random(seed)
    words = ["".join(rng.choice("abc") for _ in range(n)) for n in (6, 9, 12, 15, 18)]
    return [Case(f"a word of {len(word)} letters, {len(merges)} merges", {"word": word, "merges": merges}) for word in words]


def fixed() -> list[Case]:
    def case(label: str, word: str, merges: list[str], part: str = "values") -> Case:
        return Case(label, {"word": word, "merges": merges}, part)

    merges = ["a b", "b c", "ab c", "d d", "c d", "abc dd"]
    english = learned(LISTING | {"lowest": 2, "slow": 3}, 12)
    return [
        *(case(f"{word!r}, merges {', '.join(merges)}", word, merges) for word in ("abcdd", "bcabc", "cdd")),
        *(case(f"{word!r}, merges {', '.join(merges)}", word, merges, "edges") for word in ("ddd", "ddddabc", "", "z", "xyz")),
        case("'abcdd' once more, with other merges", "abcdd", ["d d", "b c"]),
        case("a long pair further right", "abdabab", ["a b", "d ab", "ab ab"]),
        case("capitals are other letters", "aBab", ["a B", "aB a"], "edges"),
        case("'slowest' with merges learned from low, lower, newest …", "slowest", english),
        case("no merges", "abc", [], "edges"),
        case("a symbol that ends like another one begins", "babab", ["b a", "ba b"], "edges"),
        case("b a at the seam of two longer symbols", "abab", ["a b", "b a", "ab ab"], "edges"),
        case("c d at the seam, too late", "abcdab", ["b c", "d a", "c d", "bc da"], "edges"),
    ]


FORBIDDEN = ("course_utils.text.bpe.ByteBPE.encode", "course_utils.text.bpe.ByteBPE._word")
EXERCISE = FunctionExercise(right=apply_merges, oracle=oracle, draw=draw, fixed=fixed, forbidden=FORBIDDEN)
