"""Exercises of chapter 12b, XLNet. Oracles: sums over tables, PyTorch's own attention and cross-entropy, in doubles; measurements."""

from . import diffusion_loss, factors, guessed_apart, order_masks, partial_loss, prediction, two_stream_attention

FIRST = (guessed_apart, factors, order_masks, two_stream_attention)
EXERCISES = tuple(module.EXERCISE for module in (*FIRST, partial_loss, prediction, diffusion_loss))
