"""Exercises of chapter 08a, the encoder–decoder in training. Oracles: torch.nn, torch.nn.functional, loops in double precision."""

from .block import BLOCK
from .counts import COUNTS
from .cross import CROSS
from .ends import ENDS
from .loop import TRAINING
from .losses import LOSS, SMOOTHING
from .rates import RATES

EXERCISES = (CROSS, BLOCK, ENDS, COUNTS, LOSS, SMOOTHING, RATES, TRAINING)
