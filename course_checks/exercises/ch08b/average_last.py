"""Exercise 08b.6: the mean of the last checkpoints. The oracle is NumPy in double precision."""

import numpy as np
import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, randn, refusal


def average_last(checkpoints: list[Tensor], count: int) -> tuple[Tensor, Tensor]:
    if not 1 <= count <= len(checkpoints):
        raise ValueError(f"count={count} must lie between 1 and {len(checkpoints)}")
    last = torch.stack(checkpoints[-count:])
    mean = last.mean(dim=0)
    squares = (last - mean).pow(2).reshape(len(last), -1).sum(1)  # (count,)
    return mean, squares.mean().sqrt()


def oracle(checkpoints: list[Tensor], count: int) -> tuple[Tensor, Tensor]:
    last = np.stack([c.numpy().astype(float).ravel() for c in checkpoints[len(checkpoints) - count :]])
    spread = np.sqrt(np.mean([np.linalg.norm(row - last.mean(0)) ** 2 for row in last]))
    return torch.as_tensor(last.mean(0).reshape(checkpoints[0].shape)).float(), torch.tensor(spread).float()


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    six = [randn(g, 3, 4) for _ in range(6)]
    seven = [randn(g, 2, 4, 3) for _ in range(7)]
    return [
        Case("the last 4 of 6", {"checkpoints": six, "count": 4}, shape="(rows, columns)"),
        Case("the last 5 of 7", {"checkpoints": seven, "count": 5}, shape="as one checkpoint"),
    ]


def fixed() -> list[Case]:
    two = [torch.tensor([1.0, 5.0, -3.0]), torch.tensor([3.0, 1.0, 0.0])]
    return [
        Case("count = 1: the last one itself", {"checkpoints": two, "count": 1}, "edges", shape="(3,)"),
        Case("all there are", {"checkpoints": two, "count": 2}, "edges", shape="(3,)"),
        Case("a single checkpoint with a single number", {"checkpoints": [torch.tensor(-2.5)], "count": 1}, "edges", shape="()"),
        refusal("count = -3, 2 checkpoints", {"checkpoints": two, "count": -3}, "-3", "2"),
        refusal("count = 3, 2 checkpoints", {"checkpoints": two, "count": 3}, "3", "2"),
        refusal("count = 0, 2 checkpoints", {"checkpoints": two, "count": 0}, "0"),
    ]


EXERCISE = FunctionExercise(right=average_last, oracle=oracle, draw=draw, fixed=fixed, outputs=("mean", "spread"))
