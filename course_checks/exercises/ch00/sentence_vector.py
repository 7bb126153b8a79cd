"""Exercise 00.5: a mean over the wrong axis. The oracle adds up tokens."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, randn, sizes


def sentence_vector(x: Tensor) -> Tensor:
    return x.mean(dim=1)


def oracle(x: Tensor) -> Tensor:
    return torch.stack([sum(token for token in sentence) / len(sentence) for sentence in x])


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    batch, n, d = sizes(g, 3)
    return [Case(f"{batch} sentences, {n} tokens, {d} features", {"x": randn(g, batch, n, d)}, gradients=("x",), shape="(batch, d)")]


def fixed() -> list[Case]:
    silent = randn(generator(5), 2, 4, 3)
    silent[0, 1], silent[1, 3] = 0.0, 0.0
    return [
        Case("sentences of one token", {"x": torch.arange(8.0).reshape(2, 1, 4)}, shape="(batch, d)"),
        Case("a batch of one sentence", {"x": randn(generator(4), 1, 3, 5)}, shape="(batch, d)"),
        Case("a token whose features are all 0 counts too", {"x": silent}, shape="(batch, d)"),
    ]


EXERCISE = FunctionExercise(right=sentence_vector, oracle=oracle, draw=draw, fixed=fixed)
