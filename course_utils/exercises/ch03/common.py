"""What the exercises of this chapter share."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

fused = F.scaled_dot_product_attention  # kept here: the name itself is forbidden while an answer runs
FUSED_NAME = "torch.nn.functional.scaled_dot_product_attention"


def randn(g: torch.Generator, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=g)
