"""Exercises of chapter 08b, decoding. Oracles: loops over lists, the fused kernel, exhaustive search, NumPy."""

from . import average_last, beam_search, bleu, cache_costs, cached_attention, decode_in_pieces, greedy_decode

IN_ORDER = (greedy_decode, cached_attention, cache_costs, decode_in_pieces, beam_search, average_last, bleu)
EXERCISES = tuple(module.EXERCISE for module in IN_ORDER)
