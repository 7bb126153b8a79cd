"""Exercises of chapter 02, soft alignment. Oracles: torch.nn.RNN, autograd, loops in double precision, counting."""

from .align import BUG, MODULE
from .reach import FIELD, GROWTH
from .scores import ELMAN, SCORES

EXERCISES = (ELMAN, SCORES, BUG, MODULE, FIELD, GROWTH)
