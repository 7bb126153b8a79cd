"""What the exercises of this chapter share."""

from __future__ import annotations

import torch
from torch import Tensor

IGNORED = -100


def randn(g: torch.Generator, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=g)


def integers(g: torch.Generator, low: int, high: int, *shape: int) -> Tensor:
    return torch.randint(low, high, shape, generator=g)
