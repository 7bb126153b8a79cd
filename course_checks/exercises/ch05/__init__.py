"""Exercises of chapter 05, positions. Oracles: loops and complex numbers in double precision, torch.nn.functional."""

from ..common import in_order

EXERCISES = in_order(__name__, "sinusoidal positional_encoding shift_matrix lengths embeddings biases rotate to_halves")
