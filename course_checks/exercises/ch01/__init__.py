"""Exercises of chapter 01, kernel regression. Oracles are closed forms in NumPy or plain Python loops."""

from .bandwidth import DICTIONARY, LIMITS, LOO
from .learned import DOT, LEARNED
from .weights import PREDICTION, WEIGHTS

EXERCISES = (WEIGHTS, PREDICTION, LIMITS, DICTIONARY, LOO, LEARNED, DOT)
