"""Exercise 12a.5: one training step of a student. The oracle lets autograd differentiate, in double precision."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, arguments, generator, randn, refusal
from . import distil


def distillation_step(weight: Tensor, x: Tensor, teacher: Tensor, temperature: float, rate: float) -> tuple[Tensor, Tensor]:
    t = temperature
    if t <= 0:
        raise ValueError(f"temperature={t} must be positive")
    student = x @ weight.T
    log_p = (teacher / t).log_softmax(-1)
    log_q = (student / t).log_softmax(-1)
    p, q = log_p.exp(), log_q.exp()
    loss = t**2 * (p * (log_p - log_q)).sum(-1).mean()
    slope = t * (q - p)
    gradient = slope.T @ x / len(x)
    after = weight - rate * gradient
    return after, loss


def oracle(weight: Tensor, x: Tensor, teacher: Tensor, temperature: float, rate: float) -> tuple[Tensor, Tensor]:
    with torch.enable_grad():
        w = weight.detach().double().requires_grad_()
        loss = distil.oracle(x.double() @ w.T, teacher, torch.zeros(len(x), dtype=torch.long), temperature, 1.0)
        (slope,) = torch.autograd.grad(loss, w)
    return (w.detach() - rate * slope).float(), loss.detach()


def draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(n: int, vocab: int, d: int, temperature: float, rate: float) -> Case:
        weight, x, teacher = 0.7 * randn(g, vocab, d), randn(g, n, d), 2 * randn(g, n, vocab)
        args = arguments(distillation_step, weight, x, teacher, temperature, rate)
        return Case(f"{n} tokens, {vocab} words, temperature {temperature}, rate {rate}", args)

    return [case(4, 7, 5, 3.0, 0.4), case(5, 6, 3, 1.5, 0.8), case(3, 8, 4, 4.0, 0.25)]


def fixed() -> list[Case]:
    flat = torch.zeros(2, 3), torch.ones(1, 3), torch.zeros(1, 2)
    sure = torch.tensor([[-60.0, 130.0, 250.0], [220.0, -30.0, 160.0]])
    large = torch.tensor([[90.0, -20.0], [3.0, 40.0], [-60.0, 5.0]]), torch.tensor([[1.0, 0.5], [-2.0, 1.0]]), sure
    one = torch.tensor([[0.3, -0.2], [0.1, 0.6], [-0.4, 0.2]]), torch.tensor([[2.0, 1.0]]), torch.tensor([[1.0, -1.0, 0.5]])
    return [
        refusal("temperature 0", arguments(distillation_step, *flat, 0.0, 0.1), "0", part="edges"),
        refusal("temperature -2.5", arguments(distillation_step, *flat, -2.5, 0.1), "-2.5", part="edges"),
        Case("a teacher that is certain, logits in the hundreds", arguments(distillation_step, *large, 2.0, 0.5), "edges"),
        Case("one token", arguments(distillation_step, *one, 2.5, 1.0)),
    ]


EXERCISE = FunctionExercise(
    right=distillation_step, oracle=oracle, draw=draw, fixed=fixed, outputs=("weight", "loss"), forbidden=(distil.OURS,)
)
