"""Exercise 10.5: the loop of fine-tuning. The oracle is AdamW by hand, in double precision."""

import torch
from torch import Tensor
from torch.func import functional_call
from torch.nn import functional as F

from ..common import CALLABLES, Case, FunctionExercise, Registered, generator, integers
from . import callables  # noqa: F401  (registers the models)


def fine_tune(new_model, data: list[Tensor], test: list[Tensor], batches: list[Tensor], lr: float) -> tuple[list[float], Tensor]:
    model = new_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    losses = []
    for rows in batches:
        ids, segments, mask, labels = (part[rows] for part in data)
        loss = F.cross_entropy(model(ids, segments, mask), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        return losses, model(*test)


@torch.enable_grad()
def oracle(new_model: Registered, data: list[Tensor], test: list[Tensor], batches: list[Tensor], lr: float) -> tuple[list[float], Tensor]:
    """Loshchilov and Hutter 2019, algorithm 2, on what is not frozen."""
    model = CALLABLES[new_model.name]()
    everything = {name: value.detach().double() for name, value in model.named_parameters()}
    moved = [name for name, value in model.named_parameters() if value.requires_grad]
    first, second = ({name: torch.zeros_like(everything[name]) for name in moved} for _ in range(2))
    losses = []
    for step, rows in enumerate(batches, start=1):
        for name in moved:
            everything[name] = everything[name].detach().requires_grad_()
        log_p = functional_call(model, everything, tuple(part[rows] for part in data[:3])).log_softmax(-1)
        loss = -log_p[torch.arange(len(rows)), data[3][rows]].mean()
        losses.append(loss.item())
        for name, slope in zip(moved, torch.autograd.grad(loss, [everything[name] for name in moved]), strict=True):
            first[name] = 0.9 * first[name] + 0.1 * slope
            second[name] = 0.999 * second[name] + 0.001 * slope**2
            pace = first[name] / (1 - 0.9**step) / (torch.sqrt(second[name] / (1 - 0.999**step)) + 1e-8)
            everything[name] = everything[name] * (1 - lr * 0.01) - lr * pace
    return losses, functional_call(model.eval(), everything, tuple(test)).detach().float()


def drawn(g: torch.Generator, label: str, part: str, model: str, labels: int, finished: bool = False) -> Case:
    def texts(count: int, n: int) -> list[Tensor]:
        mask = torch.arange(n) < n - integers(g, 0, 3, count)[:, None]
        return [integers(g, 2, 11, count, n) * mask, integers(g, 0, 2, count, n) * mask, mask]

    data = [*texts(9, 6), integers(g, 0, labels, 9)]
    batches = [rows for _ in range(2) for rows in torch.randperm(9, generator=g).split(4)]
    lr = round(0.02 + 0.04 * torch.rand((), generator=g).item(), 4)
    args = {"new_model": Registered(model), "data": data, "test": texts(3, 7), "batches": batches, "lr": lr}
    return Case(f"9 texts, {len(batches)} batches{label}", args, part, calls={"new_model": 1}, finished=finished)


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        drawn(g, ", 2 labels", "values", "two_labels", 2),
        drawn(g, ", 3 labels", "values", "three_labels", 3),
        drawn(g, ", a model of which only the head may learn", "frozen", "frozen_toy", 2),
        drawn(g, ", a model that differs in training mode", "evaluation", "toy_that_mutes", 3, finished=True),
    ]


NAMES, FORBIDDEN = ("losses", "scores"), ("course_utils.training.loop.fit", "course_utils.experiments.ch10_finetuning.finetune")
EXERCISE = FunctionExercise(right=fine_tune, oracle=oracle, draw=draw, outputs=NAMES, rtol=1e-3, atol=2e-4, forbidden=FORBIDDEN)
