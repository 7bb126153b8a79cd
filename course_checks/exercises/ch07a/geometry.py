"""Exercise 07a.2: what LayerNorm keeps of a token, and what it lets through of a gradient."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator
from ..common import fused_layer_norm, randn

WIDTH = 64
KEYS = ("length of the output", "length of the output, input times 3", "rank of the matrix of slopes",
        "sum of the gradient over the features", "gradient's size, input times 3")


@cache
def _measured() -> dict[str, float]:
    """Autograd's answers, in double precision."""
    g = generator(4)
    x, weight = randn(g, WIDTH).double() + 2, randn(g, WIDTH).double()

    def norm(t: Tensor) -> Tensor:
        return fused_layer_norm(t, (WIDTH,), eps=0.0)

    def gradient(t: Tensor) -> Tensor:
        t = t.clone().requires_grad_()
        return torch.autograd.grad((norm(t) * weight).sum(), t)[0]

    slopes = torch.autograd.functional.jacobian(norm, x)
    numbers = (norm(x).norm(), norm(3 * x).norm(), torch.linalg.matrix_rank(slopes, rtol=1e-9), gradient(x).sum(),
               gradient(3 * x).norm() / gradient(x).norm())
    return dict(zip(KEYS, (round(float(number), 9) for number in numbers), strict=True))


RIGHT = dict(zip(KEYS, (8, 8, 62, 0, 1 / 3), strict=True))


def _guess(place: int, number: float) -> dict[str, float]:
    return {**RIGHT, KEYS[place]: number}


GEOMETRY = Exercise(
    id="07a.2", title="Predict: what LayerNorm lets through", name="prediction_of_slopes", kind="value", stars=2, minutes=10,
    signature="prediction_of_slopes: dict of 5 numbers", oracle=_measured, reference=RIGHT, parts={"values": 2}, rtol=1e-3, atol=1e-3,
    draw=lambda seed: [Case("your five numbers", {})],
    twins=(
        Twin("squared length for length", _guess(0, 64), "The squares of the 64 features sum to 64. The length is the root of that sum."),
        Twin("output of length one", _guess(0, 1), "The variance is 1, which makes the mean of the squares 1. There are 64 squares."),
        Twin("length scales with the input", _guess(1, 24), "A token three times as long has a standard deviation three times as large. "
             "LayerNorm divides by that number."),
        Twin("squared length both times", {**RIGHT, KEYS[0]: 64, KEYS[1]: 64},
             "The squares of the 64 features sum to 64. The length is the root of that sum."),
        Twin("output of length one both times", {**RIGHT, KEYS[0]: 1, KEYS[1]: 1},
             "The variance is 1, which makes the mean of the squares 1. There are 64 squares."),
        Twin("full rank", _guess(2, 64), "Some changes of the input do not change the output: adding a constant, or stretching the centred "
             "token. Each of these directions lowers the rank by one."),
        Twin("one direction lost", _guess(2, 63), "Adding a constant does not move the output, and neither does stretching the centred "
             "token. Those are two directions."),
        Twin("rank one", _guess(2, 1), "Only two directions are lost. All others still move the output."),
        Twin("only two directions pass", _guess(2, 2), "Two is the number of directions that are lost. The others pass."),
        Twin("gradients sum to one", _guess(3, 1), "The sum of the gradient says how strongly the result changes when the same small "
             "number is added to all features. LayerNorm takes that number out again."),
        Twin("gradient three times larger", _guess(4, 3), "If the token is three times as long, it takes a step three times as large to "
             "change the output by the same amount."),
        Twin("gradient of the same size", _guess(4, 1), "The output is the same, but a step of one counts for less on a longer token."),
        Twin("gradient a ninth", _guess(4, 1 / 9), "The token is divided by its standard deviation once, "
             "so the slope shrinks by that factor only once."),
    ),
)
