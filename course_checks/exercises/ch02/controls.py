"""Exercise 02.4: what each change leaves of the decoder's lead. The oracle is a fixed table: one change is run, the others are recorded."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "even weights": "nothing",
        "wider vector": "all",
        "new numbers": "all",
        "twice the steps": "all",
        "own symbols": "all",
        "three digits": "nothing",
    }


CHOICES = ("nothing", "half", "all")
EXERCISE = Prediction(oracle=oracle, draw=lambda seed: [Case("your six words", {}, "controls")], choices=CHOICES)
