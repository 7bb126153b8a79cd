"""Exercise 07b.5: the gated feed-forward layer. The oracle spells out SiLU, and every product by its indices."""

import torch
from torch import Tensor
from torch.nn import functional as F

from course_utils.models.feedforward import swiglu as reference

from ..common import Case, FunctionExercise, generator, randn


def swiglu(x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor) -> Tensor:
    gate = x @ w_gate
    up = x @ w_up
    hidden = F.silu(gate) * up
    return hidden @ w_down


def oracle(x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor) -> Tensor:
    gate = torch.einsum("...d,dr->...r", x, w_gate)
    up = torch.einsum("...d,dr->...r", x, w_up)
    return torch.einsum("...r,rd->...d", gate * torch.sigmoid(gate) * up, w_down)


def case(g: torch.Generator, label: str, *shape: int, width: int) -> Case:
    d = shape[-1]
    args = {"x": randn(g, *shape), "w_gate": 0.6 * randn(g, d, width), "w_up": 0.6 * randn(g, d, width), "w_down": 0.6 * randn(g, width, d)}
    return Case(label, args, gradients=tuple(args), shape="(…, d_model)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        case(g, "4 tokens, d_model = 6, width 9", 4, 6, width=9),
        case(g, "2 sequences of 3 tokens, d_model = 5, width 8", 2, 3, 5, width=8),
        case(g, "four axes", 2, 3, 4, 5, width=7),
        case(g, "one token", 1, 5, width=3),
    ]


def fixed() -> list[Case]:
    g = generator(2)
    args = {"x": 60 * randn(g, 4, 5), "w_gate": 2 * randn(g, 5, 7), "w_up": 0.002 * randn(g, 5, 7), "w_down": 0.01 * randn(g, 7, 5)}
    return [Case("gates of several hundred, of both signs", args, gradients=("x",), shape="(…, d_model)")]


OURS = ("course_utils.models.feedforward.swiglu",)
EXERCISE = FunctionExercise(right=swiglu, oracle=oracle, reference=reference, draw=draw, fixed=fixed, forbidden=OURS)
