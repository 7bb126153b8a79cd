"""Exercise 09.6: for every claim about the gaps the change that could show it to be false. A fixed table: it is reasoned, not measured."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "it fills gaps from the order of the words": "mixed words",
        "it is the training of the body that helps": "untrained body",
        "the head needs what the body says": "no states",
        "it learns from the right answers": "wrong answers",
        "it names a word it sees, because some are kept": "none kept",
    }


CHOICES = tuple(oracle().values())
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your five changes", {}, "controls")], choices=CHOICES)
