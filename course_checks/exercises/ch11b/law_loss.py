"""Exercise 11b.2: how badly a law of two terms fits. The oracle computes the law as it is, in doubles."""

import torch
from torch import Tensor
from torch.nn import functional as F

from ..common import Case, FunctionExercise, arguments, generator


def law_loss(parameters: Tensor, sizes: Tensor, tokens: Tensor, losses: Tensor, delta: float) -> Tensor:
    a, b, e, alpha, beta = parameters
    first = a - alpha * sizes.log()
    second = b - beta * tokens.log()
    floor = e.expand(len(sizes))
    predicted = torch.stack([first, second, floor]).logsumexp(0)
    error = predicted - losses.log()
    near = error.abs() <= delta
    inside = error.square() / 2
    outside = delta * (error.abs() - delta / 2)
    each = torch.where(near, inside, outside)
    return each.sum()


def oracle(parameters: Tensor, sizes: Tensor, tokens: Tensor, losses: Tensor, delta: float) -> Tensor:
    a, b, e, alpha, beta = parameters.double()
    law = e.exp() + a.exp() / sizes.double() ** alpha + b.exp() / tokens.double() ** beta  # doubles hold A and B
    return F.huber_loss(law.log(), losses.double().log(), delta=delta, reduction="sum").float()


def case(label: str, part: str, *values) -> Case:
    return Case(label, arguments(law_loss, *values), part, gradients=("parameters",), shape="()")


def draw(seed: int) -> list[Case]:
    g, cases = generator(seed), []
    for points, delta in ((9, 0.08), (6, 0.2)):
        sizes, tokens = (5 * 40 ** torch.rand(points, generator=g) for _ in range(2))
        start = torch.tensor([1.6, 2.1, 0.35, 0.31, 0.42]) * (0.9 + 0.2 * torch.rand(5, generator=g))
        a, b, e, alpha, beta = start
        losses = e.exp() + a.exp() / sizes**alpha + b.exp() / tokens**beta
        shift = delta * torch.linspace(-3.0, 4.0, points)[torch.randperm(points, generator=g)]  # within delta and beyond it, either side
        cases.append(case(f"{points} points, delta {delta}", "values", start, sizes, tokens, losses * shift.exp(), delta))
    return cases


def fixed() -> list[Case]:
    near, one = torch.tensor([1.5, 2.0, 0.4, 0.3, 0.4]), (torch.tensor([30.0]), torch.tensor([70.0]), torch.tensor([4.6]))
    far, losses = torch.tensor([115.0, 118.0, 0.6, 5.0, 4.6]), torch.tensor([2.0, 3.0, 2.5])
    sizes, tokens = torch.tensor([1e9, 4e9, 2e10]), torch.tensor([3e10, 2e10, 5e11])
    return [
        case("one point, near", "values", near, *one, 0.3),
        case("ln A = 115: e to this power overflows", "edges", far, sizes, tokens, losses, 0.1),
    ]


EXERCISE = FunctionExercise(right=law_loss, oracle=oracle, draw=draw, fixed=fixed, rtol=1e-3, atol=1e-6)
