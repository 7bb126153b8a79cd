"""The functions that exercises 11a.2, 11a.5 and 11a.8 hand to an answer."""

import torch
from torch import Tensor

from ...case import register

WIDTH, VOCAB = 6, 29
_TABLE = torch.sin(torch.arange(1.0, VOCAB * WIDTH + 1) ** 1.4).reshape(VOCAB, WIDTH)
_OUTPUT = torch.sin(torch.arange(1.0, VOCAB * WIDTH + 1) ** 1.3).reshape(WIDTH, VOCAB)


@register
def causal_reader(ids: Tensor) -> Tensor:
    """Vectors ``(batch, n, 6)`` of ids ``(batch, n)``: position t depends on all ids up to t and on their order."""
    places = torch.cos(torch.arange(1.0, ids.shape[1] * WIDTH + 1) ** 1.2).reshape(-1, WIDTH)
    mixed = torch.cumsum(torch.tanh(_TABLE[ids] + places), dim=1)
    return mixed / torch.arange(1, ids.shape[1] + 1)[:, None] ** 0.5 + _TABLE[ids]


@register
def mixing_block(x: Tensor) -> Tensor:
    """``(batch, n, d)`` -> the same shape: every position adds something of the mean of those up to it."""
    mean = torch.cumsum(x, dim=1) / torch.arange(1, x.shape[1] + 1)[:, None]
    return x + torch.tanh(1.5 * mean.roll(1, -1))


@register
def bending_block(x: Tensor) -> Tensor:
    """``(batch, n, d)`` -> the same shape: every position bends its own vector."""
    return x + torch.sin(2 * x) * torch.linspace(0.3, 0.9, x.shape[-1])


@register
def causal_logits(ids: Tensor) -> Tensor:
    """Logits ``(batch, n, 29)`` for the token after each position of ids ``(batch, n)``, from the ids up to it."""
    return causal_reader(ids) @ _OUTPUT


@register
def trained_reader(ids: Tensor) -> Tensor:
    """As ``causal_reader``; refuses to be called where gradients are switched off, because its body is to be trained."""
    if not torch.is_grad_enabled():
        raise ValueError("read was called with gradients switched off, so the model behind it could not be trained")
    return causal_reader(ids)
