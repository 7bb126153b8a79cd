"""Exercises of chapter 02, soft alignment. Oracles: torch.nn.RNN, autograd, loops in double precision, counting."""

from . import additive_attention, additive_scores, align_step, elman_rnn, prediction, receptive_field

EXERCISES = (
    elman_rnn.EXERCISE,
    additive_scores.EXERCISE,
    align_step.EXERCISE,
    additive_attention.EXERCISE,
    receptive_field.EXERCISE,
    prediction.EXERCISE,
)
