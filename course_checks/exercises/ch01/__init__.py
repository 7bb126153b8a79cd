"""Exercises of chapter 01, kernel regression. Oracles are closed forms in NumPy or plain Python loops."""

from . import dot_product_scores, gaussian_weights, learned_kernel, limits, loo_error, nadaraya_watson, soft_lookup

EXERCISES = (
    gaussian_weights.EXERCISE,
    nadaraya_watson.EXERCISE,
    limits.EXERCISE,
    soft_lookup.EXERCISE,
    loo_error.EXERCISE,
    learned_kernel.EXERCISE,
    dot_product_scores.EXERCISE,
)
