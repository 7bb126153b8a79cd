"""Exercise 01.2: the weighted mean of the values at every query. The oracle takes the weights of 01.1's loops."""

import torch
from torch import Tensor

from course_utils.models.kernels import nadaraya_watson as reference

from ..common import Case, FunctionExercise, generator, randn, sizes
from .gaussian_weights import gaussian_weights
from .gaussian_weights import oracle as loop_weights


def nadaraya_watson(query: Tensor, keys: Tensor, values: Tensor, bandwidth: float) -> Tensor:
    weights = gaussian_weights(query, keys, bandwidth)
    return weights @ values


def oracle(query: Tensor, keys: Tensor, values: Tensor, bandwidth: float) -> Tensor:
    return loop_weights(query, keys, bandwidth) @ values


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    m, n = sizes(g, 2, 2, 9)
    args: dict = {"query": 3 * torch.rand(m, generator=g), "keys": 3 * torch.rand(n, generator=g), "values": 2 + randn(g, n)}
    args["bandwidth"] = 0.4 + 0.4 * torch.rand((), generator=g).item()
    return [Case(f"{m} queries, {n} points", args, gradients=("values",), shape="(query,)")]


def fixed() -> list[Case]:
    keys, values = torch.tensor([0.0, 1.0, 3.0]), torch.tensor([2.0, -1.0, 5.0])
    far = {"query": torch.tensor([0.8, 60.0]), "keys": keys, "values": values, "bandwidth": 0.5}
    single = {"query": torch.tensor([0.3, 2.0]), "keys": keys[:1], "values": values[:1], "bandwidth": 0.7}
    return [
        Case("one query near the points, one 57 away from all of them", far, shape="(query,)"),
        Case("a single point", single, shape="(query,)"),
    ]


OURS, HELPERS = ("course_utils.models.kernels.nadaraya_watson",), (gaussian_weights,)
EXERCISE = FunctionExercise(
    right=nadaraya_watson, helpers=HELPERS, oracle=oracle, reference=reference, draw=draw, fixed=fixed, forbidden=OURS
)
