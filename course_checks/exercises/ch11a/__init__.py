"""Exercises of chapter 11a, GPT. Oracles: the incremental merger, loops over lists in double precision, modules on the meta device."""

from .choosing import CHOOSING
from .cutting import APPLY
from .losses import BUG
from .measuring import BITS
from .merges import LEARN
from .parts import PARTS
from .predict import PREDICT
from .sharing import SHARING
from .similarity import SIMILARITY
from .windows import WINDOWS

EXERCISES = (LEARN, APPLY, WINDOWS, PARTS, BUG, BITS, CHOOSING, SIMILARITY, PREDICT, SHARING)
