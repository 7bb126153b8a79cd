"""Exercise 11a.10: the share of a model in a mixture, by EM. The oracle is a loop over Python's floats."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, refusal


def mixing_share(p: Tensor, q: Tensor, rounds: int) -> float:
    if len(p) != len(q):
        raise ValueError(f"{len(p)} and {len(q)} tokens cannot be mixed")
    share = 0.5
    for _ in range(rounds):
        asked = share * p / (share * p + (1 - share) * q)
        share = asked.mean().item()
    return share


def oracle(p: Tensor, q: Tensor, rounds: int) -> float:
    share, pairs = 0.5, list(zip(p.tolist(), q.tolist(), strict=True))
    for _ in range(rounds):
        share = sum(share * a / (share * a + (1 - share) * b) for a, b in pairs) / len(pairs)
    return share


def draw(seed: int) -> list[Case]:
    g = generator(seed)

    def args(n: int, tilt: float, rounds: int) -> dict:
        return {"p": torch.rand(n, generator=g) * 0.7 + 0.05, "q": torch.rand(n, generator=g) * tilt + 0.02, "rounds": rounds}

    return [
        Case("one round, 9 tokens", args(9, 0.5, 1)),
        Case("three rounds, 14 tokens", args(14, 0.9, 3)),
        Case("eight rounds, 23 tokens", args(23, 0.6, 8)),
    ]


def fixed() -> list[Case]:
    p, q = torch.tensor([0.8, 0.1, 0.5]), torch.tensor([0.2, 0.3, 0.6])
    return [
        Case("0 rounds", {"p": p, "q": q, "rounds": 0}, part="edges"),
        Case("a single token", {"p": p[:1], "q": q[:1], "rounds": 2}, part="edges"),
        Case("two equal models", {"p": p, "q": p.clone(), "rounds": 5}, part="edges"),
        Case("probabilities near 1e-20", {"p": p * 1e-20, "q": q * 1e-20, "rounds": 4}, part="edges"),
        refusal("3 and 2 tokens", {"p": p, "q": q[:2], "rounds": 2}, "3", "2"),
        refusal("3 tokens and 1", {"p": p, "q": q[:1], "rounds": 2}, "3", "1"),
    ]


EXERCISE = FunctionExercise(right=mixing_share, oracle=oracle, draw=draw, fixed=fixed)
