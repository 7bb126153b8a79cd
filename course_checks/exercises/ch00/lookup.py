"""Exercise 00.1: ids pick rows of a table. The oracle is PyTorch's own look-up."""

import torch
from torch import Tensor
from torch.nn import functional as F

from ..common import Case, FunctionExercise, generator, randn, sizes


def lookup(ids: Tensor, table: Tensor) -> Tensor:
    return table[ids]


def case(g: torch.Generator, words: int, d: int, ids: Tensor, label: str) -> Case:
    return Case(label, {"ids": ids, "table": randn(g, words, d)}, gradients=("table",), shape="(batch, token, feature)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    batch, n, d = sizes(g, 3)
    words = int(torch.randint(9, 13, (), generator=g))
    ids = torch.randint(words - 1, (batch, n), generator=g)
    ids[0, 0], ids[-1, -1] = 0, words - 1
    return [case(g, words, d, ids, f"{batch} sentences of {n} ids, {words} rows of {d} features")]


def fixed() -> list[Case]:
    g = generator(6)
    return [
        case(g, 7, 4, torch.tensor([[0, 1, 6], [2, 3, 0]]), "ids 0 to 6"),
        case(g, 5, 3, torch.tensor([[2, 2, 2, 4]]), "one sentence that repeats a token"),
        case(g, 9, 2, torch.tensor([[0], [5], [0]]), "sentences of one token, nine rows"),
    ]


EXERCISE = FunctionExercise(right=lookup, oracle=lambda ids, table: F.embedding(ids, table), draw=draw, fixed=fixed)
