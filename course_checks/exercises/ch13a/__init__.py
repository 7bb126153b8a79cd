"""Exercises of chapter 13a, attention, fast. Oracles: softmax and autograd in double precision, loops, counted numbers."""

from . import accept_or_repair, attention_in_blocks, block_gradients, growth, merge, to_few_bits

EXERCISES = tuple(module.EXERCISE for module in (merge, attention_in_blocks, block_gradients, growth, to_few_bits, accept_or_repair))
