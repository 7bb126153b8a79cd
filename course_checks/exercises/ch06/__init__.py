"""Exercises of chapter 06, masking. Oracles: loops over positions, perturbed inputs, the fused kernel, numbers that are run."""

from ..common import in_order

EXERCISES = in_order(__name__, "causal_mask fills decoder_mask masked_mean reads causal_attention prefix_window_mask")
