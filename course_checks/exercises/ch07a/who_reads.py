"""Exercise 07a.3: which map of who reads whom belongs to which part. The oracle is a fixed table; the chapter computes the maps."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "attention without a mask": "A",
        "the feed-forward network": "C",
        "LayerNorm": "C",
        "one mean and variance for all tokens": "A",
        "a block with a causal mask": "B",
        "two such blocks, one behind the other": "B",
    }


CHOICES = tuple("ABC")
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your six letters", {}, "maps")], choices=CHOICES)
