"""Exercise 01.4: scores like those of a distance, without a distance. The oracle computes the distances."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, randn, sizes


def dot_product_scores(query: Tensor, keys: Tensor) -> Tensor:
    return query @ keys.T - 0.5 * keys.pow(2).sum(dim=-1)


def oracle(query: Tensor, keys: Tensor) -> Tensor:
    return -0.5 * torch.cdist(query.double(), keys.double()).pow(2).float()


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    m, n, d = sizes(g, 3)
    lengths = 0.3 + 1.5 * torch.rand(n, 1, generator=g)
    args = {"query": randn(g, m, d), "keys": lengths * randn(g, n, d)}
    return [Case(f"{m} queries, {n} keys of different length, {d} features", args, shape="(query, key)")]


def fixed() -> list[Case]:
    g = generator(2)
    long = {"query": randn(g, 6, 3), "keys": torch.tensor([[1.0], [20.0]]) * randn(g, 2, 3)}
    one = {"query": torch.tensor([[0.7]]), "keys": torch.tensor([[-1.0], [0.4], [2.0]])}
    return [
        Case("6 queries, 2 keys, one of them 20 times as long", long, shape="(query, key)"),
        Case("one query, one feature", one, shape="(query, key)"),
    ]


EXERCISE = FunctionExercise(
    right=dot_product_scores,
    oracle=oracle,
    draw=draw,
    fixed=fixed,
    raw=lambda s: torch.softmax(s.float(), -1),
    compared="compared after a softmax over the keys",
    forbidden=("torch.cdist", "torch.nn.functional.pairwise_distance", "torch.dist"),
    rtol=1e-3,
    atol=1e-4,
)
