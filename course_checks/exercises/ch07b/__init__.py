"""Exercises of chapter 07b, norms and gates. Oracles: torch.nn.functional, closed forms, counts by hand."""

from . import qk_norm_attention, rms_norm, sizes, sublayer, swiglu

EXERCISES = (rms_norm.EXERCISE, swiglu.EXERCISE, sizes.EXERCISE, sublayer.EXERCISE, qk_norm_attention.EXERCISE)
