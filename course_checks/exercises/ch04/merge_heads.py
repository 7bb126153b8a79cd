"""Exercise 04.3: heads side by side. The oracle concatenates them."""

import torch
from torch import Tensor

from course_utils.models import multihead

from ..common import Case, FunctionExercise, generator, randn, sizes


def merge_heads(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


def oracle(x: Tensor) -> Tensor:
    return torch.cat([x[:, head] for head in range(x.shape[1])], dim=-1)


def case(g: torch.Generator, batch: int, heads: int, n: int, width: int, label: str, part: str = "edges") -> Case:
    return Case(label, {"x": randn(g, batch, heads, n, width)}, part, gradients=("x",), shape="(batch, token, num_heads·d_v)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    batch, heads, n, width = sizes(g, 4)
    return [case(g, batch, heads, n, width, f"{batch} sequences, {heads} heads, {n} tokens, d_v = {width}", "values")]


EXERCISE = FunctionExercise(
    file=__file__,
    right=merge_heads,
    oracle=oracle,
    reference=multihead.merge_heads,
    draw=draw,
    fixed=lambda: [
        case(generator(1), 3, 2, 1, 4, "sequences of one token"),
        case(generator(2), 2, 1, 3, 5, "one head"),
        case(generator(3), 1, 4, 2, 3, "a batch of one"),
    ],
    forbidden=("course_utils.models.multihead.merge_heads",),
)
