"""Exercises of chapter 04, multi-head attention. Oracles: nn.MultiheadAttention, the fused kernel for each head, loops."""

from ..common import in_order

EXERCISES = in_order(__name__, "shapes split_heads merge_heads multi_head_attention mask_for_pytorch head_contributions twin_heads")
