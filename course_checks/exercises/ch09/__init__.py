"""Exercises of chapter 09, pre-training BERT. Oracles: searches over all splits, one-hot products, loops, torch.nn, autograd."""

from . import build_input, input_embeddings, mask_tokens, masked_loss, masked_token_head, pair_mask, prediction, split_word

EXERCISES = (
    split_word.EXERCISE,
    build_input.EXERCISE,
    input_embeddings.EXERCISE,
    mask_tokens.EXERCISE,
    masked_loss.EXERCISE,
    masked_token_head.EXERCISE,
    prediction.EXERCISE,
    pair_mask.EXERCISE,
)
