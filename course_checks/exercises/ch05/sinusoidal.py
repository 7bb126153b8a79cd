"""Exercise 05.2: the sinusoidal table. The oracle writes it entry by entry, with complex numbers."""

import cmath

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator


def sinusoidal(n: int, d_model: int, base: float = 1e4) -> Tensor:
    column = torch.arange(d_model).double()
    pair = column // 2
    exponent = 2 * pair / d_model
    position = torch.arange(n)[:, None]
    angle = position / base**exponent  # (n, d_model)
    table = torch.where(column % 2 == 0, angle.sin(), angle.cos())
    return table.float()


def oracle(n: int, d_model: int, base: float = 1e4) -> Tensor:
    """The formula of the paper: sine and cosine of a pair are the parts of one point on the circle."""
    table = torch.zeros(n, d_model)
    for position in range(n):
        for column in range(0, d_model, 2):
            point = cmath.exp(1j * position / base ** (column / d_model))
            table[position, column : column + 2] = torch.tensor([point.imag, point.real])
    return table


def case(label: str, n: int, d_model: int, part: str = "values", **base: float) -> Case:
    return Case(label, {"n": n, "d_model": d_model, **base}, part=part, shape="(position, d_model)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    n, half = (int(torch.randint(low, high, (), generator=g)) for low, high in ((7, 14), (3, 9)))
    base = 50.0 + 100 * torch.rand((), generator=g).item()
    plain = case(f"{n} positions, d_model = {2 * half}", n, 2 * half)
    return [plain, case(f"the same with base {base:.0f}", n, 2 * half, "base", base=base)]


def fixed() -> list[Case]:
    return [
        case("a single position", 1, 6),
        case("d_model = 2", 5, 2),
        case("300 positions", 300, 4),
        case("more columns than positions", 3, 34),
        case("the same with base 7", 3, 34, "base", base=7.0),
    ]


EXERCISE = FunctionExercise(
    right=sinusoidal, oracle=oracle, draw=draw, fixed=fixed, forbidden=("course_utils.models.positions.sinusoidal",)
)
