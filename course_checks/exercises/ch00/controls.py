"""Exercise 00.6: for every claim the change that could show it to be false. The oracle is a fixed table: it is reasoned, not measured."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "a row of the table does not know its neighbours": "table",
        "no token sees a later one": "last",
        "the last token has seen the first": "first",
    }


EXERCISE = Prediction(
    oracle=oracle, draw=lambda seed: [Case("your three words", {}, "controls")], choices=("twice", "table", "first", "last")
)
