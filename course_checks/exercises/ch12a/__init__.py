"""Exercises of chapter 12a. Oracles: sums and loops over pairs in double precision, models that are built and counted."""

from ..common import in_order

EXERCISES = in_order(__name__, "prediction replaced_loss distil distillation_step disentangled hide_spans block_mask modern_block")
