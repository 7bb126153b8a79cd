"""Exercises of chapter 11a, GPT. Oracles: the incremental merger, loops over lists in double precision, modules on the meta device."""

from ..common import in_order

EXERCISES = in_order(
    __name__,
    "learn_merges gpt_logits next_token_loss next_probabilities bits_per_character apply_merges windows similarity gpt mixing_share",
)
