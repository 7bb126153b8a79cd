"""Exercise 05.8: the rows of a projection, from neighbouring pairs to halves. The oracle counts rows in a loop."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn


def _oracle(weight: Tensor, num_heads: int) -> Tensor:
    """Row by row: where does the row of each pair, head by head, come from?"""
    rows = weight.shape[0]
    if rows % num_heads or rows // num_heads % 2:
        raise ValueError(f"{rows} rows cannot be cut into {num_heads} heads of even width")
    width = rows // num_heads
    source = []
    for head in range(num_heads):
        source += [head * width + c for c in range(0, width, 2)] + [head * width + c for c in range(1, width, 2)]
    return torch.stack([weight[row] for row in source])


def _halves(weight: Tensor, num_heads: int, how: str = "right") -> Tensor:
    rows, d = weight.shape
    if rows % num_heads or rows // num_heads % 2:
        raise ValueError(f"{rows} rows cannot be cut into {num_heads} heads of even width")
    if how == "one head":
        num_heads = 1
    if how == "columns":
        half = torch.arange(d).reshape(-1, 2) if d % 2 == 0 else torch.arange(d)[None]
        return weight[:, half.T.flatten()]
    width = rows // num_heads
    if how == "back":
        return weight.reshape(num_heads, 2, width // 2, d).transpose(1, 2).reshape(rows, d)
    if how == "untransposed":
        return weight.reshape(num_heads, 2, width // 2, d).reshape(rows, d)
    if how == "heads last":
        return weight.reshape(width // 2, 2, num_heads, d).permute(2, 1, 0, 3).reshape(rows, d)
    pairs = weight.reshape(num_heads, width // 2, 2, d)
    if how == "partners":
        pairs = pairs.flip(2)
    if how == "pair order":
        pairs = pairs.flip(1)
    return pairs.transpose(1, 2).reshape(rows, d)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    heads, width, d = int(torch.randint(2, 5, (), generator=g)), 2 * int(torch.randint(3, 6, (), generator=g)), 14
    return [Case(f"{heads} heads of width {width}, d_model = {d}", {"weight": randn(g, heads * width, d), "num_heads": heads},
                 shape="(heads · head_dim, d_model)", gradients=("weight",))]


def _fixed() -> list[Case]:
    g = generator(5)
    return [Case("one head of width 8", {"weight": randn(g, 8, 6), "num_heads": 1}),
            Case("heads of width 2: nothing to move", {"weight": randn(g, 6, 4), "num_heads": 3}),
            Case("3 heads of an odd width", {"weight": randn(g, 15, 8), "num_heads": 3}, part="refused", rejects=ValueError,
                 mentions=("15", "3")),
            Case("14 rows for 4 heads", {"weight": randn(g, 14, 8), "num_heads": 4}, part="refused", rejects=ValueError,
                 mentions=("14", "4"))]


CONVERTED = Exercise(
    id="05.8", title="From one convention to the other", name="to_halves", kind="function", stars=2, minutes=8,
    signature="to_halves(weight, num_heads) -> (heads · head_dim, d_model)", oracle=_oracle, reference=_halves, draw=_draw, fixed=_fixed,
    parts={"values": 2, "refused": 1},
    twins=(
        Twin("heads mixed", partial(_halves, how="one head"),
             "You reorder all rows at once, as if there were a single head. Each head has its own two halves: cut the rows into heads "
             "first."),
        Twin("from halves to neighbours", partial(_halves, how="back"),
             "You go the other way: you interleave two halves. Here you are given neighbours and have to make halves."),
        Twin("rows as they were", partial(_halves, how="untransposed"),
             "You cut the rows and join them again without moving anything, so every row is where it was. Swap two of the axes "
             "in between."),
        Twin("columns instead of rows", partial(_halves, how="columns"),
             "The columns belong to the input. RoPE makes pairs of the outputs of the projection, and each output is a row of the weight."),
        Twin("head axis cut last", partial(_halves, how="heads last"),
             "The rows of one head are next to each other, head after head. You read them as if each row belonged to the next head."),
        Twin("partners exchanged", partial(_halves, how="partners"),
             "The second partner of each pair went into the first half. Then every pair is turned in the opposite direction."),
        Twin("pairs in reverse order", partial(_halves, how="pair order"),
             "You reversed the order of the pairs. Pair 0 turns fastest and has to stay first in each half."),
    ),
)
