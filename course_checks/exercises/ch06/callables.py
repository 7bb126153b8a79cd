"""Layers that exercise 06.5 hands to an answer; nothing here tells what is right."""

import torch
from torch import Tensor

from ...case import register


def _tril(x: Tensor) -> Tensor:
    return torch.ones(len(x), len(x), dtype=torch.bool).tril()


@register
def causal_layer(x: Tensor) -> Tensor:
    """Attention with a causal mask."""
    return torch.softmax((x @ x.mT / x.shape[-1] ** 0.5).masked_fill(~_tril(x), -torch.inf), -1) @ x


@register
def masked_too_late(x: Tensor) -> Tensor:
    """Attention whose mask comes after the softmax: the future is in the sum of the exponentials."""
    return (torch.softmax(x @ x.mT / x.shape[-1] ** 0.5, -1) * _tril(x)) @ x


@register
def balanced_window(x: Tensor) -> Tensor:
    """A token and the one before it; the features of every output sum to exactly 0, as they nearly do after a layer norm."""
    before = torch.cat([torch.zeros_like(x[:1]), x[:-1]])
    h = (x + 0.5 * before) @ torch.tensor([1.0, -0.5, 2.0, 0.25]).to(x.dtype)[:, None]  # in halves: sums of slopes cancel exactly
    return torch.cat([h, -h], -1)


@register
def contrasts(x: Tensor) -> Tensor:
    """Only differences between features are read: pushing all features of a token alike changes nothing."""
    return _tril(x).to(x.dtype) @ (x[:, 0::2] - x[:, 1::2])


@register
def whisper(x: Tensor) -> Tensor:
    """The first feature of the output reads the last feature of the next token, but only faintly."""
    after = torch.cat([x[1:], torch.zeros_like(x[:1])])
    return torch.cat([x[:, :1] + 1e-4 * after[:, -1:], x[:, :1] * 2], -1)


@register
def aside(x: Tensor) -> Tensor:
    """Only the last feature of the output reads the first feature of the token before."""
    before = torch.cat([torch.zeros_like(x[:1]), x[:-1]])
    return torch.cat([x[:, :1] * 2, x[:, :1] + before[:, :1]], -1)


@register
def last_feature(x: Tensor) -> Tensor:
    """Each output reads the last feature of the token before, and not faintly."""
    before = torch.cat([torch.zeros_like(x[:1]), x[:-1]])
    return x + before[:, -1:]


@register
def against(x: Tensor) -> Tensor:
    """The token before is subtracted: all slopes that lead to it are negative."""
    before = torch.cat([torch.zeros_like(x[:1]), x[:-1]])
    return x @ x.new_tensor([[1.0], [2.0], [1.0], [0.5]]) - torch.cat([before.sum(-1, keepdim=True), before[:, :1]], -1)


@register
def shortened(x: Tensor) -> Tensor:
    """Each output is made of two neighbouring inputs: half as many outputs."""
    return torch.tanh(x[0 : len(x) - 1 : 2] + x[1::2])
