"""Exercise 07a.2: for every claim about depth the change that could refute it. The oracle is a fixed table; the chapter runs all."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "without both parts, the training was only too short": "240 steps",
        "without both parts, the first weights are only too small": "larger first weights",
        "residual alone: only what the head reads is too large": "a norm at the end",
        "nothing but norms can keep a deep sum in bounds": "branches divided by 8",
        "this task needs a deep stack": "one block",
    }


CHOICES = tuple(oracle().values())
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your five words", {}, "changes")], choices=CHOICES)
