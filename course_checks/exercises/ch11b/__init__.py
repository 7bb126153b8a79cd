"""Exercises of chapter 11b. Oracles: a least-squares solver, sorted lists, PyTorch's losses and autograd in double precision."""

from . import (
    answer_log_prob,
    decoder_block,
    distinct,
    few_shot,
    fit_power_law,
    group_loss,
    law_loss,
    preference_loss,
    preference_step,
    route,
)

FIRST = (fit_power_law, law_loss, few_shot, answer_log_prob, preference_loss, group_loss)
EXERCISES = tuple(module.EXERCISE for module in (*FIRST, decoder_block, route, preference_step, distinct))
