"""Exercise 08a.7: the learning rate of the paper. The oracle says it in words: up a line to its peak, then down with the root."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, integers, refusal


def noam_rate(step: Tensor, d_model: int, warmup: int) -> Tensor:
    if step.min() < 1:
        raise ValueError(f"step {int(step.min())} is below 1")
    step = step.float()
    up, down = step * warmup**-1.5, step**-0.5
    return d_model**-0.5 * torch.minimum(up, down)


def oracle(step: Tensor, d_model: int, warmup: int) -> Tensor:
    peak = (d_model * warmup) ** -0.5
    return torch.tensor([peak * s / warmup if s <= warmup else peak * (warmup / s) ** 0.5 for s in step.tolist()])


def arguments(step: list[int], d_model: int, warmup: int) -> dict:
    return {"step": torch.tensor(step), "d_model": d_model, "warmup": warmup}


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    steps = [1, 400, *integers(g, 2, 390, 3).tolist(), *integers(g, 500, 9_000, 4).tolist()]
    return [
        Case("d_model = 512, warmup = 400", arguments(steps, 512, 400), shape="(steps,)"),
        Case("d_model = 48, warmup = 10", arguments(integers(g, 1, 40, 7).tolist(), 48, 10), shape="(steps,)"),
    ]


def fixed() -> list[Case]:
    return [
        Case("the paper: d_model = 1024, warmup = 4000", arguments([4000, 1, 100_000], 1024, 4000), shape="(steps,)"),
        Case("a single step, warmup = 1", arguments([1], 16, 1), shape="(steps,)"),
        refusal("steps 3, 5, -3 and 7: the third is below 1", arguments([3, 5, -3, 7], 64, 5), "-3", part="refusal"),
        refusal("step 0", arguments([3, 0, 7], 64, 5), "0", part="refusal"),
    ]


FORBIDDEN = ("course_utils.training.schedules.noam",)
EXERCISE = FunctionExercise(right=noam_rate, oracle=oracle, draw=draw, fixed=fixed, atol=1e-9, forbidden=FORBIDDEN)
