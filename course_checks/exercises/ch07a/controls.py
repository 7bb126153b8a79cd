"""Exercise 07a.2: for every claim about depth the change that could refute it. The oracle is a fixed table; the chapter runs all."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "the plain stack does learn, only slowly": "200 steps",
        "in the plain stack the letters fade until they are too faint": "branches kept at size 1",
        "with residuals alone all is well until the head reads it": "a norm at the end",
        "a deep sum needs a norm in every block": "branches divided by 8",
        "turning letters round takes many blocks": "one block",
    }


CHOICES = tuple(oracle().values())
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your five words", {}, "changes")], choices=CHOICES)
