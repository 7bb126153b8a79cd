"""Exercise 00.3: every query times every key of its sentence. The oracle takes one pair after the other."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, randn, sizes


def all_scores(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(1, 2)


def oracle(query: Tensor, key: Tensor) -> Tensor:
    sentences = zip(query, key, strict=True)
    return torch.stack([torch.stack([torch.stack([(q * k).sum() for k in keys]) for q in queries]) for queries, keys in sentences])


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    batch, n, m, d = sizes(g, 4)
    args = {"query": randn(g, batch, n, d), "key": randn(g, batch, m, d)}
    return [Case(f"{batch} sentences, {n} queries, {m} keys, {d} features", args, gradients=("query", "key"), shape="(batch, query, key)")]


def fixed() -> list[Case]:
    g, shape = generator(3), "(batch, query, key)"
    return [
        Case("one sentence of one token", {"query": torch.ones(1, 1, 3), "key": torch.ones(1, 2, 3)}, shape=shape),
        Case("one sentence, more queries than keys", {"query": randn(g, 1, 6, 3), "key": randn(g, 1, 2, 3)}, shape=shape),
    ]


EXERCISE = FunctionExercise(right=all_scores, oracle=oracle, draw=draw, fixed=fixed)
