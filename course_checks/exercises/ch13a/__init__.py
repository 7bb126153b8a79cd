"""Exercises of chapter 13a, attention, fast. Oracles: softmax and autograd in double precision, loops, counted numbers."""

from ..common import in_order

EXERCISES = in_order(__name__, "merge attention_in_blocks block_gradients growth accept_or_repair to_few_bits")
