"""Exercise 04.2: heads that are made of tokens instead of features. The oracle cuts the features with slices."""

import torch
from torch import Tensor

from course_utils.models.multihead import split_heads as reference

from ..common import Case, FunctionExercise, generator, randn, sizes


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    batch, n, d_model = x.shape
    heads = x.reshape(batch, n, num_heads, d_model // num_heads)
    return heads.transpose(1, 2)


def oracle(x: Tensor, num_heads: int) -> Tensor:
    width = x.shape[-1] // num_heads
    return torch.stack([x[..., head * width : (head + 1) * width] for head in range(num_heads)], dim=1)


def case(g: torch.Generator, batch: int, n: int, heads: int, width: int, label: str, part: str = "edges") -> Case:
    args = {"x": randn(g, batch, n, heads * width), "num_heads": heads}
    return Case(label, args, part, gradients=("x",), shape="(batch, head, token, head_dim)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    batch, n, heads, width = sizes(g, 4, 2, 6)
    return [case(g, batch, n, heads, width, f"{batch} sequences, {n} tokens, width {heads * width}, {heads} heads", "values")]


def fixed() -> list[Case]:
    return [
        case(generator(1), 3, 1, 2, 4, "sequences of one token"),
        case(generator(2), 2, 3, 1, 5, "one head"),
        case(generator(4), 1, 7, 2, 3, "a batch of one"),
        case(generator(3), 1, 4, 6, 1, "as many heads as features"),
    ]


OURS = ("course_utils.models.multihead.split_heads",)
EXERCISE = FunctionExercise(right=split_heads, oracle=oracle, reference=reference, draw=draw, fixed=fixed, forbidden=OURS)
