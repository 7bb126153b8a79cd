"""Exercise 01.7: for every claim the change that could show it to be false. The oracle is a fixed table: it is reasoned, not measured."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "similar stretches have similar futures": "shuffled values",
        "the learned factors matter": "equal factors",
        "the blend matters, not the nearest stretch": "single best",
        "it must not see itself in training": "self allowed",
    }


DRAWN = [Case("your four words", {}, "controls")]
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: DRAWN, choices=tuple(oracle().values()))
