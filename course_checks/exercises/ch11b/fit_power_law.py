"""Exercise 11b.1: a power law fitted in logarithms. The oracle solves the normal equations by ``torch.linalg.lstsq`` in doubles."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, arguments, generator, randn


def fit_power_law(spent: Tensor, losses: Tensor) -> tuple[Tensor, Tensor]:
    x, y = spent.double().log(), losses.double().log()
    dx, dy = x - x.mean(), y - y.mean()
    slope = (dx * dy).sum() / dx.square().sum()
    start = y.mean() - slope * x.mean()
    scale = start.exp()
    return scale.float(), -slope.float()


def oracle(spent: Tensor, losses: Tensor) -> tuple[Tensor, Tensor]:
    x, y = spent.double().log(), losses.double().log()
    design = torch.stack([torch.ones_like(x), x], dim=1)
    start, slope = torch.linalg.lstsq(design, y[:, None], driver="gelsd").solution[:, 0]
    return start.exp().float(), -slope.float()


def draw(seed: int) -> list[Case]:
    g, cases = generator(seed), []
    for points, exponent, noise in ((4, 0.3, 0.05), (6, 0.15, 0.04), (5, 0.6, 0.1)):
        sizes = (1 + torch.arange(points) * 1.1 + 0.4 * torch.rand(points, generator=g)).exp()
        losses = (3 + 4 * torch.rand((), generator=g)) * sizes**-exponent * (noise * randn(g, points)).exp()
        order, label = torch.randperm(points, generator=g), f"{points} budgets in any order, exponent near {exponent}"
        cases.append(Case(label, arguments(fit_power_law, sizes[order], losses[order]), shape="()"))
    return cases


def fixed() -> list[Case]:
    def args(sizes: list[float], losses: list[float]) -> dict:
        return arguments(fit_power_law, torch.tensor(sizes), torch.tensor(losses))

    sizes = torch.tensor([1.0, 10.0, 100.0, 1000.0])
    return [
        Case("exactly 8 · N^-0.5", arguments(fit_power_law, sizes, 8 * sizes**-0.5), shape="()"),
        Case("a loss that rises", args([1.0, 10.0, 100.0], [2.0, 2.5, 4.0]), "edges", shape="()"),
        Case("two points, largest first", args([50.0, 5.0], [1.2, 3.0]), "edges", shape="()"),
    ]


EXERCISE = FunctionExercise(right=fit_power_law, oracle=oracle, draw=draw, fixed=fixed, outputs=("scale", "exponent"), rtol=1e-3, atol=1e-4)
