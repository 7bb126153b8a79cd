"""Exercises of chapter 02, soft alignment. Oracles: torch.nn.RNN, autograd, loops in double precision, counting."""

from ..common import in_order

EXERCISES = in_order(__name__, "elman_rnn additive_scores align_step additive_attention receptive_field prediction")
