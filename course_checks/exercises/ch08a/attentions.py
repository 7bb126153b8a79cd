"""Exercise 08a.1: which attention a map of weights belongs to. The oracle is a fixed table; the chapter computes the maps."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    which = ("decoder to encoder", "encoder to itself", "a mask is missing", "the wrong side asks", "decoder to itself")
    return {f"picture {number}": what for number, what in enumerate(which, start=1)}


CHOICES = tuple(oracle().values())
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your five answers", {}, "pictures")], choices=CHOICES)
