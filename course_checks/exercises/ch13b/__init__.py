"""Exercises of chapter 13b, attention, long, and back to kernels. Oracles: closed forms and loops in double precision, counted numbers."""

from .chunks import CHUNKS
from .delta import BUG
from .features import FEATURES
from .patches import PATCHES
from .predict import PREDICT
from .step import STEP

EXERCISES = (FEATURES, STEP, CHUNKS, BUG, PREDICT, PATCHES)
