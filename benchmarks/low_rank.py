"""LoRA: the weights of a trained body stay as they are, and a product of two narrow matrices is added to them.

Source: Hu et al. 2021, section 4.1. There the queries' and the values' matrices are changed; here all three of an attention, which our
blocks keep in one matrix ``(3 · d_model, d_model)``.
"""

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from course_utils.models.bert import Bert


class LowRank(nn.Module):
    """``weight (d_out, d_in)`` -> ``weight + alpha / rank · B @ A``; ``B`` starts at 0, so that nothing changes at first.

    Parameters: ``A (rank, d_in)``, random, and ``B (d_out, rank)``. ValueError for a rank below 1 or above the smaller size.
    """

    def __init__(self, d_out: int, d_in: int, rank: int, alpha: float):
        super().__init__()
        if not 1 <= rank <= min(d_out, d_in):
            raise ValueError(f"rank={rank} must lie between 1 and {min(d_out, d_in)}")
        self.A = nn.Parameter(torch.randn(rank, d_in) / d_in**0.5)
        self.B = nn.Parameter(torch.zeros(d_out, rank))
        self.scale = alpha / rank

    def forward(self, weight: Tensor) -> Tensor:
        return weight + self.scale * (self.B @ self.A)


def add_low_rank(bert: Bert, rank: int, alpha: float = 16.0, change: type[nn.Module] = LowRank) -> Bert:
    """Freeze the body and add a trained change of this rank to the attention weights of every block; returns the body."""
    bert.requires_grad_(False)
    for block in bert.encoder.blocks:
        layer = block.attention.w_qkv
        parametrize.register_parametrization(layer, "weight", change(*layer.weight.shape, rank, alpha))
        layer.parametrizations.weight.original.requires_grad_(False)
    return bert


def merge(bert: Bert) -> Bert:
    """Put the changes into the weights for good: the same function as before, and the size of the body that was frozen."""
    for block in bert.encoder.blocks:
        parametrize.remove_parametrizations(block.attention.w_qkv, "weight", leave_parametrized=True)
    return bert
