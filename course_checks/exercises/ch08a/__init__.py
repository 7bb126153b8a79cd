"""Exercises of chapter 08a, the encoder–decoder in training. Oracles: torch.nn, torch.nn.functional, loops in double precision."""

from . import cross_attention, decoder_block, noam_rate, smoothed_loss, tied_ends, train_translator, translation_loss, weights

IN_ORDER = (cross_attention, decoder_block, tied_ends, weights, translation_loss, smoothed_loss, noam_rate, train_translator)
EXERCISES = tuple(module.EXERCISE for module in IN_ORDER)
