"""Exercise 06.4: what went wrong with two masks, read from the weights. The oracle is a fixed table; the chapter computes the maps."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    wrong = ("rows of pads", "read as hide", "nothing", "added", "or")
    return {f"picture {number}": what for number, what in enumerate(wrong, start=1)}


CHOICES = tuple(oracle().values())
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your five words", {}, "pictures")], choices=CHOICES)
