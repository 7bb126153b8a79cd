"""Exercise 05.2: find the bug in a table that many people copied. The oracle is that of 05.1."""

import math

import torch
from torch import Tensor

from ..common import Case, FunctionExercise
from .sinusoidal import OURS, case, draw, oracle


def positional_encoding(n: int, d_model: int) -> Tensor:
    table = torch.zeros(n, d_model)
    for position in range(n):
        for column in range(d_model):
            wave = math.sin if column % 2 == 0 else math.cos
            pair = column // 2
            angle = position / 10000 ** (2 * pair / d_model)
            table[position, column] = wave(angle)
    return table


def fixed() -> list[Case]:
    edges = (("a single position", 1, 6), ("d_model = 2", 5, 2), ("more columns than positions", 3, 34), ("100 positions", 100, 6))
    return [case(*numbers) for numbers in edges]


EXERCISE = FunctionExercise(right=positional_encoding, oracle=oracle, draw=lambda seed: draw(seed)[:1], fixed=fixed, forbidden=OURS)
