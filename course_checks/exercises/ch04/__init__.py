"""Exercises of chapter 04, multi-head attention. Oracles: nn.MultiheadAttention, the fused kernel for each head, loops."""

from .axes import MERGE, SHAPES, SPLIT
from .layer import MODULE
from .masks import MASK
from .parts import PARTS
from .symmetry import SYMMETRY

EXERCISES = (SHAPES, SPLIT, MERGE, MODULE, MASK, PARTS, SYMMETRY)
