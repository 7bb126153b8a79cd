"""Exercise 06.2: for every claim the change that could show it to be false. The oracle is a fixed table; the chapter runs the changes."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "the first model knows its text by heart": "unseen text",
        "the text is easy, anything can guess it": "a table of counts",
        "it writes rubbish because letters are drawn": "the likeliest letter",
        "the first model reads the answers": "another answer",
        "the first model only needs more time": "400 steps",
    }


CHOICES = tuple(oracle().values())
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your five words", {}, "changes")], choices=CHOICES)
