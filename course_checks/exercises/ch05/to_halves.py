"""Exercise 05.8: the rows of a projection, from neighbouring pairs to halves. The oracle counts rows in a loop."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, randn, refusal


def to_halves(weight: Tensor, num_heads: int) -> Tensor:
    rows, d_model = weight.shape
    if rows % (2 * num_heads):
        raise ValueError(f"{rows} rows cannot be cut into {num_heads} heads of even width")
    pairs = weight.reshape(num_heads, -1, 2, d_model)  # (head, pair, 2, d_model)
    return pairs.transpose(1, 2).reshape(rows, d_model)


def oracle(weight: Tensor, num_heads: int) -> Tensor:
    width = len(weight) // num_heads
    starts = [(head * width, partner) for head in range(num_heads) for partner in (0, 1)]
    return torch.stack([weight[row] for start, partner in starts for row in range(start + partner, start + width, 2)])


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    heads, width, d = int(torch.randint(2, 5, (), generator=g)), 2 * int(torch.randint(3, 6, (), generator=g)), 14
    args = {"weight": randn(g, heads * width, d), "num_heads": heads}
    label = f"{heads} heads of width {width}, d_model = {d}"
    return [Case(label, args, shape="(heads · head_dim, d_model)", gradients=("weight",))]


def fixed() -> list[Case]:
    g = generator(5)
    return [
        Case("one head of width 8", {"weight": randn(g, 8, 6), "num_heads": 1}),
        Case("heads of width 2: nothing to move", {"weight": randn(g, 6, 4), "num_heads": 3}),
        refusal("3 heads of an odd width", {"weight": randn(g, 15, 8), "num_heads": 3}, "15", "3", part="refused"),
        refusal("14 rows for 4 heads", {"weight": randn(g, 14, 8), "num_heads": 4}, "14", "4", part="refused"),
    ]


EXERCISE = FunctionExercise(right=to_halves, oracle=oracle, draw=draw, fixed=fixed)
