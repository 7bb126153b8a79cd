"""Exercise 12a.6: DeBERTa's scores. The oracle looks up every pair of tokens by itself, in double precision."""

import math

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, arguments, generator, randn


def disentangled(query: Tensor, key: Tensor, far_query: Tensor, far_key: Tensor, largest: int) -> Tensor:
    n, d = query.shape[1:]
    place = torch.arange(n)
    distance = place[:, None] - place
    row = (distance + largest).clamp(0, 2 * largest - 1)
    row = row.expand(len(query), n, n)
    content = query @ key.mT
    to_place = (query @ far_key.mT).gather(-1, row)
    from_place = (key @ far_query.mT).gather(-1, row).mT
    return (content + to_place + from_place) / math.sqrt(3 * d)


def oracle(query: Tensor, key: Tensor, far_query: Tensor, far_key: Tensor, largest: int) -> Tensor:
    q, k, far_q, far_k = (x.double() for x in (query, key, far_query, far_key))
    n, d = q.shape[1:]

    def row(a: int, b: int) -> int:
        return 0 if a - b <= -largest else 2 * largest - 1 if a - b >= largest else a - b + largest

    there = far_k[torch.tensor([[row(i, j) for j in range(n)] for i in range(n)])]  # (i, j, d)
    back = far_q[torch.tensor([[row(j, i) for j in range(n)] for i in range(n)])]
    scores = torch.einsum("bid,bjd->bij", q, k) + torch.einsum("bid,ijd->bij", q, there) + torch.einsum("bjd,ijd->bij", k, back)
    return (scores / math.sqrt(3 * d)).float()


def draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(part: str, batch: int, n: int, d: int, largest: int) -> Case:
        far = 2 * largest, d
        args = arguments(disentangled, randn(g, batch, n, d), randn(g, batch, n, d), randn(g, *far), randn(g, *far), largest)
        gradients = ("query", "key", "far_query", "far_key")
        return Case(f"{n} tokens, distances up to {largest}", args, part, gradients, shape="(batch, n, n)")

    return [case("near", 2, 4, 5, 6), case("near", 3, 5, 6, 8), case("far", 2, 7, 3, 2), case("far", 4, 6, 5, 3)]


def fixed() -> list[Case]:
    near = torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[0.5, -1.0]]])
    far = torch.tensor([[3.0, 0.0], [0.0, 1.0]]), torch.tensor([[0.0, 5.0], [1.0, 1.0]])
    return [Case("a single token", arguments(disentangled, *near, *far, 1), "far", ("query", "key"), shape="(batch, n, n)")]


OURS = "course_utils.models.zoo.deberta.distance_index"
EXERCISE = FunctionExercise(right=disentangled, oracle=oracle, draw=draw, fixed=fixed, forbidden=(OURS,))
