"""Exercises of chapter 01, kernel regression. Oracles are closed forms in NumPy or plain Python loops."""

from ..common import in_order

EXERCISES = in_order(__name__, "gaussian_weights nadaraya_watson limits soft_lookup loo_error learned_kernel dot_product_scores")
