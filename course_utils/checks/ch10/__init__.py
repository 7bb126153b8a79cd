"""Exercises of chapter 10, fine-tuning. Oracles: torch.nn modules on the meta device, loops, full enumeration."""

from .heads import CLASSIFIER, WEIGHTS
from .pooling import POOL
from .spans import SPAN, WINDOWS
from .tags import LABELS, SCORES

EXERCISES = (WEIGHTS, CLASSIFIER, POOL, LABELS, SCORES, SPAN, WINDOWS)
