"""Exercises of chapter 05, positions. Oracles: loops and complex numbers in double precision, torch.nn.functional."""

from ..common import in_order

EXERCISES = in_order(__name__, "embeddings sinusoidal shift_matrix rotate alibi biases position_controls to_halves")
