"""Exercises of chapter 09, pre-training BERT. Oracles: searches over all pieces, one-hot products, loops, torch.nn, autograd."""

from ..common import in_order

EXERCISES = in_order(__name__, "split_word build_input input_embeddings mask_tokens masked_loss masked_token_head leaks pair_mask")
