"""Exercise 04.1: for every claim the change that could show it to be false. The oracle is a fixed table; the chapter runs the changes."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "the reader was only unlucky": "another start",
        "it needs more time to learn": "twice the steps",
        "its one head is too narrow": "twice as wide",
        "two heads help by having more matrices": "same places",
        "one row of weights is never enough": "a network first",
    }


CHOICES = tuple(oracle().values())
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your five words", {}, "changes")], choices=CHOICES)
