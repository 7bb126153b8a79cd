"""Exercise 07b.1: which stack fades along which curve. The oracle is a fixed table; the chapter measures the curves."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    which = ("pre, one step", "post, untrained", "post, one step", "pre, untrained")
    return {f"curve {name}": what for name, what in zip("ABCD", which, strict=True)}


CHOICES = tuple(oracle().values())
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your four words", {}, "curves")], choices=CHOICES)
