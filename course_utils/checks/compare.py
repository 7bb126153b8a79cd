"""When two results count as the same."""

from __future__ import annotations

from typing import Any

import torch

from .exercise import Exercise
from .sentences import plain


def close(left: torch.Tensor, right: torch.Tensor, rtol: float, atol: float) -> bool:
    """Equal within tolerance, NaN equal to NaN, whatever the dtypes."""
    if left.shape != right.shape:
        return False
    return torch.allclose(left.double(), right.double(), rtol=rtol, atol=atol, equal_nan=True)


def flat(value: Any) -> list[Any]:
    """The entries of nested lists and tuples, in order."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flat(item)]
    return [value]


def same_item(exercise: Exercise, got: Any, want: Any) -> bool:
    """Whether one entry of a result is what was expected, within the exercise's tolerance."""
    if isinstance(want, torch.Tensor):
        if not isinstance(got, torch.Tensor) or got.shape != want.shape:
            return False
        if exercise.raw is not None:
            got, want = exercise.raw(got), exercise.raw(want)
        return close(got, want, exercise.rtol, exercise.atol)
    if isinstance(want, bool) or isinstance(want, (str, bytes)) or want is None:
        return type(got) is type(want) and _text(got) == _text(want)
    if isinstance(want, (int, float)):
        if isinstance(got, torch.Tensor):
            got = got.item() if got.numel() == 1 else None
        return isinstance(got, (int, float)) and not isinstance(got, bool) and bool(
            abs(float(got) - want) <= exercise.atol + exercise.rtol * abs(want))
    return got == want


def _text(value: Any) -> Any:
    return plain(value) if isinstance(value, str) else value


def same(exercise: Exercise, got: Any, want: Any) -> bool:
    """Whether a whole result is what was expected."""
    if isinstance(want, dict):
        return isinstance(got, dict) and set(got) == set(want) and all(same(exercise, got[k], want[k]) for k in want)
    if isinstance(want, (list, tuple)):
        return isinstance(got, (list, tuple)) and len(got) == len(want) and all(
            same(exercise, g, w) for g, w in zip(got, want, strict=True))
    return same_item(exercise, got, want)
