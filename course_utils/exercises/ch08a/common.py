"""What the exercises of this chapter share."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

fused = F.scaled_dot_product_attention  # kept here: these names are forbidden while an answer runs
cross_entropy = F.cross_entropy


def randn(g: torch.Generator, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=g)


def integers(g: torch.Generator, low: int, high: int, *shape: int) -> Tensor:
    return torch.randint(low, high, shape, generator=g)
