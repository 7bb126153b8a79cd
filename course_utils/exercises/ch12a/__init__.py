"""Exercises of chapter 12a. Oracles: loops over tokens and pairs in double precision, models that are built and counted."""

from .blocks import BLOCKS
from .disentangled import SCORES
from .distil import DISTIL
from .electra import BUG
from .pairs import PAIR
from .predict import PREDICT
from .spans import SPANS

EXERCISES = (BUG, DISTIL, SCORES, PREDICT, PAIR, SPANS, BLOCKS)
