"""Exercises of chapter 12b, XLNet. Oracles: sums over tables, PyTorch's own attention and cross-entropy, in doubles; measurements."""

from ..common import in_order

EXERCISES = in_order(__name__, "guessed_apart factors order_masks two_stream_attention partial_loss prediction")
