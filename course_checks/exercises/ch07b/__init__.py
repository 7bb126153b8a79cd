"""Exercises of chapter 07b, norms and gates. Oracles: torch.nn.functional, closed forms, counts by hand."""

from ..common import in_order

EXERCISES = in_order(__name__, "rms_norm swiglu sizes sublayer qk_norm_attention")
