"""Exercise 03.7: for every claim the change that could show it to be false. The oracle is a fixed table: it is reasoned, not measured."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "choosing helps, not mixing": "even weights",
        "“flies” learns from “fruit”": "another word",
        "the order of the words plays no part": "shuffled words",
        "queries and keys need two matrices": "one matrix",
        "it learned a rule, not the sentences": "new sentences",
    }


CHOICES = tuple(oracle().values())
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your five words", {}, "controls")], choices=CHOICES)
