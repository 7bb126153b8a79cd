"""Masks: who may attend to whom.

Every mask here is boolean, True = may attend, and broadcasts to ``(batch, query, key)``: rows belong to queries,
columns to keys. Masks of three axes go into :mod:`.attention` and :mod:`.multihead` as they are (the heads share them);
for queries of four axes put the axis of the heads in with ``mask[:, None]``. A row without True is allowed: attention
gives such a query weights 0 and output 0.
Sources: Vaswani et al. 2017, section 3.2.3 (causal); Raffel et al. 2020, section 3.2.1 (prefix); Beltagy et al. 2020 (window).
"""

import torch
from torch import Tensor


def padding_mask(ids: Tensor, pad_id: int = 0) -> Tensor:
    """True where a key is a real token: ids ``(batch, m)`` -> ``(batch, 1, m)``. ValueError unless ids has two axes."""
    if ids.dim() != 2:
        raise ValueError(f"ids has shape {tuple(ids.shape)}; expected (batch, m)")
    return (ids != pad_id)[:, None, :]


def length_mask(lengths: Tensor, m: int | None = None) -> Tensor:
    """True for the first ``lengths[b]`` of m keys (None: of the longest): ``(batch,)`` -> ``(batch, 1, m)``. ValueError outside 0..m."""
    if lengths.dim() != 1 or not len(lengths):
        raise ValueError(f"lengths has shape {tuple(lengths.shape)}; expected (batch,) with at least one sentence")
    shortest, longest = int(lengths.min()), int(lengths.max())
    m = longest if m is None else m
    if shortest < 0 or longest > m:
        raise ValueError(f"lengths run from {shortest} to {longest}; they must lie between 0 and m={m}")
    return (torch.arange(m, device=lengths.device) < lengths[:, None])[:, None, :]


def _positions(n: int, m: int | None = None, device: torch.device | None = None) -> tuple[Tensor, Tensor]:
    """Positions of queries ``(n, 1)`` and keys ``(m,)``, when the n queries are the last n of the m keys (all without m)."""
    m = n if m is None else m
    if n < 0 or m < n:
        raise ValueError(f"n={n} queries cannot be the last of m={m} keys")
    keys = torch.arange(m, device=device)
    return keys[m - n :, None], keys


def causal_mask(n: int, m: int | None = None, device: torch.device | None = None) -> Tensor:
    """No query sees a later key: ``(n, m)``, the n queries being the last of m keys (m - n are cached). ValueError for m < n."""
    query, key = _positions(n, m, device)
    return key <= query


def prefix_mask(n: int, prefix: int | Tensor, m: int | None = None, device: torch.device | None = None) -> Tensor:
    """Causal, but all see the first ``prefix`` keys, a number or ``(batch,)``: ``(n, m)``, ``(batch, n, m)``. ValueError outside 0..m."""
    query, key = _positions(n, m, prefix.device if isinstance(prefix, Tensor) else device)
    lengths = torch.as_tensor(prefix, device=key.device)
    if lengths.dim() > 1 or not lengths.numel():
        raise ValueError(f"prefix has shape {tuple(lengths.shape)}; expected a number or (batch,)")
    if int(lengths.min()) < 0 or int(lengths.max()) > len(key):
        raise ValueError(f"prefix={lengths.tolist()} must lie between 0 and the number of keys, {len(key)}")
    return (key <= query) | (key < lengths[..., None, None])


def sliding_window_mask(n: int, window: int, m: int | None = None, causal: bool = True, device: torch.device | None = None) -> Tensor:
    """The query's own key and the ``window - 1`` before it, or as many on either side: ``(n, m)``. ValueError for window < 1."""
    if window < 1:
        raise ValueError(f"window={window} must be at least 1: a token sees itself")
    query, key = _positions(n, m, device)
    distance = query - key
    return (distance >= 0) & (distance < window) if causal else distance.abs() < window


def combine(*masks: Tensor | None) -> Tensor | None:
    """Logical AND with broadcasting; None permits everything. TypeError for what is not boolean, ValueError for shapes that do not fit."""
    result = None
    for mask in masks:
        if mask is None:
            continue
        if mask.dtype != torch.bool:
            raise TypeError(f"masks must be boolean (True = may attend), got {mask.dtype}")
        if result is not None:
            try:
                torch.broadcast_shapes(result.shape, mask.shape)
            except RuntimeError:
                raise ValueError(f"masks of shapes {tuple(result.shape)} and {tuple(mask.shape)} do not broadcast") from None
        result = mask if result is None else result & mask
    return result


def additive(mask: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """The same mask as numbers to add to scores: 0 where permitted, minus infinity where not."""
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(~mask, -torch.inf)
