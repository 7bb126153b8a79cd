"""Exercise 08a.4: what a model learns from a wrong shift of its targets. The oracle is a fixed table."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    learned = (
        "continues, but cannot begin",
        "copies the word it reads",
        "continues, but never stops",
        "writes well",
        "names the word before",
    )
    return {f"pair {number}": what for number, what in enumerate(learned, start=1)}


CHOICES = tuple(oracle().values())
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your five answers", {}, "pairs")], choices=CHOICES)
