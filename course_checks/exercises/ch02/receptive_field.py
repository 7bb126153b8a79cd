"""Exercise 02.5: how far a stack of convolutions sees. The oracle stacks them and looks which inputs get a gradient."""

import random

import torch
from torch.nn import functional as F

from ..common import Case, FunctionExercise, refusal


def receptive_field(kernels: list[int], dilations: list[int]) -> int:
    if len(kernels) != len(dilations):
        raise ValueError(f"{len(kernels)} kernels, but {len(dilations)} dilations")
    layers = list(zip(kernels, dilations, strict=True))
    return 1 + sum((kernel - 1) * dilation for kernel, dilation in layers)


def oracle(kernels: list[int], dilations: list[int]) -> int:
    x = torch.ones(1, 1, 400, dtype=torch.double, requires_grad=True)
    y = x
    for kernel, dilation in zip(kernels, dilations, strict=True):
        y = F.conv1d(y, torch.ones(1, 1, kernel, dtype=torch.double) / kernel, dilation=dilation)
    if y is x:
        return 1
    (gradient,) = torch.autograd.grad(y[0, 0, 0], x)
    return int(gradient.nonzero()[:, -1].max()) + 1


def draw(seed: int) -> list[Case]:
    rng = random.Random(seed)
    depth = 3 + seed % 2
    kernels, dilated, dilations = rng.sample([2, 4, 5, 6, 7], depth), rng.sample([4, 2, 5, 6], depth), [2, 3, 5, 4][:depth]
    return [
        Case(f"kernels {kernels}, no dilation", {"kernels": kernels, "dilations": [1] * depth}),
        Case(f"kernels {dilated}, dilations {dilations}", {"kernels": dilated, "dilations": dilations}, part="dilation"),
    ]


def fixed() -> list[Case]:
    return [
        Case("a single layer with kernel 1", {"kernels": [1], "dilations": [1]}),
        Case("no layer at all", {"kernels": [], "dilations": []}),
        refusal("2 kernels but 3 dilations", {"kernels": [3, 5], "dilations": [1, 2, 4]}, "2", "3"),
        refusal("3 kernels but 2 dilations", {"kernels": [3, 5, 7], "dilations": [1, 1]}, "3", "2"),
        refusal("no kernel but 1 dilation", {"kernels": [], "dilations": [2]}, "0", "1"),
    ]


EXERCISE = FunctionExercise(right=receptive_field, oracle=oracle, draw=draw, fixed=fixed)
