"""Exercise 00b.4: softmax regression as a module. The oracle takes one dot product at a time."""

import torch
from torch import Tensor, nn

from ..common import Case, ModuleExercise, generator, randn, sizes


class SoftmaxRegression(nn.Module):
    def __init__(self, num_features: int, num_classes: int):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(num_classes, num_features))
        self.bias = nn.Parameter(torch.zeros(num_classes))

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight.T + self.bias


def oracle(init: dict, parameters: dict, inputs: dict | None) -> Tensor | str:
    if inputs is None:
        return "bias 0, weight 0"
    classes = list(zip(parameters["weight"], parameters["bias"], strict=True))
    return torch.stack([torch.stack([(row * w).sum() + b for w, b in classes]) for row in inputs["x"]])


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    n, d, k = sizes(g, 3, 2, 8)

    def case(rows: int) -> Case:
        parameters = {"weight": randn(g, k, d), "bias": randn(g, k)}
        args = {"init": {"num_features": d, "num_classes": k}, "parameters": parameters, "inputs": {"x": randn(g, rows, d) + 1}}
        return Case(f"{rows} words with {d} features, {k} languages", args, shape="(word, language)", gradients=("weight", "bias"))

    return [case(n), case(n + 8), case(1)]


def fixed() -> list[Case]:
    return [Case("a new module", {"init": {"num_features": 5, "num_classes": 3}, "parameters": {}, "inputs": None}, part="start")]


FORBIDDEN = ("torch.nn.Linear", "torch.nn.functional.linear", "torch.nn.LazyLinear")
EXERCISE = ModuleExercise(right=SoftmaxRegression, oracle=oracle, draw=draw, fixed=fixed, forbidden=FORBIDDEN)
