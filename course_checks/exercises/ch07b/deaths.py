"""Exercise 07b.2: for every explanation the change that could show it to be false. The oracle is a table; the chapter runs the changes."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "it was one unlucky batch": "another start",
        "eight blocks are too deep for this text": "pre-norm",
        "the rate rose too steeply": "a slower rise",
        "it will recover, give it time": "twice as many steps",
        "post-norm with eight blocks cannot learn": "rate 0.001",
    }


CHOICES = tuple(oracle().values())
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your five words", {}, "changes")], choices=CHOICES)
