"""Exercise 08a.6: for every claim the change that could show it to be false. The oracle is a fixed table; the chapter runs the changes."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "a low loss on new numbers proves that a model translates": "no causal mask",
        "the decoder could do it without the source": "memory of zeros",
        "looking up each word is enough": "a dictionary",
        "the order of the English words does not matter": "shuffled words",
        "it has learned the numbers of the training by heart": "new numbers",
    }


CHOICES = tuple(oracle().values())
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your five changes", {}, "changes")], choices=CHOICES)
