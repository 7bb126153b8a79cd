"""Exercises of chapter 11c. Oracles: PyTorch's losses, autograd and Python's statistics, in double precision."""

from ..common import in_order

EXERCISES = in_order(__name__, "answer_log_prob preference_loss group_loss zero_loss decoder_block route preference_step")
