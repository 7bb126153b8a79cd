"""Exercises of chapter 10, fine-tuning. Oracles: torch.nn modules on the meta device, loops, full enumeration."""

from . import best_span, classifier, heads, low_rank, mean_pool, name_scores, piece_labels, windows

EXERCISES = tuple(module.EXERCISE for module in (heads, classifier, mean_pool, piece_labels, name_scores, best_span, windows, low_rank))
