"""Exercise 05.7: for every claim the change that could show it to be false. The oracle is a fixed table: it is reasoned, not measured."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "the layer sees only a set": "swap two words",
        "its scores depend on distances alone": "move everything",
        "zeros in unused buckets did the harm": "fill the numbers",
        "what ALiBi reaches up to letter 20 is its limit": "train longer",
        "it has a formula, so longer texts work too": "test longer",
    }


DRAWN = [Case("your five words", {}, "controls")]
EXERCISE = Prediction(oracle=oracle, draw=lambda seed: DRAWN, choices=tuple(oracle().values()))
