"""Exercise 04.5: which step is missing, read from a map of who hears whom. The oracle is a fixed table; the chapter computes the maps."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    missing = ("the swap back", "the mask", "both swaps", "nothing", "the mixing")
    return {f"picture {number}": step for number, step in enumerate(missing, start=1)}


CHOICES = tuple(oracle().values())
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your five words", {}, "pictures")], choices=CHOICES)
