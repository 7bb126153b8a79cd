"""Exercise 05.4: rotary positions. The oracle multiplies complex numbers."""

import torch
from torch import Tensor

from course_utils.models.positions import rope

from ..common import Case, FunctionExercise, generator, integers, randn, sizes


def rotate(x: Tensor, positions: Tensor, base: float = 1e4) -> Tensor:
    width = x.shape[-1]
    omega = base ** (-torch.arange(0, width, 2) / width)
    angle = positions[:, None] * omega  # (n, pair)
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., 0::2], x[..., 1::2]  # (..., n, pair)
    first = a * cos - b * sin
    second = a * sin + b * cos
    return torch.stack([first, second], dim=-1).flatten(-2)


def oracle(x: Tensor, positions: Tensor, base: float = 1e4) -> Tensor:
    pairs = torch.complex(x[..., 0::2].double(), x[..., 1::2].double())
    omega = torch.tensor([base ** (-2 * i / x.shape[-1]) for i in range(x.shape[-1] // 2)], dtype=torch.float64)
    turned = pairs * torch.exp(1j * positions.double()[:, None] * omega)
    return torch.view_as_real(turned).flatten(-2).to(x.dtype)


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    batch, heads, n, half = sizes(g, 4, 2, 7)
    half = half if half > 2 else 7
    width = 2 * half  # larger than any of the others
    width += 2 * (width == n)
    plain = {"x": randn(g, n, width), "positions": torch.arange(n)}
    many = {"x": randn(g, batch, heads, n, width), "positions": integers(g, 3, 28, n), "base": 50.0}
    label = f"{batch} × {heads} heads, {n} tokens at scattered positions, base 50"
    return [
        Case(f"{n} tokens of width {width} at positions 0 to {n - 1}", plain, gradients=("x",), shape="(token, head_dim)"),
        Case(label, many, part="heads", gradients=("x",), shape="(batch, head, token, head_dim)"),
    ]


def fixed() -> list[Case]:
    one = {"x": torch.tensor([[1.0, 0.0, 0.5, -2.0]]), "positions": torch.tensor([7])}
    twice = {"x": torch.tensor([[1.0, 0.5], [0.2, -1.0], [2.0, 1.0]]), "positions": torch.tensor([9, 2, 9])}
    return [
        Case("one token at position 7", one, shape="(token, head_dim)"),
        Case("a single pair, positions in any order, one of them twice", twice, shape="(token, head_dim)"),
    ]


OURS = ("course_utils.models.positions.rope",)
EXERCISE = FunctionExercise(right=rotate, oracle=oracle, reference=rope, draw=draw, fixed=fixed, forbidden=OURS)
