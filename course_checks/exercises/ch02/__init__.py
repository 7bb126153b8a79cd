"""Exercises of chapter 02, soft alignment. Oracles: torch.nn.RNN, torch.nn.GRUCell, loops in double precision, counting."""

from ..common import in_order

EXERCISES = in_order(__name__, "elman_rnn additive_attention attention_decoder controls map_by_hand whose_map prediction")
