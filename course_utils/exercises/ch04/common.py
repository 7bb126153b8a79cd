"""What the exercises of this chapter share."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

fused = F.scaled_dot_product_attention  # kept here: these names may be forbidden while an answer runs
functional_mha = F.multi_head_attention_forward
FORBIDDEN_MHA = ("torch.nn.functional.multi_head_attention_forward", "torch.nn.MultiheadAttention.forward")


def randn(g: torch.Generator, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=g)


def linear(d_in: int, d_out: int, bias: bool) -> nn.Linear:
    return nn.Linear(d_in, d_out, bias=bias)
