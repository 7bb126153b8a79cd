"""Exercises of chapter 11b. Oracles: a least-squares solver, sorted lists, PyTorch's losses and autograd in double precision."""

from ..common import in_order

EXERCISES = in_order(
    __name__, "fit_power_law law_loss few_shot answer_log_prob preference_loss group_loss decoder_block route preference_step distinct"
)
