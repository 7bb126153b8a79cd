"""Exercises of chapter 03, self-attention. Oracles: torch.nn.functional, autograd, closed forms."""

from .attend import ATTENTION
from .layer import BUG, MODULE
from .order import ORDER
from .scores import JACOBIAN, SCORES, SPREAD

EXERCISES = (SCORES, ATTENTION, SPREAD, JACOBIAN, BUG, MODULE, ORDER)
