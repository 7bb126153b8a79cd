"""Multi-head attention: several small attentions side by side, mixed by one output projection.

Tokens are rows, batch first. Masks are boolean, True = may attend. A query without any permitted key gets 0 from
every head, so its output is the bias of the output projection (0 without bias).
Source: Vaswani et al. 2017, section 3.2.2.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .attention import attention, scaled_dot_product_attention


def head_dim(d_model: int, num_heads: int) -> int:
    """Width of one head, ``d_model / num_heads``; ValueError, with both numbers, when that is not a whole number."""
    if num_heads < 1 or d_model < 1:
        raise ValueError(f"d_model={d_model} and num_heads={num_heads} must be at least 1")
    if d_model % num_heads:
        raise ValueError(f"d_model={d_model} is not divisible by num_heads={num_heads}")
    return d_model // num_heads


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Cut the features into heads: ``(…, n, d_model)`` -> ``(…, num_heads, n, head_dim)``."""
    return x.view(*x.shape[:-1], num_heads, head_dim(x.shape[-1], num_heads)).transpose(-3, -2)


def merge_heads(x: Tensor) -> Tensor:
    """Lay the heads of each token side by side: ``(…, num_heads, n, d_v)`` -> ``(…, n, num_heads·d_v)``."""
    return x.transpose(-3, -2).flatten(-2)


class KeyValueCache:
    """Keys and values of the tokens so far, ``(batch, num_heads, tokens, head_dim)``, of one attention layer."""

    def __init__(self) -> None:
        self.keys: Tensor | None = None
        self.values: Tensor | None = None

    def __len__(self) -> int:
        return 0 if self.keys is None else self.keys.shape[-2]

    def both(self) -> tuple[Tensor, Tensor]:
        """Keys and values; ValueError while there are none."""
        if self.keys is None or self.values is None:
            raise ValueError("the cache is empty")
        return self.keys, self.values

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Put new tokens behind the old ones; returns all of them. ValueError when the batch is another one."""
        if self.keys is not None and self.values is not None:
            if len(keys) != len(self.keys):
                raise ValueError(f"the cache holds {len(self.keys)} sentences, the new tokens belong to {len(keys)}")
            keys, values = torch.cat([self.keys, keys], dim=-2), torch.cat([self.values, values], dim=-2)
        self.keys, self.values = keys, values
        return keys, values

    def reorder(self, rows: Tensor) -> None:
        """Keep these rows of the batch, in this order: beams that go on, sentences that are not finished."""
        if self.keys is not None and self.values is not None:
            self.keys, self.values = self.keys[rows], self.values[rows]


class MultiHeadAttention(nn.Module):
    """Multi-head attention with ``head_dim = d_model / num_heads``; one matrix product makes all queries, keys and values.

    ``forward(query, key=None, value=None, mask=None)``: query ``(batch, n, d_model)``; key and value ``(batch, m, d_model)``.
    Without key it is self-attention, without value the values come from the key. Mask: broadcastable to
    ``(batch, n, m)``, the same for all heads, or four axes for ``(batch, num_heads, n, m)``. Returns ``(batch, n, d_model)``.
    ``dropout`` is the probability with which training drops an attention weight.
    With a ``cache`` self-attention appends the new tokens' keys and values to those kept and looks at all of them;
    cross-attention makes those of its memory once and keeps them.
    Raises ValueError, naming the numbers, for sizes that do not fit.
    """

    def __init__(self, d_model: int, num_heads: int, bias: bool = True, dropout: float = 0.0):
        super().__init__()
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout={dropout} must be at least 0 and below 1")
        self.head_dim = head_dim(d_model, num_heads)
        self.d_model, self.num_heads, self.dropout = d_model, num_heads, dropout
        self.w_qkv = nn.Linear(d_model, 3 * d_model, bias=bias)  # rows: queries of all heads, then keys, then values
        self.w_o = nn.Linear(d_model, d_model, bias=bias)
        for block in self.w_qkv.weight.detach().chunk(3):  # three square layers, not one flat one
            nn.init.xavier_uniform_(block)
        if bias:
            nn.init.zeros_(self.w_qkv.bias)
            nn.init.zeros_(self.w_o.bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
        causal: bool = False,
    ) -> Tensor:
        """Output ``(batch, n, d_model)``. ``causal``: no query sees a later key, the queries being the last of the keys."""
        if cache is not None and key is not None and len(cache):  # cross-attention whose memory is known
            q, (k, v) = self.project_query(query), cache.both()
        else:
            q, k, v = self.project(query, key, value)  # each (batch, num_heads, tokens, head_dim)
            if cache is not None:
                k, v = cache.append(k, v)
        dropout = self.dropout if self.training else 0.0
        return self.w_o(merge_heads(attention(q, k, v, self._for_heads(mask, q, k), dropout, causal)))

    def weights(self, query: Tensor, key: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        """Attention weights ``(batch, num_heads, n, m)``, for looking at; the fused kernel does not keep them."""
        q, k, v = self.project(query, key)
        return scaled_dot_product_attention(q, k, v, self._for_heads(mask, q, k))[1]

    def project(self, query: Tensor, key: Tensor | None = None, value: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of all heads, each ``(batch, num_heads, tokens, head_dim)``."""
        if key is None and value is not None:
            raise ValueError("got values without keys; pass key as well")
        for name, x in (("query", query), ("key", key), ("value", value)):
            if x is not None and (x.dim() != 3 or x.shape[-1] != self.d_model):
                raise ValueError(f"{name} has shape {tuple(x.shape)}; expected (batch, tokens, d_model={self.d_model})")
        if key is None:  # self-attention: one product for all three
            q, k, v = self.w_qkv(query).view(*query.shape[:2], 3, self.num_heads, self.head_dim).unbind(2)
            return q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        return self._part(0, query), self._part(1, key), self._part(2, key if value is None else value)

    def project_query(self, query: Tensor) -> Tensor:
        """Queries alone, ``(batch, num_heads, n, head_dim)``."""
        return self._part(0, query)

    def _part(self, number: int, x: Tensor) -> Tensor:
        """Queries (0), keys (1) or values (2) of all heads: x times a third of the rows of ``w_qkv``."""
        rows = slice(number * self.d_model, (number + 1) * self.d_model)
        bias = None if self.w_qkv.bias is None else self.w_qkv.bias[rows]
        return split_heads(F.linear(x, self.w_qkv.weight[rows], bias), self.num_heads)

    @staticmethod
    def _for_heads(mask: Tensor | None, q: Tensor, k: Tensor) -> Tensor | None:
        if mask is None:
            return None
        if mask.dim() == 3:
            mask = mask[:, None]  # the heads share it
        wanted = (*q.shape[:-1], k.shape[-2])
        if mask.dim() > 4 or any(m not in (1, w) for m, w in zip(mask.shape[::-1], wanted[::-1], strict=False)):
            raise ValueError(f"mask of shape {tuple(mask.shape)} does not fit (batch, num_heads, query, key) = {wanted}")
        return mask

    @classmethod
    def from_torch(cls, other: nn.MultiheadAttention) -> MultiHeadAttention:
        """A copy with our conventions. ValueError for other widths of key and value, and for extra tokens: this class has neither."""
        if not other._qkv_same_embed_dim:
            raise ValueError(f"key and value of widths {other.kdim} and {other.vdim} instead of {other.embed_dim} are not supported")
        if other.bias_k is not None or other.add_zero_attn:
            raise ValueError("add_bias_kv and add_zero_attn are not supported")
        copy = cls(other.embed_dim, other.num_heads, bias=other.in_proj_bias is not None, dropout=other.dropout)
        with torch.no_grad():
            copy.w_qkv.weight.copy_(other.in_proj_weight)
            copy.w_o.weight.copy_(other.out_proj.weight)
            if other.in_proj_bias is not None:
                copy.w_qkv.bias.copy_(other.in_proj_bias)
                copy.w_o.bias.copy_(other.out_proj.bias)
        return copy.to(other.in_proj_weight)
