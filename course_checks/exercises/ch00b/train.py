"""Exercise 00b.6: a training step, and the loop around it. The oracle descends by the closed form of the gradient."""

from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional as F

from ..common import CALLABLES, Case, FunctionExercise, Registered, generator, integers, randn, sizes
from . import callables  # noqa: F401  (registers the makers of models)


def train(new_model, x: Tensor, target: Tensor, x_held: Tensor, steps: int, lr: float) -> tuple[list[float], Tensor]:
    model = new_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        return losses, model(x_held)


def oracle(new_model: Registered, x: Tensor, target: Tensor, x_held: Tensor, steps: int, lr: float) -> tuple[list[float], Tensor]:
    """The gradient is probabilities minus what happened; in double precision."""
    model = CALLABLES[new_model.name]()
    weight, bias = model.weight.detach().double(), model.bias.detach().double()
    seen = x.double()
    if model.mutes:
        seen = seen * torch.tensor([2.0, 0.0]).double().repeat(x.shape[1])[: x.shape[1]]
    happened, losses = torch.eye(len(bias), dtype=torch.float64)[target], []
    for _ in range(steps):
        scores = seen @ weight.T + bias
        log_p = scores - torch.logsumexp(scores, 1, keepdim=True)
        losses.append(-(happened * log_p).sum(1).mean().item())
        wrong = (log_p.exp() - happened) / len(x)
        weight, bias = weight - lr * wrong.T @ seen, bias - lr * wrong.sum(0)
    return losses, (x_held.double() @ weight.T + bias).float()


def case(label: str, maker: str, inputs: tuple, steps: int, lr: float, part: str = "values") -> Case:
    x, target, x_held = inputs
    args = {"new_model": Registered(maker), "x": x, "target": target, "x_held": x_held, "steps": steps, "lr": lr}
    return Case(label, args, part, calls={"new_model": 1})


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    cases = []
    for maker, d, k in (("four_features_three_classes", 4, 3), ("three_features_five_classes", 3, 5), ("other_in_training", 5, 4)):
        n, m = sizes(g, 2, 6, 12)
        steps = 4 + int(torch.randint(4, (), generator=g))
        inputs = randn(g, n, d), integers(g, 0, k, n), randn(g, m, d)
        lr = 0.3 + 0.4 * torch.rand((), generator=g).item()
        label = f"{steps} steps on {n} words, {m} held out"
        cases.append(case(label, maker, inputs, steps, lr))
    cases[-1] = replace(cases[-1], label=f"{label}, a model that differs in training mode", part="held out")
    return cases


def fixed() -> list[Case]:
    g = generator(5)
    inputs = randn(g, 5, 4), torch.tensor([0, 2, 1, 1, 0]), randn(g, 2, 4)
    step = case("a single step", "four_features_three_classes", inputs, 1, 0.5)
    return [step, replace(step, label="what comes back after a single step", part="held out", finished=True)]


NAMES, FORBIDDEN = ("losses", "held_logits"), ("course_utils.training.loop.fit",)
EXERCISE = FunctionExercise(right=train, oracle=oracle, draw=draw, fixed=fixed, outputs=NAMES, rtol=1e-3, atol=1e-4, forbidden=FORBIDDEN)
