"""Exercises of chapter 12b, XLNet. Oracles: loops over tables in double precision, PyTorch's own multi-head attention, measurements."""

from .diffusion import DIFFUSION
from .factors import FACTORS
from .layer import LAYER
from .loss import BUG
from .masks import MASKS
from .pairs import PAIRS
from .predict import PREDICT

EXERCISES = (PAIRS, FACTORS, MASKS, LAYER, BUG, PREDICT, DIFFUSION)
