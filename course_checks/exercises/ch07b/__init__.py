"""Exercises of chapter 07b, norms and gates. Oracles: torch.nn.functional, closed forms."""

from ..common import in_order

EXERCISES = in_order(__name__, "fading deaths sublayer rms_norm swiglu today_block")
