"""Exercise 13b.1: features of the squared dot product. Many are right: judged are their dot products. The oracle squares in doubles."""

from typing import Any

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, randn


def square_features(x: Tensor) -> Tensor:
    pairs = x[:, :, None] * x[:, None, :]
    return pairs.flatten(1)


def oracle(x: Tensor) -> Tensor:
    """Other features that do it: each pair once, those of two different numbers times the root of 2."""
    first, second = torch.triu_indices(x.shape[1], x.shape[1])
    scale = torch.where(first == second, 1.0, 2**0.5).double()
    return (x.double()[:, first] * x.double()[:, second] * scale).float()


def effect(made: Any, case: Case) -> Tensor:
    """All dot products of the features. ValueError, in words for the learner, where there is no row for each point."""
    if not isinstance(made, Tensor):
        raise ValueError("Return one tensor (n, r): a row of features for each point.")
    if made.dim() != 2 or len(made) != len(case.args["x"]):
        raise ValueError(f"Your result has shape {tuple(made.shape)}; expected ({len(case.args['x'])}, r), a row for each point.")
    return made.float() @ made.float().T


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        Case("5 points of width 2", {"x": randn(g, 5, 2)}, part="two numbers"),
        Case("4 points of width 3", {"x": randn(g, 4, 3)}, part="any width"),
        Case("6 points of width 5", {"x": randn(g, 6, 5)}, part="any width"),
    ]


def fixed() -> list[Case]:
    g = generator(3)
    return [
        Case("points at right angles", {"x": torch.eye(3)}, part="any width"),
        Case("one point of width 4", {"x": randn(g, 1, 4)}, part="any width"),
        Case("points of width 1", {"x": randn(g, 3, 1)}, part="any width"),
    ]


EXERCISE = FunctionExercise(file=__file__, right=square_features, oracle=oracle, draw=draw, fixed=fixed, effect=effect)
