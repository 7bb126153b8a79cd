"""Exercise 11c.4: what a loss of 0 does. The oracle is a fixed table; the chapter trains, and draws the loss beside its gradient."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "the loss at the first step": "zero",
        "the loss after fifty good steps": "zero",
        "a right answer beside wrong ones": "more probable",
        "a wrong answer beside right ones": "less probable",
        "a right answer beside seven right ones": "unchanged",
    }


CHOICES = ("zero", "below zero", "above zero", "more probable", "less probable", "unchanged")
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your five words", {}, "words")], choices=CHOICES)
