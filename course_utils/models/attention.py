"""Scaled dot-product attention and single-head self-attention.

Tokens are rows, batch first. Masks are boolean, True = may attend, broadcastable to ``(…, query, key)``; a row
without any permitted key gives weights 0 and output 0, with finite gradients.
Source: Vaswani et al. 2017, section 3.2.1, equation 1.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .masks import causal_mask, combine


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the last axis among the permitted entries; a fully masked row becomes zeros, not NaN."""
    if mask is None:
        return torch.softmax(scores, dim=-1)
    mask = mask.expand(*mask.shape[:-1], scores.shape[-1])  # before any(): a mask of one number must not look like a row
    empty = ~mask.any(dim=-1, keepdim=True)
    # An empty row is opened for the softmax and emptied afterwards: -inf everywhere would make NaN gradients.
    scores = scores.masked_fill(~(mask | empty), -torch.inf)
    return torch.softmax(scores, dim=-1).masked_fill(empty, 0.0)


def check_widths(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> None:
    """Raise ValueError (TypeError for a mask that is not boolean), naming the numbers, when shapes cannot meet."""
    if min(query.dim(), key.dim(), value.dim()) < 2:
        raise ValueError(
            f"query, key and value need at least 2 axes, got shapes {tuple(query.shape)}, {tuple(key.shape)} and {tuple(value.shape)}"
        )
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query has width {query.shape[-1]} but key has width {key.shape[-1]}; the dot product needs the same")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"{key.shape[-2]} keys but {value.shape[-2]} values; every key needs one value")
    if mask is None:
        return
    if mask.dtype != torch.bool:
        raise TypeError(f"mask must be boolean (True = may attend), got {mask.dtype}")
    scores = (*torch.broadcast_shapes(query.shape[:-2], key.shape[:-2]), query.shape[-2], key.shape[-2])
    try:
        fits = torch.broadcast_shapes(mask.shape, scores) == scores
    except RuntimeError:
        fits = False
    if not fits:
        raise ValueError(f"a mask of shape {tuple(mask.shape)} does not broadcast to the scores, {scores}")


def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Attention with its weights: ``(…, n, d_k), (…, m, d_k), (…, m, d_v)`` -> ``(…, n, d_v)``, ``(…, n, m)``."""
    check_widths(query, key, value, mask)
    weights = masked_softmax(query @ key.mT / math.sqrt(query.shape[-1]), mask)
    return weights @ value, weights


def attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, dropout: float = 0.0, causal: bool = False, grouped: bool = False
) -> Tensor:
    """The same output by PyTorch's fused kernel, which never stores the weights; same mask policy.

    ``dropout`` drops weights with this probability (the caller passes 0 outside training). ``causal`` hides later keys, the n
    queries being the last of the m keys; where there is no other mask the kernel then skips half of the work. With ``grouped``
    several heads of queries (axis -3) share one head of keys and values, the first few the first one.
    """
    check_widths(query, key, value, mask)
    if query.dim() == key.dim() == value.dim() == 3:
        # PyTorch's CPU has no fused kernel without a head axis; with one, a training step of a layer with one head takes 2 to 5 % less
        # time (python benchmarks/path_speed.py --only axis; 13 to 19 % were measured on another processor).
        heads = mask[:, None] if mask is not None and mask.dim() == 3 else mask
        return attention(query[:, None], key[:, None], value[:, None], heads, dropout, causal)[:, 0]
    n, m = query.shape[-2], key.shape[-2]
    causal = causal and n > 1  # a single query is the last token and sees every key
    if causal and (mask is not None or n != m):
        mask, causal = combine(mask, causal_mask(n, m, query.device)), False
    if mask is None:
        return F.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=causal, enable_gqa=grouped)
    mask = mask.expand(*mask.shape[:-2], n, m)
    empty = ~mask.any(dim=-1, keepdim=True)  # opened for the kernel and emptied afterwards, as in masked_softmax
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=mask | empty, dropout_p=dropout, enable_gqa=grouped)
    return output.masked_fill(empty, 0.0)


class SelfAttention(nn.Module):
    """Single-head self-attention, projections without bias: ``(batch, n, d_model)`` and perhaps a mask -> ``(batch, n, d_v)``."""

    def __init__(self, d_model: int, d_k: int | None = None, d_v: int | None = None):
        super().__init__()
        d_k, d_v = d_model if d_k is None else d_k, d_model if d_v is None else d_v
        if min(d_model, d_k, d_v) < 1:
            raise ValueError(f"d_model={d_model}, d_k={d_k} and d_v={d_v} must be at least 1")
        self.w_q = nn.Linear(d_model, d_k, bias=False)
        self.w_k = nn.Linear(d_model, d_k, bias=False)
        self.w_v = nn.Linear(d_model, d_v, bias=False)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Output ``(batch, n, d_v)``."""
        return attention(self.w_q(x), self.w_k(x), self.w_v(x), mask)

    def weights(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Attention weights ``(batch, n, n)``, for looking at; the fused kernel does not keep them."""
        return scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x), mask)[1]
