"""Exercise 00.7: the names of the boxes in the picture of the Transformer."""

from ..common import Case, Prediction

NAMES = {"A": "source", "B": "target", "C": "encoder", "D": "decoder", "E": "last encoder layer", "F": "self-attention", "G": "add & norm"}
NAMES |= {"H": "feed-forward", "I": "masked self-attention", "J": "attention to the encoder", "L": "values"}
EXERCISE = Prediction(oracle=lambda: dict(NAMES), draw=lambda seed: [Case("your eleven names", {})], choices=tuple(NAMES.values()))
