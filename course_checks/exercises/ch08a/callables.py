"""The toy models that exercises 08a.5 and 08a.8 hand to an answer; nothing here tells what is right."""

import torch
from torch import Tensor, nn

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


class Open(nn.Module):
    """A translator in miniature without masks of its own: each position mixes the tokens and the source words that it may read.

    ``forward(source, given, source_mask, mask)``. With ``mutes``, every second feature is off in training mode and the others doubled.
    """

    def __init__(self, vocab: int, width: int, mutes: bool = False):
        super().__init__()
        uneven = lambda *shape, power: torch.sin(torch.arange(1.0, torch.Size(shape).numel() + 1) ** power).reshape(shape)  # noqa: E731
        self.read, self.heard = nn.Parameter(uneven(vocab, width, power=1.3)), nn.Parameter(uneven(vocab, width, power=1.4))
        self.out = nn.Parameter(uneven(vocab, width, power=1.2))
        self.mutes = mutes

    def forward(self, source: Tensor, given: Tensor, source_mask: Tensor, mask: Tensor) -> Tensor:
        own, other = mask.to(self.read.dtype), source_mask.to(self.read.dtype)
        near = (0.9 ** torch.arange(given.shape[-1])).to(own)  # the places of a sentence do not count alike
        x = (own * near) @ self.read[given] / (own * near).sum(-1, keepdim=True).clamp_min(1e-3)
        x = torch.tanh(x + other @ self.heard[source] / other.sum(-1, keepdim=True).clamp_min(1))
        if self.mutes and self.training:
            x = x * (2.0 * (torch.arange(x.shape[-1]) % 2 == 0))
        return x @ self.out.T


@register
def eleven_words() -> nn.Module:
    return Open(VOCAB, 5)


@register
def nine_words() -> nn.Module:
    return Open(9, 7)


@register
def other_when_training() -> nn.Module:
    return Open(VOCAB, 6, mutes=True)
