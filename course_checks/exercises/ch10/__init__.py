"""Exercises of chapter 10, fine-tuning. Oracles: torch.nn modules on the meta device, loops, full enumeration."""

from ..common import in_order

EXERCISES = in_order(__name__, "heads classifier mean_pool piece_labels name_scores best_span windows low_rank")
