"""Exercise 00.5: rows, their products, a mask and a softmax, put together. The oracle is PyTorch's fused kernel, asked for its weights."""

import math

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, fused, generator, randn, sizes


def who_looks(ids: Tensor, table: Tensor, mask: Tensor) -> Tensor:
    rows = table[ids]
    scores = rows @ rows.mT
    scores = scores.masked_fill(~mask, -torch.inf)
    return torch.softmax(scores, dim=2)


def oracle(ids: Tensor, table: Tensor, mask: Tensor) -> Tensor:
    rows = table[ids]
    return fused(rows * math.sqrt(rows.shape[-1]), rows, torch.eye(ids.shape[1]).expand(len(ids), -1, -1), attn_mask=mask)


def case(seed: int, batch: int, n: int, mask: Tensor, label: str) -> Case:
    g = generator(seed)
    args = {"ids": torch.randint(7, (batch, n), generator=g), "table": 0.7 * randn(g, 7, 4), "mask": mask}
    return Case(label, args, gradients=("table",), shape="(batch, query, key)")


def draw(seed: int) -> list[Case]:
    batch, n = sizes(generator(seed), 2, 3, 7)
    return [case(seed, batch, n, torch.ones(n, n).tril().bool(), f"{batch} sentences of {n} tokens, a decoder's mask")]


def fixed() -> list[Case]:
    odd = torch.eye(5).bool() | (torch.arange(5) == 2)
    return [
        case(3, 1, 6, torch.ones(6, 6).bool(), "one sentence, everybody sees everybody"),
        case(4, 2, 5, odd, "each token sees itself and token 2"),
        case(5, 3, 1, torch.ones(1, 1).bool(), "sentences of one token"),
    ]


EXERCISE = FunctionExercise(right=who_looks, oracle=oracle, draw=draw, fixed=fixed)
