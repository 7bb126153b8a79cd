"""Exercise 09.6: what each change leaves of the score. The oracle is a fixed table: four changes are run, one is recorded."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "mixed words": "a part",
        "untrained body": "a part",
        "no states": "by frequency",
        "wrong answers": "by frequency",
        "none kept": "as many",
    }


CHOICES = ("as many", "a part", "by frequency")
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your five words", {}, "controls")], choices=CHOICES)
