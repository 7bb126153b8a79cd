"""Exercise 00b.7: for every claim the change that could show it to be false. The oracle is a fixed table: it is reasoned, not measured."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "it did not learn the words by heart": "held-out words",
        "changes along two ways have to be added": "overwrite",
        "nine of ten right shows that gradient descent was needed": "an opponent",
        "it knows more than the pieces of number words": "a new digit",
        "the border bends because units are cut off at 0": "nothing cut off",
    }


CHOICES = tuple(oracle().values())
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your five words", {}, "controls")], choices=CHOICES)
