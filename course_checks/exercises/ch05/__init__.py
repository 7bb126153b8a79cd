"""Exercises of chapter 05, positions. Oracles: loops and complex numbers in double precision, torch.nn.functional."""

from . import biases, embeddings, lengths, positional_encoding, rotate, shift_matrix, sinusoidal, to_halves

EXERCISES = tuple(
    module.EXERCISE for module in (sinusoidal, positional_encoding, shift_matrix, lengths, embeddings, biases, rotate, to_halves)
)
