"""Exercises of chapter 12a. Oracles: sums and loops over pairs in double precision, models that are built and counted."""

from . import block_mask, disentangled, distil, distillation_step, hide_spans, modern_block, prediction, replaced_loss

FIRST = (prediction, replaced_loss, distil, distillation_step, disentangled)
EXERCISES = tuple(module.EXERCISE for module in (*FIRST, hide_spans, block_mask, modern_block))
