"""Exercises of chapter 08b, decoding. Oracles: loops over lists, the fused kernel, exhaustive search, NumPy."""

from ..common import in_order

EXERCISES = in_order(__name__, "greedy_decode cached_attention tree beam_search junk decode_in_pieces bleu")
