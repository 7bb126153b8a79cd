"""What can be said about a wrong result from the numbers alone, when no misconception explains it."""

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
        found += _functions(got, expected, rtol, atol) or _sums(got, expected)
    found += _kind(got, expected, rtol, atol) or _coarse(got, expected)
    wrong = ~torch.isclose(got, expected, rtol=rtol, atol=atol, equal_nan=True)
    count = int(wrong.sum())
    if 0 < count < wrong.numel() and wrong.dim():
        found.append(f"{count} of {wrong.numel()} entries differ, {_place(wrong)}.")
    return found


def _kind(got: torch.Tensor, expected: torch.Tensor, rtol: float, atol: float) -> list[str]:
    """Whether decimals are cut off, the largest is chosen, or rows are scaled to length 1."""
    if not torch.isfinite(got).all() or not got.any() or torch.equal(expected, expected.round()):
        return []
    wrong = ~torch.isclose(got, expected, rtol=rtol, atol=atol)
    if torch.equal(got, got.round()) and (got[wrong] != 0).any():  # zeros alone may be places that nobody filled
        ones = got.dim() and ((got == 0) | (got == 1)).all() and (got.sum(-1) == 1).all()
        if ones and torch.equal(got.argmax(-1), expected.argmax(-1)):
            return ["Each of your rows is a single 1 among zeros: the largest is chosen, but shares are asked for."]
        if (got - expected).abs().max() < 1:
            return ["All your numbers are whole: something cuts the decimals off, such as `//`, `int` or whole-number tensors."]
    if got.dim() and got.shape[-1] > 1 and close(got, expected / expected.norm(dim=-1, keepdim=True), rtol, atol):
        return ["Each of your rows is the expected one scaled to length 1."]
    return []


def _coarse(got: torch.Tensor, expected: torch.Tensor) -> list[str]:
    """Whether the numbers agree, but only to two or three digits of the largest."""
    if not got.dim() or not torch.isfinite(got).all() or not 0 < (got - expected).abs().max() < 4e-3 * expected.abs().max():
        return []
    return ["The numbers are nearly right: something is rounded on the way, as in bfloat16, or a constant is slightly off."]


def _place(wrong: torch.Tensor) -> str:
    """Where the wrong entries lie, in words."""
    if wrong.dim() >= 2 and wrong.shape[-1] == wrong.shape[-2] > 1:
        square = wrong.flatten(0, -3).any(0) if wrong.dim() > 2 else wrong
        for part, words in (
            (square.tril(-1) | square.triu(1), "all of them on the diagonal"),
            (square.tril(), "all of them above the diagonal"),
            (square.triu(), "all of them below the diagonal"),
            (square.diagonal(), "none of them on the diagonal"),
        ):
            if not part.any():
                return words
    for axis, name in ((0, "in the first axis"), (-1, "in the last axis")):
        if wrong.dim() < 2 or wrong.shape[axis] < 2:
            continue
        which = wrong.transpose(0, axis).flatten(1).any(1)
        if int(which.sum()) == 1:
            return f"all of them at index {int(which.nonzero())} {name}"
        if int((~which).sum()) == 1 and len(which) > 2:
            return f"none of them at index {int((~which).nonzero())} {name}"
    return f"the first at index {wrong.nonzero()[0].tolist()}"


def _functions(got: torch.Tensor, expected: torch.Tensor, rtol: float, atol: float) -> list[str]:
    """Whether a logarithm or a softmax lies between the two, or a factor before the softmax."""
    if not torch.isfinite(got).all() or not torch.isfinite(expected).all():
        return []
    loose = 10 * rtol, 10 * atol
    if (expected > 0).all() and close(got, expected.log(), *loose):
        return ["Yours are the logarithms of the expected numbers."]
    if close(got.softmax(-1), expected, *loose):
        return ["The softmax of your rows is the expected result: it is missing at the end."]
    if (got > 0).all() and close(got.log(), expected, *loose):
        return ["The logarithm of your numbers is the expected result."]
    rows = torch.ones((), dtype=torch.float64)
    if all((p > 1e-12).all() and torch.allclose(p.sum(-1), rows, atol=1e-4) for p in (got, expected)):
        mine, wanted = (p.log() - p.log().mean(-1, keepdim=True) for p in (got, expected))
        if wanted.abs().max() > 1e-3:
            factor = ((mine * wanted).sum() / (wanted * wanted).sum()).item()
            if abs(factor - 1) > 1e-2 and close(mine, factor * wanted, 1e-2, 1e-3):
                return [f"The scores before your softmax are {factor:.4g}{_known(factor)} times the right ones."]
    return []


def _factor(got: torch.Tensor, expected: torch.Tensor, rtol: float, atol: float) -> list[str]:
    usable = expected.abs() > 1e-3
    if usable.sum() < 2 or not torch.isfinite(got).all() or not torch.isfinite(expected).all():
        return []
    factor = (got[usable] / expected[usable]).median().item()
    if abs(factor - 1) > 1e-3 and abs(factor) > 1e-6 and close(got, expected * factor, 10 * rtol, 10 * atol):
        if abs(factor + 1) < 1e-3:
            return ["Every number has the wrong sign."]
        return [f"Every number is {factor:.4g}{_known(factor)} times the expected one: a factor is missing, or there is one too many."]
    shift = (got - expected).median().item()
    if abs(shift) > 1e-3 and usable.sum() > 1 and close(got, expected + shift, 10 * rtol, 10 * atol):
        return [f"Every number is {shift:+.4g} away from the expected one: a constant is added or missing."]
    return []


def _whole(number: float) -> bool:
    return math.isclose(number, round(number), rel_tol=2e-3) and round(number) > 1


def _known(factor: float) -> str:
    """A simple number that the factor is near to: 1/5, √8, 1/√8."""
    if factor <= 0 or _whole(factor) or abs(factor - 1) < 0.1:
        return ""
    if _whole(1 / factor):
        return f" (about 1/{round(1 / factor)})"
    if _whole(factor**2):
        return f" (about √{round(factor**2)})"
    return f" (about 1/√{round(1 / factor**2)})" if _whole(1 / factor**2) else ""


def _sums(got: torch.Tensor, expected: torch.Tensor) -> list[str]:
    """Rows of weights that do not sum to 1."""
    if (expected < 0).any() or ((expected == 0) | (expected == 1)).all():  # no weights, or a table of zeros and ones
        return []
    one = torch.ones((), dtype=torch.float64)
    if not torch.allclose(expected.sum(-1), one, atol=1e-4) or torch.allclose(got.sum(-1), one, atol=1e-4):
        return []
    if got.dim() >= 2 and torch.allclose(got.sum(-2), one, atol=1e-4):
        return ["Your columns sum to 1, but the rows should: the normalisation runs along the wrong axis."]
    sums = got.sum(-1).flatten()
    off = int((~torch.isclose(sums, one, atol=1e-4)).nonzero()[0])
    row = f"row {off} of your result" if got.dim() > 1 else "yours"
    return [f"Each row should sum to 1; {row} sums to {sums[off].item():.4g}."]


def _shape_clues(got: torch.Tensor, expected: torch.Tensor, rtol: float, atol: float) -> list[str]:
    if got.dim() == expected.dim() >= 2 and got.mT.shape == expected.shape:
        same = close(got.mT, expected, rtol, atol)
        tail = "and the numbers are right once it is transposed." if same else "so two axes are swapped."
        return [f"Your result has the shape of the transpose, {tail}"]
    if not got.numel() or not expected.numel():
        return []
    if got.numel() == expected.numel():
        if not close(got.reshape(expected.shape), expected, rtol, atol):
            return ["Your result has the right number of entries, but in another arrangement."]
        if [n for n in got.shape if n > 1] == [n for n in expected.shape if n > 1]:
            return ["The numbers are right, only the shape is not: an axis of length 1 too many or too few."]
        return ["The numbers are right and in the right order; only the shape is not."]
    if got.dim() == expected.dim() and (found := _longer(got, expected, rtol, atol)):
        return found
    if got.dim() == expected.dim() + 1:
        for axis in range(got.dim()):
            for reduced, word in ((got.sum(axis), "summed"), (got.mean(axis), "averaged")):
                if reduced.shape == expected.shape and close(reduced, expected, rtol, atol):
                    return [f"{word.capitalize()} over axis {axis}, your result is the expected one."]
        return ["Your result has one axis more than the expected one."]
    if got.dim() == expected.dim() - 1:
        return ["Your result has one axis fewer than the expected one."]
    return []


def _longer(got: torch.Tensor, expected: torch.Tensor, rtol: float, atol: float) -> list[str]:
    """Whether entries are too many, or missing, at one end of an axis, and the others are right."""
    other = [axis for axis, (mine, wanted) in enumerate(zip(got.shape, expected.shape, strict=True)) if mine != wanted]
    axis, more = other[0], got.shape[other[0]] - expected.shape[other[0]]
    long, short = (got, expected) if more > 0 else (expected, got)
    for start, words in ((abs(more), "front"), (0, "end")) if len(other) == 1 else ():
        if close(long.narrow(axis, start, short.shape[axis]), short, rtol, atol):
            return [f"At the {words} of axis {axis} stand {abs(more)} too {'many' if more > 0 else 'few'}; the others are right."]
    return []
