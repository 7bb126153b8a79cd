"""Exercise 03.8: how a softmax reacts to its scores. The oracle is autograd."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, randn, sizes


def softmax_jacobian(p: Tensor) -> Tensor:
    return torch.diag(p) - torch.outer(p, p)


def oracle(p: Tensor) -> Tensor:
    return torch.autograd.functional.jacobian(lambda scores: torch.softmax(scores, -1), p.log())


def case(label: str, p: Tensor) -> Case:
    return Case(label, {"p": p}, shape="(weight, score)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    (n,) = sizes(g, 1, 3, 8)
    return [case(f"{n} random weights", torch.softmax(randn(g, n), -1))]


def fixed() -> list[Case]:
    edges = (("two equal weights", [0.5, 0.5]), ("three weights, two of them equal", [0.25, 0.5, 0.25]), ("a single weight", [1.0]))
    return [case(label, torch.tensor(p)) for label, p in edges]


FORBIDDEN = ("torch.autograd.functional.jacobian", "torch.func.jacrev", "torch.func.jacfwd")
EXERCISE = FunctionExercise(file=__file__, right=softmax_jacobian, oracle=oracle, draw=draw, fixed=fixed, forbidden=FORBIDDEN)
