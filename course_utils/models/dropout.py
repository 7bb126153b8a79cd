"""Dropout that costs little on a CPU.

PyTorch's CPU kernel draws one random number for each element; here four elements share one of 64 bits, 16 bits each. A training step
of a translator of 2 × 128 with dropout .1 takes 13 % less time by it, one of a GPT of that size 5 % less
(``python benchmarks/path_speed.py --only quarters``).
Source: Srivastava et al. 2014; the survivors are scaled up while training, so that nothing changes afterwards.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def dropout(x: Tensor, p: float, training: bool = True) -> Tensor:
    """Set each element to 0 with probability ``p`` (to 1/65536 on a CPU) and divide the others by ``1 - p``; same shape.

    Uses PyTorch's random state. ValueError unless ``0 <= p < 1``.
    """
    if not 0 <= p < 1:
        raise ValueError(f"dropout={p} must be at least 0 and below 1")
    if not training or p == 0:
        return x
    if x.device.type != "cpu":
        return F.dropout(x, p)
    quarters = -(-x.numel() // 4)  # rounded up
    numbers = torch.empty(quarters, dtype=torch.int64).random_(-(2**63), None).view(torch.int16)  # each of -32768 … 32767 alike
    threshold = round(p * 65536) - 32768  # a share p of them lies below
    keep = numbers[: x.numel()].view(x.shape) >= threshold
    return x * keep.to(x.dtype).mul_(1 / (1 - p))


class Dropout(nn.Module):
    """``dropout`` as a module: only while training."""

    def __init__(self, p: float):
        super().__init__()
        if not 0 <= p < 1:
            raise ValueError(f"dropout={p} must be at least 0 and below 1")
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        return dropout(x, self.p, self.training)
