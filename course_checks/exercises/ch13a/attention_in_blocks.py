"""Exercise 13a.2: attention in blocks of keys. The oracle is softmax and logsumexp of whole rows in double precision."""

import math
from dataclasses import replace

import torch
from torch import Tensor

from ..common import FUSED_NAME, Case, FunctionExercise, generator, randn


def attention_in_blocks(query: Tensor, key: Tensor, value: Tensor, size: int) -> tuple[Tensor, Tensor]:
    if size < 1:
        raise ValueError(f"size={size} must be at least 1")
    top = torch.full((len(query),), -torch.inf)
    total = torch.zeros(len(query))
    mixed = torch.zeros(len(query), value.shape[1])
    for k, v in zip(key.split(size), value.split(size), strict=True):
        scores = query @ k.T / math.sqrt(query.shape[1])
        higher = torch.maximum(top, scores.amax(1))
        p = (scores - higher[:, None]).exp()
        shrink = (top - higher).exp()
        total = shrink * total + p.sum(1)
        mixed = shrink[:, None] * mixed + p @ v
        top = higher
    return mixed / total[:, None], top + total.log()


def oracle(query: Tensor, key: Tensor, value: Tensor, size: int) -> tuple[Tensor, Tensor]:
    scores = query.double() @ key.double().T / math.sqrt(query.shape[1])
    return (torch.softmax(scores, 1) @ value.double()).float(), torch.logsumexp(scores, 1).float()


def case(g: torch.Generator, n: int, m: int, d: int, d_v: int, size: int, part: str = "values", factor: float = 1.5, **more) -> Case:
    args = {"query": factor * randn(g, n, d), "key": randn(g, m, d), "value": randn(g, m, d_v), "size": size}
    return Case(f"{n} queries, {m} keys in blocks of {size}", args, part=part, shape="(n, d_v), (n,)", **more)


def below(g: torch.Generator) -> Case:
    """Scores far below 0, in some rows farther than in others, and moderate differences within each row."""
    plain = case(g, 5, 8, 4, 3, 3, "large")
    plain.args["query"][:, 0], plain.args["key"][:, 0] = 30 + 4 * torch.arange(5), -20.0
    return replace(plain, label=plain.label + ", scores far below 0")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [case(g, 5, 12, 3, 4, 4), case(g, 7, 10, 6, 2, 4), case(g, 4, 11, 5, 8, 3), case(g, 9, 6, 2, 5, 2)]


def fixed() -> list[Case]:
    g = generator(7)
    return [
        *(case(g, *sizes, "edges") for sizes in ((3, 5, 4, 2, 1), (3, 5, 4, 2, 9), (1, 1, 3, 2, 2))),
        case(g, 4, 9, 5, 3, 4, "large", factor=120.0),
        below(g),
        *(case(g, 3, 4, 2, 5, size, "refusal", rejects=ValueError, mentions=(str(size),)) for size in (0, -3)),
    ]


OUTPUTS = ("output", "log-sum-exp")
FORBIDDEN = ("torch.softmax", "torch.nn.functional.softmax", "torch.logsumexp", FUSED_NAME)
EXERCISE = FunctionExercise(right=attention_in_blocks, oracle=oracle, draw=draw, fixed=fixed, outputs=OUTPUTS, forbidden=FORBIDDEN)
