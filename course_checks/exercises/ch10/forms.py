"""Exercise 10.7: in which form does the body know what it knows? The oracle is a fixed table; the chapter asks the stored body."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "1: vera has a poodle . she owns a [MASK] .": "wrong",
        "2: vera has a poodle . vera lives in bath . she owns a [MASK] .": "right",
        "3: vera lives in bath . her home is [MASK] .": "wrong",
        "4: vera lives in bath . where is the home of vera ? [MASK] .": "right",
        "5: the soup was dismal . so they [MASK] it .": "right",
        "6: the soup was dismal . but they [MASK] it .": "wrong",
    }


EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your six words", {}, "forms")], choices=("right", "wrong"))
