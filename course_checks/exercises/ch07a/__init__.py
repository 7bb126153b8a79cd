"""Exercises of chapter 07a, the Transformer block. Oracles: torch.nn and torch.nn.functional, autograd."""

from . import encoder, encoder_block, layer_norm, normalise, slopes

EXERCISES = (layer_norm.EXERCISE, slopes.EXERCISE, normalise.EXERCISE, encoder_block.EXERCISE, encoder.EXERCISE)
