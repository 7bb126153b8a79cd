"""The toy models that exercise 08a.5 hands to an answer; nothing here tells what is right."""

import torch
from torch import Tensor

from ...case import register

VOCAB = 11


@register
def causal_toy(source: Tensor, target: Tensor) -> Tensor:
    """Scores ``(batch, n, 11)`` of the next token from ids ``(batch, m)`` and ``(batch, n)``: position t has read target[: t + 1]."""
    table = torch.sin(torch.arange(1.0, VOCAB * VOCAB + 1) ** 1.3).reshape(VOCAB, VOCAB)
    read = torch.cumsum(table[target] / torch.arange(1, target.shape[1] + 1)[:, None] ** 0.5, dim=1)
    return 1.5 * read + table.T[source].mean(dim=1, keepdim=True)


@register
def listening_toy(source: Tensor, target: Tensor) -> Tensor:
    """Like causal_toy, but its source (batch, m) holds floats, so that a gradient can flow through it."""
    words = torch.cos(torch.arange(1.0, VOCAB + 1) * source.mean(1, keepdim=True))  # (batch, vocab)
    return causal_toy(torch.zeros(len(source), 1, dtype=torch.long), target) + words[:, None]
