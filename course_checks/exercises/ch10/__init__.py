"""Exercises of chapter 10, fine-tuning. Oracles: torch.nn modules on the meta device, loops, full enumeration, AdamW by hand."""

from ..common import in_order

EXERCISES = in_order(__name__, "heads classifier best_span low_rank fine_tune controls forms name_scores")
