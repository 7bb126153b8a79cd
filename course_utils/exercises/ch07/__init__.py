"""Exercises of chapter 07, the Transformer block. Oracles: torch.nn and torch.nn.functional, counts by hand."""

from .block import BLOCK
from .forward import COUNTS, SWIGLU
from .norms import LAYER_NORM, RMS_NORM
from .slices import FOUR
from .stack import STACK

EXERCISES = (LAYER_NORM, FOUR, RMS_NORM, SWIGLU, COUNTS, BLOCK, STACK)
