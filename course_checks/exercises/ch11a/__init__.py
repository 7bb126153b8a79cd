"""Exercises of chapter 11a, GPT. Oracles: the incremental merger, loops over lists in double precision, modules on the meta device."""

from . import (
    apply_merges,
    bits_per_character,
    gpt,
    gpt_logits,
    learn_merges,
    mixing_share,
    next_probabilities,
    next_token_loss,
    similarity,
    windows,
)

FIRST = (learn_merges, apply_merges, windows, gpt_logits, next_token_loss)
EXERCISES = tuple(module.EXERCISE for module in (*FIRST, bits_per_character, next_probabilities, similarity, gpt, mixing_share))
