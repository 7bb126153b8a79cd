"""Exercises of chapter 09, pre-training BERT. Oracles: searches over all pieces, one-hot products, loops, torch.nn, autograd."""

from ..common import in_order

EXERCISES = in_order(__name__, "leaks input_embeddings mask_tokens masked_token_head masked_loss controls split_word")
