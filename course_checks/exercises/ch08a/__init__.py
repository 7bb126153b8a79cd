"""Exercises of chapter 08a, the encoder–decoder in training. Oracles: torch.nn, torch.nn.functional, loops in double precision."""

from . import cross_attention, decoder_block, noam_rate, smoothed_loss, tied_ends, train_translator, translation_loss, weights

EXERCISES = (
    cross_attention.EXERCISE,
    decoder_block.EXERCISE,
    tied_ends.EXERCISE,
    weights.EXERCISE,
    translation_loss.EXERCISE,
    smoothed_loss.EXERCISE,
    noam_rate.EXERCISE,
    train_translator.EXERCISE,
)
