"""Exercises of chapter 06, masking. Oracles: loops over positions, perturbed inputs, the fused kernel, numbers that are run."""

from ..common import in_order

NAMES = "causal_mask controls decoder_mask mixups reads causal_attention fills masked_mean prefix_window_mask"
EXERCISES = in_order(__name__, NAMES)
