"""Exercise 00.7: which box of the machine did this? The oracle is a fixed table."""

from ..common import Case, Prediction

DID = {"A": "table", "B": "positions", "C": "attention", "D": "mask", "E": "feed-forward", "F": "output"}
EXERCISE = Prediction(oracle=lambda: dict(DID), draw=lambda seed: [Case("your six boxes", {})], choices=tuple(DID.values()))
