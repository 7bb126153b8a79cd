"""Exercises of chapter 11a, GPT. Oracles: the incremental merger, loops over lists in double precision, modules on the meta device."""

from ..common import in_order

EXERCISES = in_order(
    __name__,
    "learn_merges apply_merges windows gpt_logits next_token_loss bits_per_character next_probabilities similarity gpt mixing_share",
)
