"""Exercise 01.5: the leave-one-out error. The oracle really leaves each point out and predicts it from the others."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, refusal, sizes
from .nadaraya_watson import oracle as loop_prediction


def loo_error(keys: Tensor, values: Tensor, bandwidth: float) -> Tensor:
    if len(keys) < 2:
        raise ValueError(f"leave-one-out needs at least 2 points, got {len(keys)}")
    difference = keys[:, None] - keys[None, :]
    scores = -(difference**2) / (2 * bandwidth**2)
    itself = torch.eye(len(keys), dtype=torch.bool)
    scores = scores.masked_fill(itself, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    errors = weights @ values - values
    return errors.pow(2).mean()


def oracle(keys: Tensor, values: Tensor, bandwidth: float) -> Tensor:
    total = 0.0
    for i in range(len(keys)):
        rest = [j for j in range(len(keys)) if j != i]
        total += (loop_prediction(keys[i : i + 1], keys[rest], values[rest], bandwidth)[0] - values[i]).item() ** 2
    return torch.tensor(total / len(keys))


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    (n,) = sizes(g, 1, 6, 12)
    keys = 4 * (torch.randperm(n, generator=g) + 0.4 * torch.rand(n, generator=g)) / n  # no gaps: those are the cases of "far apart"
    values = torch.sin(keys) + 0.3 * torch.randn(n, generator=g)
    return [Case(f"{n} random points", {"keys": keys, "values": values, "bandwidth": 0.5 + 0.3 * torch.rand((), generator=g).item()})]


def fixed() -> list[Case]:
    apart = {"keys": torch.tensor([0.0, 1.0, 2.2, 3.6]), "values": torch.tensor([0.0, 5.0, 1.0, 4.0])}
    one, none = {"keys": torch.tensor([1.0]), "values": torch.tensor([3.0])}, {"keys": torch.zeros(0), "values": torch.zeros(0)}
    together = {**apart, "keys": torch.tensor([0.0, 1.0, 1.0, 2.2]), "bandwidth": 0.6}
    return [
        Case("two points", {"keys": torch.tensor([0.0, 1.0]), "values": torch.tensor([3.0, 5.0]), "bandwidth": 0.8}),
        Case("points far apart for the bandwidth", {**apart, "bandwidth": 0.05}, "far apart"),
        Case("a bandwidth of a millionth", {**apart, "bandwidth": 1e-6}, "far apart"),
        Case("two points at the same place", together, "far apart"),
        refusal("one point: nothing is left to predict it from", {**one, "bandwidth": 0.8}, "1"),
        refusal("no point at all", {**none, "bandwidth": 0.8}, "0"),
    ]


EXERCISE = FunctionExercise(right=loo_error, oracle=oracle, draw=draw, fixed=fixed, rtol=1e-3)
