"""Exercises of chapter 08a, the encoder–decoder in training. Oracles: torch.nn, torch.nn.functional, loops in double precision."""

from ..common import in_order

EXERCISES = in_order(__name__, "attentions decoder_block transformer pairs translation_loss translator_controls noam_rate weights")
