"""Exercises of chapter 12a. Oracles: sums and loops over pairs in double precision, models that are built and counted."""

from ..common import in_order

EXERCISES = in_order(__name__, "prediction verdict shared replaced_loss distil disentangled hide_spans block_mask")
