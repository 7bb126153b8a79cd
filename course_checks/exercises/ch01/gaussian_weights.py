"""Exercise 01.1: weights of a Gaussian kernel, also for far queries. The oracle is two loops in double precision."""

import math

import torch
from torch import Tensor

from course_utils.models.kernels import gaussian_weights as ours

from ..common import Case, FunctionExercise, generator, refusal, sizes


def gaussian_weights(query: Tensor, keys: Tensor, bandwidth: float) -> Tensor:
    if bandwidth <= 0:
        raise ValueError(f"bandwidth must be positive, got {bandwidth}")
    difference = query[:, None] - keys[None, :]
    exponent = -(difference**2) / (2 * bandwidth**2)
    exponent = exponent - exponent.max(dim=1, keepdim=True).values
    kernel = torch.exp(exponent)
    return kernel / kernel.sum(dim=1, keepdim=True)


def oracle(query: Tensor, keys: Tensor, bandwidth: float) -> Tensor:
    rows = []
    for q in query.double().tolist():
        exponents = [-((q - k) ** 2) / (2 * bandwidth**2) for k in keys.double().tolist()]
        kernel = [math.exp(e - max(exponents)) for e in exponents]
        rows.append([value / sum(kernel) for value in kernel])
    return torch.tensor(rows, dtype=torch.float32)


def case(label: str, query: Tensor, keys: Tensor, bandwidth: float, part: str = "values") -> Case:
    return Case(label, {"query": query, "keys": keys, "bandwidth": bandwidth}, part, shape="(query, key)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    m, n = sizes(g, 2)
    query, keys = 3 * torch.rand(m, generator=g), 3 * torch.rand(n, generator=g)
    return [case(f"{m} random queries, {n} random keys", query, keys, 0.4 + 0.4 * torch.rand((), generator=g).item())]


def fixed() -> list[Case]:
    keys = torch.tensor([0.0, 1.0, 3.0])
    return [
        case("a single key", torch.tensor([0.3, 2.0]), keys[:1], 0.7),
        case("5 queries, 2 keys, a wide kernel", torch.tensor([0.0, 0.9, 2.0, 2.5, 4.0]), torch.tensor([0.5, 2.2]), 1.7),
        case("one query near the keys, one 57 away from all of them", torch.tensor([0.8, 60.0]), keys, 0.5, "far queries"),
        refusal("bandwidth = 0", {"query": keys, "keys": keys, "bandwidth": 0.0}, "0"),
        refusal("bandwidth = -0.5", {"query": keys, "keys": keys, "bandwidth": -0.5}, "-0.5"),
    ]


OURS = ("course_utils.models.kernels.gaussian_weights",)
EXERCISE = FunctionExercise(right=gaussian_weights, oracle=oracle, reference=ours, draw=draw, fixed=fixed, forbidden=OURS)
