"""Exercises of chapter 08a, the encoder–decoder in training. Oracles: torch.nn, torch.nn.functional, loops in double precision."""

from ..common import in_order

EXERCISES = in_order(__name__, "decoder_block transformer translation_loss noam_rate weights")
