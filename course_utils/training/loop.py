"""One small training loop, and one way to choose a device."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import torch
from torch import Tensor, nn


def best_device() -> torch.device:
    """CUDA if there is one, else Apple's MPS, else the CPU."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def fit(module: nn.Module, loss: Callable[[], Tensor], steps: int, lr: float, label: str = "training") -> list[float]:
    """Minimise ``loss()`` over the parameters of ``module`` with Adam; returns the loss of every step.

    Shows a progress bar, except while notebooks are built. Raises ValueError for ``steps < 1`` or ``lr <= 0`` and
    FloatingPointError, with the step, when the loss stops being a number.
    """
    if steps < 1 or not lr > 0:
        raise ValueError(f"steps={steps} must be at least 1 and lr={lr} positive")
    from tqdm.auto import tqdm

    optimizer = torch.optim.Adam(module.parameters(), lr=lr)
    history = []
    quiet = os.environ.get("COURSE_BUILD") == "1"
    for step in tqdm(range(steps), desc=label, leave=False, file=sys.stdout, disable=quiet):
        value = loss()
        if value.dim():
            raise ValueError(f"a loss must be one number, got shape {tuple(value.shape)}: average it")
        if not torch.isfinite(value):
            raise FloatingPointError(f"loss is {value.item()} at step {step}")
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        history.append(value.item())
    return history
