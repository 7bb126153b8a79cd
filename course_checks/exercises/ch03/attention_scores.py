"""Exercise 03.1: scaled dot products of every query with every key. The oracle is an einsum."""

import math

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, randn, sizes


def attention_scores(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])


def oracle(query: Tensor, key: Tensor) -> Tensor:
    return torch.einsum("...id,...jd->...ij", query, key) * query.shape[-1] ** -0.5


def case(label: str, query: Tensor, key: Tensor, part: str = "values", shape: str = "(query, key)", **more) -> Case:
    return Case(label, {"query": query, "key": key}, part, shape=shape, **more)


def draw(seed: int) -> list[Case]:
    g, every, shape = generator(seed), ("query", "key"), "(batch, query, key)"
    batch, n, m, d = sizes(g, 4, 2, 9)
    d = {4: 10}.get(d, d)  # a width whose root is whole would hide a rounded one
    flat, many = (randn(g, n, d), randn(g, m, d)), (randn(g, batch, n, d), randn(g, batch, m, d))
    return [
        case(f"{n} queries and {m} keys of width {d}", *flat, gradients=every),
        case(f"a batch of {batch} such sequences", *many, "batches", shape, gradients=every),
    ]


def fixed() -> list[Case]:
    g = generator(4)
    return [
        case("5 queries and 2 keys", randn(g, 5, 3), randn(g, 2, 3)),
        case("one query, 6 keys of width 2", randn(g, 1, 2), randn(g, 6, 2)),
        case("a batch of one", randn(g, 1, 4, 3), randn(g, 1, 2, 3), "batches", "(batch, query, key)"),
        case("2 sequences with 3 heads", randn(g, 2, 3, 5, 7), randn(g, 2, 3, 4, 7), "batches", "(batch, head, query, key)"),
    ]


EXERCISE = FunctionExercise(file=__file__, right=attention_scores, oracle=oracle, draw=draw, fixed=fixed)
