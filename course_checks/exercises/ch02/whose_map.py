"""Exercise 02.6: which map belongs to which model. The oracle is a fixed table; the chapter asserts that its maps look like that."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {"map A": "English words", "map B": "even weights", "map C": "German words", "map D": "telephone number"}


CHOICES = tuple(oracle().values())
EXERCISE = Prediction(oracle=oracle, draw=lambda seed: [Case("your four models", {}, "maps")], choices=CHOICES)
