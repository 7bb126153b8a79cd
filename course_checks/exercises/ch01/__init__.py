"""Exercises of chapter 01, kernel regression. Oracles are closed forms in NumPy or plain Python loops."""

from ..common import in_order

EXERCISES = in_order(
    __name__, "gaussian_weights nadaraya_watson limits dot_product_scores key_places learned_kernel what_would_show soft_lookup"
)
