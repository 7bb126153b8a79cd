"""Kernel regression as attention. Points are rows; a tensor of one axis holds n points with one feature."""

import torch
from torch import Tensor


def as_points(points: Tensor, name: str = "points") -> Tensor:
    """``(n,)`` or ``(n, d)`` -> ``(n, d)``; raises ValueError when empty, NaN or of another rank."""
    if points.dim() == 1:
        points = points.unsqueeze(-1)
    if points.dim() != 2:
        raise ValueError(f"{name} must have 1 or 2 axes, got shape {tuple(points.shape)}")
    if points.shape[0] == 0:
        raise ValueError(f"{name} is empty: shape {tuple(points.shape)}")
    bad = int((~torch.isfinite(points)).sum())
    if bad:
        raise ValueError(f"{name} holds {bad} NaN or infinite numbers among {points.numel()}")
    return points


def squared_distances(query: Tensor, keys: Tensor) -> Tensor:
    """Squared Euclidean distances, ``(n, d)`` and ``(m, d)`` -> ``(n, m)``."""
    query, keys = as_points(query, "query"), as_points(keys, "keys")
    if query.shape[1] != keys.shape[1]:
        raise ValueError(f"query has {query.shape[1]} features but keys have {keys.shape[1]}")
    return (query[:, None, :] - keys[None, :, :]).pow(2).sum(-1)


def check_values(keys: Tensor, values: Tensor) -> None:
    """Raise ValueError, with the numbers, unless there is one finite value, or row of values, for every key."""
    if values.dim() == 0 or values.shape[0] != keys.shape[0]:
        raise ValueError(f"{keys.shape[0]} keys but {values.shape[0] if values.dim() else 0} values")
    as_points(values, "values")


def without_self(scores: Tensor) -> Tensor:
    """Forbid every point its own key: minus infinity on the diagonal. Raises ValueError unless ``(n, n)`` with n > 1."""
    if scores.shape[0] != scores.shape[1] or scores.shape[0] < 2:
        raise ValueError(f"leaving the point itself out needs as many queries as keys and at least 2, got {tuple(scores.shape)}")
    return scores.masked_fill(torch.eye(len(scores), dtype=torch.bool, device=scores.device), -torch.inf)


def gaussian_scores(query: Tensor, keys: Tensor, bandwidth: float, exclude_self: bool = False) -> Tensor:
    """``-distance² / (2 bandwidth²)``, ``(n, m)``, each row shifted so that its largest entry is 0 (nothing overflows)."""
    if not 0 < bandwidth < float("inf"):
        raise ValueError(f"bandwidth must be positive and finite, got {bandwidth}")
    scores = -squared_distances(query.double(), keys.double())  # float32 overflows beyond 1e19
    scores = without_self(scores) if exclude_self else scores
    scores = scores - scores.max(dim=-1, keepdim=True).values
    return scores / bandwidth / bandwidth / 2


def gaussian_weights(query: Tensor, keys: Tensor, bandwidth: float) -> Tensor:
    """Nadaraya-Watson weights of a Gaussian kernel, ``(n, m)``, each row summing to 1.

    Written as the softmax of ``-distance² / (2 bandwidth²)``, which stays finite for a query far from every key.
    Raises ValueError for ``bandwidth <= 0``. Source: Nadaraya 1964, Watson 1964.
    """
    return torch.softmax(gaussian_scores(query, keys, bandwidth), dim=-1).to(query.dtype)


def nadaraya_watson(query: Tensor, keys: Tensor, values: Tensor, bandwidth: float) -> Tensor:
    """Weighted mean of ``values``, ``(m,)`` or ``(m, d_v)``, at every query: ``(n,)`` or ``(n, d_v)``."""
    check_values(keys, values)
    return gaussian_weights(query, keys, bandwidth) @ values


def leave_one_out(keys: Tensor, values: Tensor, bandwidth: float) -> Tensor:
    """Prediction at every key from all the *other* points, ``(m,)``; raises ValueError for fewer than two points."""
    check_values(keys, values)
    weights = torch.softmax(gaussian_scores(keys, keys, bandwidth, exclude_self=True), dim=-1)
    return weights.to(values.dtype) @ values
