"""Exercises of chapter 07a, the Transformer block. Oracles: torch.nn and torch.nn.functional, autograd."""

from .block import BLOCK
from .geometry import GEOMETRY
from .layer_norm import LAYER_NORM
from .slices import FOUR
from .stack import STACK

EXERCISES = (LAYER_NORM, GEOMETRY, FOUR, BLOCK, STACK)
