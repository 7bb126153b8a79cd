"""Exercise 08b.5: for each claim about the junk, the change that could show it to be false. The oracle is a fixed table."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "the model was trained too little": "600 steps",
        "the wide beam overlooks probable sentences": "compare the sums",
        "error pages alone are enough": "one spelling",
        "many right spellings alone are enough": "no error pages",
        "the page wins only because it is short": "a long page",
    }


CHOICES = tuple(sorted(oracle().values()))
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your five words", {}, "changes")], choices=CHOICES)
