"""Exercises of chapter 05, positions. Oracles: loops and complex numbers in double precision, torch.nn.functional."""

from .added import EMBEDDINGS, LENGTHS
from .converted import CONVERTED
from .relative import BIASES, ROTATION
from .table import LISTING, SHIFT, TABLE

EXERCISES = (TABLE, LISTING, SHIFT, LENGTHS, EMBEDDINGS, BIASES, ROTATION, CONVERTED)
