"""Exercise 00b.2: a softmax of scores of any size, with a temperature. The oracle is PyTorch's own in double precision."""

import torch
from torch import Tensor
from torch.nn import functional as F

from ..common import Case, FunctionExercise, generator, randn, sizes

library_softmax = F.softmax  # kept here: the name is forbidden while an answer runs
OURS = """softmax nn.functional.softmax Tensor.softmax nn.functional.log_softmax log_softmax Tensor.log_softmax
    special.softmax special.log_softmax nn.functional.softmin nn.Softmax nn.LogSoftmax"""


def softmax(scores: Tensor, temperature: float = 1.0) -> Tensor:
    scaled = scores / temperature
    shifted = scaled - scaled.max(dim=-1, keepdim=True).values
    strength = torch.exp(shifted)
    return strength / strength.sum(dim=-1, keepdim=True)


def oracle(scores: Tensor, temperature: float = 1.0) -> Tensor:
    return library_softmax(scores.double() / temperature, dim=-1).float()


def case(label: str, scores: Tensor, temperature: float, part: str = "values", shape: str = "(row, score)", **more) -> Case:
    return Case(label, {"scores": scores, "temperature": temperature}, part, shape=shape, **more)


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    a, n, k = sizes(g, 3, 2, 7)
    warm = 1.5 + torch.rand((), generator=g).item()
    return [
        case(f"{n} rows of {k} scores, temperature 1", 1.5 * randn(g, n, k), 1.0, gradients=("scores",)),
        case(f"{n} rows of {k} scores, a warm softmax", 1.5 * randn(g, n, k), warm),
        case("the same, cold", 0.5 * randn(g, n, k), 0.4),
        case("three axes", randn(g, a, n, k), warm, shape="(group, row, score)"),
        case("scores in the hundreds", 300 * randn(g, n, k) + 500, 1.0, "large scores"),
    ]


def fixed() -> list[Case]:
    huge, low = torch.tensor([[900.0, 898.0], [-901.0, -900.0]]), torch.tensor([[-400.0, -401.0, -399.5]])
    return [
        Case("one row, no batch, no temperature given", {"scores": torch.tensor([2.0, -1.0, 0.5])}, shape="(score,)"),
        case("rows of a single score", torch.tensor([[3.0], [-2.0]]), 2.0),
        case("three equal scores", torch.full((2, 3), 7.0), 0.5),
        case("one row of huge scores, one of hugely negative ones", huge, 1.0, "large scores"),
        case("hugely negative scores alone", low, 1.0, "large scores"),
        case("huge scores, cold", huge, 0.5, "large scores"),
    ]


EXERCISE = FunctionExercise(right=softmax, oracle=oracle, draw=draw, fixed=fixed, forbidden=tuple(f"torch.{name}" for name in OURS.split()))
