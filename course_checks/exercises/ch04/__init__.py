"""Exercises of chapter 04, multi-head attention. Oracles: nn.MultiheadAttention, the fused kernel for each head, loops."""

from ..common import in_order

NAMES = "changes split_heads merge_heads multi_head_attention missing_step head_contributions twin_heads mask_for_pytorch"
EXERCISES = in_order(__name__, NAMES)
