"""Exercise 02.4: for every claim the change that could show it to be false. The oracle is a fixed table: it is reasoned, not measured."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "it is the choosing that helps, not seeing the source again": "even weights",
        "it helps to look, not to have more numbers to learn": "wider vector",
        "it learned to copy, it does not know numbers by heart": "new numbers",
        "the lead is no head start: it stays in longer training": "twice the steps",
        "it also does well when nobody tells it the right symbol before": "own symbols",
    }


CHOICES = tuple(oracle().values())
EXERCISE = Prediction(oracle=oracle, draw=lambda seed: [Case("your five words", {}, "controls")], choices=CHOICES)
