"""Exercises of chapter 06, masking. Oracles: loops over positions, perturbed inputs, the fused kernel, numbers that are run."""

from .bug import BUG
from .builder import BUILDER
from .fills import FILLS
from .leaks import LEAKS
from .mean import MEAN
from .rules import CAUSAL, WINDOW

EXERCISES = (CAUSAL, FILLS, BUILDER, MEAN, LEAKS, BUG, WINDOW)
