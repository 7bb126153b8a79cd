"""One training loop for every chapter, and one way to choose a device."""

import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn


def best_device() -> torch.device:
    """The accelerator if there is one (CUDA, Apple's MPS, …), else the CPU."""
    return torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """``with evaluating(model):`` puts it into evaluation mode, and afterwards back into the mode it was in."""
    training = module.training
    module.eval()
    try:
        yield
    finally:
        module.train(training)


@dataclass
class History(Sequence[float]):
    """The loss of every step; reads like a list of them. ``validation`` holds ``(step, loss)`` pairs."""

    losses: list[float] = field(default_factory=list)
    validation: list[tuple[int, float]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.losses)

    def __getitem__(self, step: Any) -> Any:
        return self.losses[step]


def fit(
    module: nn.Module,
    loss: Callable[[], Tensor],
    steps: int,
    lr: float,
    label: str = "training",
    *,
    optimizer: torch.optim.Optimizer | None = None,
    schedule: Callable[[int], float] | None = None,
    clip: float | None = None,
    validate: Callable[[], Tensor | float] | None = None,
    every: int = 100,
) -> History:
    """Minimise ``loss()`` over the parameters of ``module``; returns the loss of every step.

    ``optimizer`` is Adam unless given; step ``t = 1, 2, …`` uses the rate ``lr * schedule(t)``; ``clip`` bounds the norm of all
    gradients together. Every ``every`` steps and at the end ``validate()`` is called in evaluation mode. Shows a progress bar, except
    while notebooks are built. Raises ValueError for numbers that make no sense; FloatingPointError, with the step and the likely cause,
    when the loss stops being a number.
    """
    if steps < 1 or every < 1 or not lr > 0:
        raise ValueError(f"steps={steps} and every={every} must be at least 1 and lr={lr} positive")
    if clip is not None and not clip > 0:
        raise ValueError(f"clip={clip} must be positive")
    optimizer = optimizer or torch.optim.Adam(module.parameters(), lr=lr)
    history = History()
    with _progress_bar(steps, label) as bar:
        for step in range(1, steps + 1):
            for group in optimizer.param_groups:
                group["lr"] = lr * (schedule(step) if schedule else 1.0) * group.get("ratio", 1.0)
            optimizer.zero_grad()
            value = loss()
            if value.dim():
                raise ValueError(f"a loss must be one number, got shape {tuple(value.shape)}: average it")
            number = value.item()
            if not math.isfinite(number):
                raise FloatingPointError(_why(module, number, step, lr))
            value.backward()
            if clip is not None:
                nn.utils.clip_grad_norm_(module.parameters(), clip)
            optimizer.step()
            history.losses.append(number)
            bar.update()
            if step % 10 == 0:
                bar.set_postfix(loss=f"{number:.3f}", refresh=False)
            if validate is not None and (step % every == 0 or step == steps):
                with evaluating(module), torch.no_grad():
                    history.validation.append((step, float(validate())))
    return history


def _progress_bar(steps: int, label: str) -> Any:
    from tqdm import tqdm  # its bar of text: a widget would leave an error in a notebook that is opened again

    return tqdm(total=steps, desc=label, leave=False, file=sys.stdout, disable=os.environ.get("COURSE_BUILD") == "1")


def _why(module: nn.Module, number: float, step: int, lr: float) -> str:
    """What a learner should look at when the loss is not a number any more."""
    start = f"the loss is {number} at step {step}"
    broken = [name for name, p in module.named_parameters() if not torch.isfinite(p).all()]
    if broken:
        return (
            f"{start}, because the weights are not finite any more ({broken[0]}): the update of step "
            f"{step - 1} was too large, or its gradient was. Lower lr={lr}, warm up, or clip the gradients."
        )
    huge = max(p.detach().abs().max().item() for p in module.parameters())
    if huge > 1e4:
        return f"{start} and the largest weight {huge:.1e}: training diverges. Lower lr={lr} or clip."
    return (
        f"{start}, although all weights are finite: look for log(0), a division by zero, an overflow in "
        "16 bits, or a softmax over a fully masked row."
    )
