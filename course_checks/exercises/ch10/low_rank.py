"""Exercise 10.4: a change of low rank, added to a weight that stays as it is. The oracle adds up outer products in double precision."""

import torch
from torch import Tensor, nn

from ..common import Case, ModuleExercise, generator, integers, randn


class LowRank(nn.Module):
    def __init__(self, d_out: int, d_in: int, rank: int, alpha: float):
        super().__init__()
        self.A = nn.Parameter(torch.randn(rank, d_in) / d_in**0.5)
        self.B = nn.Parameter(torch.zeros(d_out, rank))
        self.scale = alpha / rank

    def forward(self, weight: Tensor) -> Tensor:
        return weight + self.scale * (self.B @ self.A)


def oracle(init: dict, parameters: dict, inputs: dict | None) -> Tensor | str:
    if inputs is None:
        return "A random, B 0"
    a, b, weight = (x.double() for x in (parameters["A"], parameters["B"], inputs["weight"]))
    products = sum(torch.outer(b[:, k], a[k]) for k in range(init["rank"]))
    return (weight + products * init["alpha"] / init["rank"]).float()


def case(g: torch.Generator, d_out: int, d_in: int, rank: int, alpha: float, label: str) -> Case:
    init = {"d_out": d_out, "d_in": d_in, "rank": rank, "alpha": alpha}
    parameters = {"A": randn(g, rank, d_in), "B": randn(g, d_out, rank)}
    args = {"init": init, "parameters": parameters, "inputs": {"weight": randn(g, d_out, d_in)}}
    return Case(label, args, shape="(d_out, d_in)", gradients=("A", "B"))


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    d_out, d_in = (int(integers(g, low, low + 3)) for low in (7, 10))
    return [
        case(g, d_out, d_in, 3, 5.0, f"a matrix of {d_out} rows and {d_in} columns, rank 3, alpha 5"),
        case(g, d_in, d_out, 2, 7.0, f"a matrix of {d_in} rows and {d_out} columns, rank 2, alpha 7"),
    ]


def fixed() -> list[Case]:
    g = generator(8)
    new = {"init": {"d_out": 6, "d_in": 4, "rank": 2, "alpha": 8.0}, "parameters": {}, "inputs": None}
    return [
        case(g, 5, 3, 1, 2.0, "rank 1"),
        case(g, 3, 5, 3, 2.5, "the largest rank that a matrix of 3 rows and 5 columns has"),
        Case("a new module", new, part="start"),
    ]


EXERCISE = ModuleExercise(right=LowRank, oracle=oracle, draw=draw, fixed=fixed)
