"""Exercise 07a.6: what each branch of a stack adds to a score. The oracle goes through stages and tokens one by one."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, randn, sizes


def pushes(stages: Tensor, direction: Tensor) -> Tensor:
    before, behind = stages[:-1], stages[1:]
    written = torch.cat([stages[:1], behind - before])
    return (written * direction).sum(dim=-1)


def oracle(stages: Tensor, direction: Tensor) -> Tensor:
    found = torch.zeros(stages.shape[:2], dtype=torch.float64)
    for token, axis in enumerate(direction.double()):
        so_far = 0.0
        for stage, vector in enumerate(stages[:, token].double()):
            found[stage, token] = vector @ axis - so_far
            so_far = vector @ axis
    return found.float()


def case(label: str, stages: Tensor, direction: Tensor, part: str = "values") -> Case:
    return Case(label, {"stages": stages, "direction": direction}, part=part, gradients=("stages",), shape="(stage, token)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    tokens, d = sizes(g, 2, 4, 7)
    tokens += d == tokens
    return [case(f"9 stages, {tokens} tokens, d = {d}", randn(g, 9, tokens, d).cumsum(0), 2 * randn(g, tokens, d))]


def fixed() -> list[Case]:
    g = generator(5)
    x = randn(g, 3, 2, 4)
    still = torch.stack([x[0], x[0], x[1]])
    return [
        case("3 stages, 2 tokens, d = 4", x, randn(g, 2, 4)),
        case("one stage: no branch at all", x[:1], randn(g, 2, 4), "edges"),
        case("one token", x[:, :1], randn(g, 1, 4), "edges"),
        case("a branch that writes nothing", still, randn(g, 2, 4), "edges"),
    ]


EXERCISE = FunctionExercise(right=pushes, oracle=oracle, draw=draw, fixed=fixed)
