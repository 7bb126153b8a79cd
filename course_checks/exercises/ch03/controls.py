"""Exercise 03.7: for every claim the change that could show it to be false. The oracle is a fixed table: it is reasoned, not measured."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "choosing helps, not mixing": "even weights",
        "“mouse” needs “screen”": "hidden word",
        "it cannot tell “time flies” from “flies time”": "shuffled words",
        "asking and being found are two things": "one matrix",
        "it did not learn the sentences by heart": "new sentences",
    }


CHOICES = tuple(oracle().values())
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your five words", {}, "controls")], choices=CHOICES)
