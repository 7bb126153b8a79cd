"""Exercises of chapter 10, fine-tuning. Oracles: torch.nn modules on the meta device, loops, full enumeration."""

from .heads import CLASSIFIER, WEIGHTS
from .low_rank import CHANGE
from .names import SCORES
from .pooling import POOL
from .spans import SPAN
from .tags import LABELS
from .windows import WINDOWS

EXERCISES = (WEIGHTS, CLASSIFIER, POOL, LABELS, SCORES, SPAN, WINDOWS, CHANGE)
