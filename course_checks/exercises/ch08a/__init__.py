"""Exercises of chapter 08a, the encoder–decoder in training. Oracles: torch.nn, torch.nn.functional, loops in double precision."""

from ..common import in_order

EXERCISES = in_order(__name__, "cross_attention decoder_block tied_ends weights translation_loss smoothed_loss noam_rate train_translator")
