"""Exercise 11b.2: which two runs test a sentence. The oracle is a fixed table; the chapter shows the four losses."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "at the same number of steps, width pays": "A and B",
        "with the small budget, the wide model is the better buy": "A and D",
        "with the large budget, the wide model is the better buy": "B and C",
        "the narrow model has learned all it can after 1,000 steps": "A and C",
        "the wide model has learned all it can after 139 steps": "B and D",
    }


CHOICES = ("A and B", "A and C", "A and D", "B and C", "B and D", "C and D")
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your five pairs", {}, "pairs")], choices=CHOICES)
