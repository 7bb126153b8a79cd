"""Exercises of chapter 04, multi-head attention. Oracles: nn.MultiheadAttention, the fused kernel for each head, loops."""

from . import head_contributions, mask_for_pytorch, merge_heads, multi_head_attention, shapes, split_heads, twin_heads

EXERCISES = (
    shapes.EXERCISE,
    split_heads.EXERCISE,
    merge_heads.EXERCISE,
    multi_head_attention.EXERCISE,
    mask_for_pytorch.EXERCISE,
    head_contributions.EXERCISE,
    twin_heads.EXERCISE,
)
