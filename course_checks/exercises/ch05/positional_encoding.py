"""Exercise 05.2: find the bug in a table that many people copied. The oracle is that of 05.1."""

import math

import torch
from torch import Tensor

from ..common import FunctionExercise
from .sinusoidal import case, draw, oracle


def positional_encoding(n: int, d_model: int) -> Tensor:
    table = torch.zeros(n, d_model)
    for position in range(n):
        for column in range(d_model):
            wave = math.sin if column % 2 == 0 else math.cos
            pair = column // 2
            angle = position / 10000 ** (2 * pair / d_model)
            table[position, column] = wave(angle)
    return table


EXERCISE = FunctionExercise(
    file=__file__,
    right=positional_encoding,
    oracle=oracle,
    draw=lambda seed: draw(seed)[:1],
    fixed=lambda: [
        case("a single position", 1, 6),
        case("d_model = 2", 5, 2),
        case("more columns than positions", 3, 34),
        case("100 positions", 100, 6),
    ],
    forbidden=("course_utils.models.positions.sinusoidal",),
)
