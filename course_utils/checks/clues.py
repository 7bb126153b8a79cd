"""What can be said about a wrong result from the numbers alone, when no twin explains it."""

from __future__ import annotations

import math

import torch

from .compare import close


def clues(got: torch.Tensor, expected: torch.Tensor, rtol: float, atol: float) -> list[str]:
    """Sentences that say how ``got`` relates to ``expected`` (same shape or not); the best clue first."""
    got, expected = got.detach().double(), expected.detach().double()
    if got.shape != expected.shape:
        return _shape_clues(got, expected, rtol, atol)
    found: list[str] = []
    if got.dim() >= 2 and got.shape[-1] == got.shape[-2] and close(got.mT, expected, rtol, atol):
        return ["Your result is the transpose of the expected one: two axes are swapped."]
    found += _factor(got, expected, rtol, atol)
    if expected.dim() >= 1 and expected.shape[-1] > 1:
        found += _sums(got, expected)
    wrong = ~torch.isclose(got, expected, rtol=rtol, atol=atol, equal_nan=True)
    count = int(wrong.sum())
    if 0 < count < wrong.numel() and wrong.dim():
        where = wrong.nonzero()[0].tolist()
        found.append(f"{count} of {wrong.numel()} entries differ, the first at index {where}.")
    return found


def _factor(got: torch.Tensor, expected: torch.Tensor, rtol: float, atol: float) -> list[str]:
    usable = expected.abs() > 1e-3
    if usable.sum() < 2 or not torch.isfinite(got).all() or not torch.isfinite(expected).all():
        return []
    factor = (got[usable] / expected[usable]).median().item()
    if abs(factor - 1) > 1e-3 and abs(factor) > 1e-6 and close(got, expected * factor, 10 * rtol, 10 * atol):
        root = ""
        if factor > 1.2 and _whole(factor**2) and not _whole(factor):
            root = f" (about √{round(factor**2)})"
        elif 0 < factor < 0.9 and _whole(1 / factor**2):
            root = f" (about 1/√{round(1 / factor**2)})"
        if abs(factor + 1) < 1e-3:
            return ["Every number has the wrong sign."]
        return [f"Every number is {factor:.4g}{root} times the expected one: a constant factor is missing or too much."]
    shift = (got - expected).median().item()
    if abs(shift) > 1e-3 and usable.sum() > 1 and close(got, expected + shift, 10 * rtol, 10 * atol):
        return [f"Every number is {shift:+.4g} away from the expected one: a constant is added or missing."]
    return []


def _whole(number: float) -> bool:
    return math.isclose(number, round(number), rel_tol=2e-3) and round(number) > 1


def _sums(got: torch.Tensor, expected: torch.Tensor) -> list[str]:
    one = torch.ones((), dtype=torch.float64)
    if not torch.allclose(expected.sum(-1), one, atol=1e-4) or torch.allclose(got.sum(-1), one, atol=1e-4):
        return []
    if got.dim() >= 2 and torch.allclose(got.sum(-2), one, atol=1e-4):
        return ["Your columns sum to 1, the rows should: the normalisation runs along the wrong axis."]
    first = got.sum(-1).flatten()[0].item()
    return [f"Each row should sum to 1; your first row sums to {first:.4g}."]


def _shape_clues(got: torch.Tensor, expected: torch.Tensor, rtol: float, atol: float) -> list[str]:
    if got.dim() == expected.dim() >= 2 and got.mT.shape == expected.shape:
        same = close(got.mT, expected, rtol, atol)
        tail = "and the numbers are right once it is transposed." if same else "so two axes are swapped."
        return [f"Your result has the shape of the transpose, {tail}"]
    if got.numel() == expected.numel():
        if close(got.reshape(expected.shape), expected, rtol, atol):
            return ["The numbers are right, only the shape is not: an axis of length 1 too many or too few."]
        return ["It has the right number of entries in another arrangement."]
    if got.dim() == expected.dim() + 1:
        return ["It has one axis too many: something that should be summed or averaged over is still there."]
    if got.dim() == expected.dim() - 1:
        return ["It has one axis too few: something was summed or averaged over that should have stayed."]
    return []
