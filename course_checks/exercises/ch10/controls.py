"""Exercise 10.6: for every doubt the change that could show it to be false. The oracle is a fixed table; the chapter runs the changes."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "a Transformer of this shape needs no pre-training": "random body",
        "the labels do not matter": "labels shuffled",
        "the test is so easy that nobody has to read it": "words hidden",
        "the order of the words in the documents was needed": "documents shuffled",
        "only [CLS] can give the label": "full stop",
    }


CHOICES = tuple(oracle().values())
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your five words", {}, "changes")], choices=CHOICES)
