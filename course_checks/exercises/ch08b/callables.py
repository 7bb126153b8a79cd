"""Step functions for the decoding exercises: small languages whose every probability can be written down."""

from __future__ import annotations

import torch
from torch import Tensor

from ...case import generator, register

VOCAB, BOS, EOS, PAD = 7, 1, 2, 0


def table(seed: int, vocab: int = VOCAB, sharp: float = 2.0) -> Tensor:
    """Log-probabilities ``(token before last, last token, next)``."""
    return torch.randn(vocab, vocab, vocab, generator=generator(seed), dtype=torch.float64).mul(sharp).log_softmax(-1)


_TABLES = {seed: table(seed) for seed in range(8)}
_TABLES[7] = table(70, sharp=0.7)
_TABLES[7][:, :, EOS] = -9.0  # a language that hardly ever ends
_TABLES[7] = _TABLES[7].log_softmax(-1)


def _next(which: int, tokens: Tensor) -> Tensor:
    before = tokens[:, -2] if tokens.shape[1] > 1 else torch.zeros(len(tokens), dtype=torch.long)
    return _TABLES[which][before, tokens[:, -1]].float()


def _make(which: int):
    def step(tokens: Tensor) -> Tensor:
        return _next(which, tokens)

    step.__name__ = f"language_{which}"
    return register(step)


LANGUAGES = [_make(which) for which in _TABLES]  # log-probabilities (k, vocab) of the next token


@register
def late_reward(tokens: Tensor) -> Tensor:
    """Four words, 0 begins and 1 ends. Token 3 starts badly, repeats itself for certain and ends for certain as token 8.

    If an ending may take one of two places in the beam, token 3 is lost after the first step.
    """
    chances = torch.tensor([[1e-6, 0.5, 0.3, 0.2], [1e-6, 0.34, 0.34, 0.32], [1e-6, 0.34, 0.34, 0.32], [1e-6, 1e-6, 0.001, 0.999]])
    sure = torch.tensor([1e-6, 1.0, 1e-6, 1e-6]).expand(len(tokens), -1)
    return (sure if tokens.shape[1] == 8 else chances[tokens[:, -1]]).log()


@register
def two_roads(tokens: Tensor) -> Tensor:
    """Six words, 0 begins and 1 ends. The second best beginning has two good extensions, and the less good of them ends best."""
    chances = torch.tensor(
        [
            [1e-6, 0.05, 0.45, 0.4, 0.05, 0.05],
            [1e-6, 0.2, 0.2, 0.2, 0.2, 0.2],
            [1e-6, 0.1, 0.3, 0.02, 0.3, 0.28],
            [1e-6, 0.02, 1e-6, 1e-6, 0.5, 0.48],
            [1e-6, 0.01, 0.24, 0.25, 0.24, 0.26],
            [1e-6, 0.98, 0.005, 0.005, 0.005, 0.005],
        ]
    )
    return chances[tokens[:, -1]].log()


def _story(tokens: Tensor, limit: int) -> Tensor:
    """Scores (batch, vocab) that depend on the row and on everything said so far; ``limit`` tokens are its longest input."""
    if tokens.dim() != 2 or tokens.shape[1] > limit:
        raise ValueError(f"tokens of shape {tuple(tokens.shape)}: this model reads (batch, t) with t at most {limit}")
    batch, t = tokens.shape
    places = torch.arange(1, t + 1, dtype=torch.float64)
    code = (tokens.double() * places).sum(1) + 3.7 * torch.arange(batch) + 0.9 * t  # (batch,)
    words = torch.arange(VOCAB, dtype=torch.float64)
    scores = torch.sin(1.3 * code[:, None] * (words + 1) + words)  # (batch, vocab)
    scores[:, PAD] = scores[:, BOS] = -3.0
    scores[:, EOS] += 0.25 * (t + torch.arange(batch) % 3 - 2.5)  # sentences end sooner or later
    return scores.float()


@register
def story(tokens: Tensor) -> Tensor:
    """Reads up to 12 tokens."""
    return _story(tokens, 12)


_OTHER_IDS = torch.tensor([6, 1, 5, 3, 4, 2, 0])  # 2 and 5 change places, and so do 0 and 6


@register
def other_story(tokens: Tensor) -> Tensor:
    """The same story in which 5 is the end token, 6 the pad, and 2 and 0 are words."""
    return _story(_OTHER_IDS[tokens], 12)[:, _OTHER_IDS]


@register
def mumble(tokens: Tensor) -> Tensor:
    """In its second step the model proposes the pad for every other row, and goes on afterwards."""
    scores = _story(tokens, 12)
    if tokens.shape[1] == 2:
        scores[::2, PAD] = 4.0
    elif tokens.shape[1] < 5:
        scores[:, EOS] = -2.0
    return scores


@register
def short_story(tokens: Tensor) -> Tensor:
    """Reads up to 4 tokens and never ends by itself: one call too many is an error."""
    scores = _story(tokens, 4)
    scores[:, EOS] = -2.0
    return scores


@register
def stutter(tokens: Tensor) -> Tensor:
    """Ends, and would go on talking after the end: row 0 after one token, row 1 after two ..."""
    scores = _story(tokens, 12)
    scores[:, EOS] = -2.0
    over = torch.arange(len(tokens)) + 2 == tokens.shape[1] + 1
    scores[over, EOS] = 5.0
    return scores
