"""Exercises of chapter 00b, a first network. Oracles: loops in double precision, closed forms, PyTorch's own losses and optimisers."""

from .loop import LOOP
from .model import REGRESSION
from .optimisers import OPTIMISERS
from .probabilities import CROSS_ENTROPY, SOFTMAX
from .shapes import SQUARED

EXERCISES = (SQUARED, SOFTMAX, CROSS_ENTROPY, REGRESSION, LOOP, OPTIMISERS)
