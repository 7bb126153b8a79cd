"""Exercises of chapter 12a. Oracles: loops over tokens and pairs in double precision, models that are built and counted."""

from .blocks import BLOCKS
from .disentangled import SCORES
from .distil import DISTIL
from .electra import BUG
from .modern import MODERN
from .predict import PREDICT
from .spans import SPANS
from .step import STEP

EXERCISES = (PREDICT, BUG, DISTIL, STEP, SCORES, SPANS, BLOCKS, MODERN)  # in the order of the text
