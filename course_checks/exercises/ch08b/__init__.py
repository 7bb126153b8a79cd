"""Exercises of chapter 08b, decoding. Oracles: loops over lists, the fused kernel, exhaustive search, NumPy."""

from .averaging import AVERAGING
from .beam import BEAM
from .bleu import BLEU
from .bug import BUG
from .cache import CACHE, PREDICT
from .greedy import GREEDY

EXERCISES = (GREEDY, CACHE, PREDICT, BUG, BEAM, AVERAGING, BLEU)
