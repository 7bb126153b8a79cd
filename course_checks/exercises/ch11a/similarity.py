"""Exercise 11a.8: GPT-1's similarity head. The oracle reads pair by pair."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, Registered, generator, integers, randn
from .callables import VOCAB, WIDTH, causal_reader


def similarity(read: Callable, a: Tensor, b: Tensor, start: int, delimiter: int, extract: int, weight: Tensor, bias: Tensor) -> Tensor:
    begin, middle, end = (torch.full((len(a), 1), token) for token in (start, delimiter, extract))

    def vector(one: Tensor, other: Tensor) -> Tensor:
        rows = torch.cat([begin, one, middle, other, end], dim=1)
        return read(rows)[:, -1]

    there, back = vector(a, b), vector(b, a)
    return (there + back) @ weight.T + bias


def oracle(read: Callable, a: Tensor, b: Tensor, start: int, delimiter: int, extract: int, weight: Tensor, bias: Tensor) -> Tensor:
    rows = []
    for one, other in zip(a.tolist(), b.tolist(), strict=True):
        ends = [causal_reader(torch.tensor([[start, *x, delimiter, *y, extract]]))[0, -1] for x, y in ((one, other), (other, one))]
        rows.append(weight @ (ends[0] + ends[1]) + bias)
    return torch.stack(rows)


def case(g: torch.Generator, label: str, sizes: tuple[int, ...], part: str, same: bool = False, read: str = "causal_reader") -> Case:
    batch, n, m, classes = sizes
    a, b = (integers(g, 0, VOCAB - 3, batch, size) for size in (n, m))
    args = {"read": Registered(read), "a": a, "b": a.clone() if same else b, "weight": randn(g, classes, WIDTH), "bias": randn(g, classes)}
    args |= {"start": VOCAB - 3, "delimiter": VOCAB - 2, "extract": VOCAB - 1}
    return Case(label, args, part, gradients=("weight", "bias"), shape="(batch, classes)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        case(g, "3 pairs of 4 and 5 tokens, 2 classes", (3, 4, 5, 2), "values"),
        case(g, "2 pairs of 7 and 4 tokens, 5 classes", (2, 7, 4, 5), "values"),
    ]


def fixed() -> list[Case]:
    g = generator(12)
    return [
        case(g, "a model that is to be trained as well", (2, 3, 5, 4), "values", read="trained_reader"),
        case(g, "one token each", (1, 1, 1, 2), "edges"),
        case(g, "a text compared with itself", (2, 3, 3, 4), "edges", same=True),
    ]


EXERCISE = FunctionExercise(right=similarity, oracle=oracle, draw=draw, fixed=fixed)
