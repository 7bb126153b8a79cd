"""When two results count as the same."""

import math
from typing import Any

import torch

from .exercise import Exercise


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


def labelled(value: Any, names: tuple[str, ...]) -> list[tuple[str, Any]]:
    """The entries of nested lists and tuples as ``flat`` gives them, each with what to call it: ``weights``, ``source[2]``."""
    if not isinstance(value, (list, tuple)):
        return [(names[0] if len(names) == 1 else "result", value)]
    named = len(names) == len(value) > 1
    return [
        (name + tail, leaf) for i, item in enumerate(value) for name, tail, leaf in _within(item, names[i] if named else f"result[{i}]")
    ]


def _within(value: Any, name: str) -> list[tuple[str, str, Any]]:
    if not isinstance(value, (list, tuple)):
        return [(name, "", value)]
    return [(name, f"[{i}]{tail}", leaf) for i, item in enumerate(value) for _, tail, leaf in _within(item, "")]


def nesting(value: Any) -> Any:
    """How many entries lie in which list: ``([a, b], [c])`` -> ``[2, 1]``; 1 for a single entry."""
    if not isinstance(value, (list, tuple)):
        return 1
    return [nesting(item) for item in value] if any(isinstance(item, (list, tuple)) for item in value) else len(value)


def plain(text: str) -> str:
    """Lower case, single spaces, n² and n^2 for n squared: how the words of a prediction are compared."""
    return " ".join(text.lower().replace("²", " squared").replace("^2", " squared").split())


def same_item(exercise: Exercise, got: Any, want: Any) -> bool:
    """Whether one entry of a result is what was expected, within the exercise's tolerance.

    The words of a prediction are compared without case and white space, texts that a function returns exactly. A number may be an int, a
    float or a tensor of one element.
    """
    if isinstance(want, torch.Tensor):
        if not isinstance(got, torch.Tensor) or got.shape != want.shape:
            return False
        if exercise.raw is not None:
            got, want = exercise.raw(got), exercise.raw(want)
        return close(got, want, exercise.rtol, exercise.atol)
    if isinstance(want, bool) and isinstance(got, torch.Tensor) and got.dtype is torch.bool and got.numel() == 1:
        got = got.item()
    if isinstance(want, str) and isinstance(got, str) and not exercise.runs:
        return plain(got) == plain(want)
    if isinstance(want, (bool, str, bytes)) or want is None:
        return type(got) is type(want) and got == want
    if isinstance(want, (int, float)):
        if isinstance(got, torch.Tensor):
            got = got.item() if got.numel() == 1 and got.dtype is not torch.bool else None
        if not isinstance(got, (int, float)) or isinstance(got, bool):
            return False
        return got == want or math.isfinite(want) and abs(float(got) - want) <= exercise.atol + exercise.rtol * abs(want)
    return got == want


def same(exercise: Exercise, got: Any, want: Any) -> bool:
    """Whether a whole result is what was expected."""
    if isinstance(want, dict):
        return isinstance(got, dict) and set(got) == set(want) and all(same(exercise, got[k], want[k]) for k in want)
    if isinstance(want, (list, tuple)):
        return (
            isinstance(got, (list, tuple)) and len(got) == len(want) and all(same(exercise, g, w) for g, w in zip(got, want, strict=True))
        )
    return same_item(exercise, got, want)
