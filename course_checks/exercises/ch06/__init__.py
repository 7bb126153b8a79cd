"""Exercises of chapter 06, masking. Oracles: loops over positions, perturbed inputs, the fused kernel, numbers that are run."""

from . import causal_attention, causal_mask, decoder_mask, fills, masked_mean, prefix_window_mask, reads

EXERCISES = tuple(
    module.EXERCISE for module in (causal_mask, fills, decoder_mask, masked_mean, reads, causal_attention, prefix_window_mask)
)
