"""Exercises of chapter 09, pre-training BERT. Oracles: searches over all pieces, one-hot products, loops, torch.nn, autograd."""

from . import build_input, input_embeddings, leaks, mask_tokens, masked_loss, masked_token_head, pair_mask, split_word

IN_ORDER = (split_word, build_input, input_embeddings, mask_tokens, masked_loss, masked_token_head, leaks, pair_mask)
EXERCISES = tuple(module.EXERCISE for module in IN_ORDER)
