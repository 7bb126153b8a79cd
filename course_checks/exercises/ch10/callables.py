"""The toy bodies and models that exercises 10.2 and 10.5 hand to an answer; nothing here tells what is right."""

import torch
from torch import Tensor, nn

from ...case import CALLABLES, register


def uneven(*shape: int, power: float = 1.3) -> Tensor:
    """Fixed numbers between -1 and 1 that follow no simple order."""
    return torch.sin(torch.arange(1.0, torch.Size(shape).numel() + 1) ** power).reshape(shape)


def body_of(width: int):
    def body(ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        """Hidden states ``(batch, n, width)``: each token, and the mean of the real ones."""
        own = uneven(11, width)[ids] + segments[..., None] * uneven(width, power=1.5)
        near = mask * 0.9 ** torch.arange(ids.shape[1])
        return own + (near[..., None] * own).sum(1, keepdim=True) / near.sum(1)[:, None, None].clamp_min(1e-3)

    return body


CALLABLES |= {"body_of_six": body_of(6), "body_of_five": body_of(5)}


class Toy(nn.Module):
    """A body and a head: ``forward(ids, segments, mask)`` gives scores ``(batch, labels)``. ``frozen``: only the head learns. With
    ``mutes``, every second feature is off in training mode and the others are doubled."""

    def __init__(self, width: int, labels: int, frozen: bool = False, mutes: bool = False):
        super().__init__()
        self.table = nn.Parameter(uneven(11, width), requires_grad=not frozen)
        self.segment = nn.Parameter(uneven(2, width, power=1.5), requires_grad=not frozen)
        self.output = nn.Linear(width, labels, bias=False)
        self.output.weight = nn.Parameter(uneven(labels, width, power=1.4))
        self.mutes = mutes

    def forward(self, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        near = (mask * 0.9 ** torch.arange(ids.shape[1])).to(self.table.dtype)
        x = (near[..., None] * (self.table[ids] + self.segment[segments])).sum(1) / near.sum(1)[:, None].clamp_min(1e-3)
        x = torch.tanh(x)
        if self.mutes and self.training:
            x = x * (2.0 * (torch.arange(x.shape[-1]) % 2 == 0))
        return self.output(x)


@register
def two_labels() -> nn.Module:
    return Toy(6, 2)


@register
def three_labels() -> nn.Module:
    return Toy(5, 3)


@register
def frozen_toy() -> nn.Module:
    return Toy(6, 2, frozen=True)


@register
def toy_that_mutes() -> nn.Module:
    return Toy(6, 3, mutes=True)
