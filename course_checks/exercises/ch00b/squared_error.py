"""Exercise 00b.1: a loss in which two shapes are stretched by mistake. The oracle takes one pair at a time."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, randn, sizes


def squared_error(guess: Tensor, target: Tensor) -> Tensor:
    difference = guess[:, 0] - target
    return difference.pow(2).mean()


def oracle(guess: Tensor, target: Tensor) -> Tensor:
    pairs = [(guess[i, 0].double() - target[i].double()) ** 2 for i in range(len(target))]
    return torch.stack(pairs).mean().float()


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    (n,) = sizes(g, 1, 3, 9)
    return [Case(f"{n} guesses", {"guess": 4 + randn(g, n, 1), "target": 4 + 2 * randn(g, n)}, gradients=("guess",))]


def fixed() -> list[Case]:
    perfect = {"guess": torch.tensor([[3.0], [5.0], [9.0]]), "target": torch.tensor([3.0, 5.0, 9.0])}
    single = {"guess": torch.tensor([[2.0]]), "target": torch.tensor([5.0])}
    return [Case("perfect guesses", perfect), Case("a single guess", single)]


EXERCISE = FunctionExercise(right=squared_error, oracle=oracle, draw=draw, fixed=fixed)
