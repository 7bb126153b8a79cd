"""Exercises of chapter 13a, attention, fast. Oracles: softmax and autograd in double precision, loops, counted numbers."""

from .draft import DRAFT
from .gradients import BUG
from .growth import PREDICT
from .merge import MERGE
from .quantise import QUANTISE
from .rows import ROWS

EXERCISES = (MERGE, ROWS, BUG, PREDICT, QUANTISE, DRAFT)
