"""Exercises of chapter 13b, attention, long, and back to kernels. Oracles: closed forms and loops in double precision, counted numbers."""

from . import causal_in_chunks, delta_memory, fourier_features, linear_step, memory, patches

MODULES = (fourier_features, linear_step, causal_in_chunks, delta_memory, memory, patches)
EXERCISES = tuple(module.EXERCISE for module in MODULES)
