"""Attention in which several query heads share one key and value head, with rotary positions.

Tokens are rows, batch first. Sources: one shared head, Shazeer 2019; groups, Ainslie et al. 2023, section 2.2; rotation,
Su et al. 2021, section 3.2.2.
"""

import torch
from torch import Tensor, nn

from .attention import attention
from .multihead import KeyValueCache, head_dim, merge_heads, split_heads
from .positions import rope


class GroupedQueryAttention(nn.Module):
    """Self-attention, causal unless told otherwise, of ``num_heads`` query heads on ``num_kv_heads`` key and value heads.

    ``forward(x, cache=None)``: ``(batch, n, d_model)`` -> the same shape; ``causal=False`` shows every token all of them. As many
    key heads as query heads make it multi-head attention, one makes it multi-query attention. ``rope_base``: rotate queries and keys
    by position (None: do not).
    ValueError, with the numbers, for heads that cannot be shared out evenly.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        num_kv_heads: int | None = None,
        bias: bool = False,
        dropout: float = 0.0,
        rope_base: float | None = 10_000.0,
    ):
        super().__init__()
        self.head_dim = head_dim(d_model, num_heads)
        self.num_heads, self.num_kv_heads = num_heads, num_heads if num_kv_heads is None else num_kv_heads
        if not 0 < self.num_kv_heads <= num_heads or num_heads % self.num_kv_heads:
            raise ValueError(f"{num_heads} query heads cannot share {self.num_kv_heads} key heads evenly")
        if rope_base is not None and self.head_dim % 2:
            raise ValueError(f"heads of width {self.head_dim}: rotation needs pairs, so an even width")
        self.dropout, self.rope_base = dropout, rope_base
        self.w_qkv = nn.Linear(d_model, (num_heads + 2 * self.num_kv_heads) * self.head_dim, bias=bias)  # rows: queries, keys, values
        self.w_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x: Tensor, cache: KeyValueCache | None = None, causal: bool = True) -> Tensor:
        seen = 0 if cache is None else len(cache)
        q, k, v = self.w_qkv(x).split([heads * self.head_dim for heads in (self.num_heads, self.num_kv_heads, self.num_kv_heads)], -1)
        q, k, v = split_heads(q, self.num_heads), split_heads(k, self.num_kv_heads), split_heads(v, self.num_kv_heads)
        if self.rope_base is not None:
            positions = torch.arange(seen, seen + x.shape[1], device=x.device)
            q, k = (rope(part, positions, self.rope_base, halves=True) for part in (q, k))
        if cache is not None:
            k, v = cache.append(k, v)  # the cache holds num_kv_heads heads, not num_heads
        grouped = self.num_kv_heads < self.num_heads
        mixed = attention(q, k, v, dropout=self.dropout if self.training else 0.0, causal=causal, grouped=grouped)
        return self.w_o(merge_heads(mixed))
