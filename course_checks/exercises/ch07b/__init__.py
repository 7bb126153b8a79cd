"""Exercises of chapter 07b, norms and gates. Oracles: torch.nn.functional, closed forms, counts by hand."""

from .forward import COUNTS, SWIGLU
from .places import WHERE
from .queries import QK_NORM
from .rms import RMS_NORM

EXERCISES = (RMS_NORM, SWIGLU, COUNTS, WHERE, QK_NORM)
