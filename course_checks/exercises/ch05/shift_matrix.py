"""Exercise 05.3: the matrix that shifts. The oracle turns complex numbers, one unit vector after the other."""

import cmath
import math

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator


def shift_matrix(k: float, d_model: int, base: float = 1e4) -> Tensor:
    matrix = torch.zeros(d_model, d_model)
    # the columns c and c + 1 are one pair
    for c in range(0, d_model, 2):
        angle = k * base ** (-c / d_model)
        cos, sin = math.cos(angle), math.sin(angle)
        matrix[c : c + 2, c : c + 2] = torch.tensor([[cos, sin], [-sin, cos]])
    return matrix


def oracle(k: float, d_model: int, base: float = 1e4) -> Tensor:
    """Column c of the matrix is what the map does to the unit vector c: multiply cos + i sin by exp(i k ω)."""
    matrix = torch.zeros(d_model, d_model)
    for column in range(d_model):
        pair = column // 2
        turn = cmath.exp(1j * k * math.pow(base, -2 * pair / d_model))
        moved = (1j if column % 2 == 0 else 1) * turn  # the sine is the imaginary part
        matrix[2 * pair, column], matrix[2 * pair + 1, column] = moved.imag, moved.real
    return matrix


def case(k: int, d_model: int, after: str = "", **base: float) -> Case:
    label = f"a shift by {k}{after or f', d_model = {d_model}'}"
    return Case(label, {"k": k, "d_model": d_model, **base}, shape="(d_model, d_model)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    k, half = (int(torch.randint(low, high, (), generator=g)) for low, high in ((4, 10), (3, 9)))
    return [case(k, 2 * half), case(-k, 2 * half, " with base 100", base=100.0)]


FORBIDDEN = ("course_utils.models.positions.shift_matrix",)
EXERCISE = FunctionExercise(
    right=shift_matrix, oracle=oracle, draw=draw, fixed=lambda: [case(0, 6), case(-3, 2), case(5, 64)], forbidden=FORBIDDEN
)
