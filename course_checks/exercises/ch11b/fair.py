"""Exercise 11b.2: which two runs test a sentence. The oracle is a fixed table; the chapter shows the four losses."""

import re
from typing import Any

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "at the same number of steps, width pays": "A and B",
        "with the small budget, the wide model is the better buy": "A and D",
        "with the large budget, the wide model is the better buy": "B and C",
        "the narrow model has learned all it can after 1,000 steps": "A and C",
        "the wide model has learned all it can after 139 steps": "B and D",
    }


def in_the_alphabet(pairs: Any, case: Case) -> Any:
    """The same pairs, each in the order of the alphabet: "b and A" is "A and B"."""
    if not isinstance(pairs, dict):
        return pairs
    return {sentence: _ordered(pair) if isinstance(pair, str) else pair for sentence, pair in pairs.items()}


def _ordered(pair: str) -> str:
    found = re.fullmatch(r"\s*([a-d])\s+and\s+([a-d])\s*", pair, re.IGNORECASE)
    return " and ".join(sorted(letter.upper() for letter in found.groups())) if found else pair


CHOICES = ("A and B", "A and C", "A and D", "B and C", "B and D", "C and D")
EXERCISE = Prediction(
    file=__file__, oracle=oracle, draw=lambda seed: [Case("your five pairs", {}, "pairs")], choices=CHOICES, effect=in_the_alphabet
)
