"""Exercises of chapter 11a, GPT. Oracles: the incremental merger, loops over lists in double precision, modules on the meta device."""

from .choosing import CHOOSING
from .losses import BUG
from .merges import APPLY, LEARN
from .predict import PREDICT
from .similarity import SIMILARITY
from .windows import WINDOWS

EXERCISES = (LEARN, APPLY, WINDOWS, BUG, CHOOSING, PREDICT, SIMILARITY)
