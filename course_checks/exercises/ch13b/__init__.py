"""Exercises of chapter 13b, attention, long, and back to kernels. Oracles: closed forms and loops in double precision, counted numbers."""

from ..common import in_order

EXERCISES = in_order(__name__, "square_features linear_step causal_in_chunks delta_memory memory patches")
