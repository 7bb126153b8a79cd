"""Exercises of chapter 08b, decoding. Oracles: loops over lists, the fused kernel, exhaustive search, NumPy."""

from . import average_last, beam_search, bleu, cache_costs, cached_attention, decode_in_pieces, greedy_decode

EXERCISES = (
    greedy_decode.EXERCISE,
    cached_attention.EXERCISE,
    cache_costs.EXERCISE,
    decode_in_pieces.EXERCISE,
    beam_search.EXERCISE,
    average_last.EXERCISE,
    bleu.EXERCISE,
)
