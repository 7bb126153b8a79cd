"""Exercises of chapter 00: one of every kind."""

from .boxes import BOXES
from .shapes import MEAN, SCORES, SHAPES
from .tokens import LOOKUP, PIECES, VISIBILITY

EXERCISES = (SHAPES, PIECES, LOOKUP, SCORES, MEAN, VISIBILITY, BOXES)
