"""Step functions for the decoding exercises: small languages whose every probability can be written down."""

from collections.abc import Callable

import torch
from torch import Tensor

from ...case import generator, register

VOCAB, BOS, EOS, PAD = 7, 1, 2, 0


def _language(which: int) -> Callable[[Tensor], Tensor]:
    """A step function: log-probabilities ``(k, vocab)`` of the next token, which depend on the last two."""
    often = which < 7  # the last language hardly ever ends
    drawn = torch.randn(VOCAB, VOCAB, VOCAB, generator=generator(which if often else 70), dtype=torch.float64)
    table = drawn.mul(2.0 if often else 0.7).log_softmax(-1)  # (token before last, last token, next)
    if not often:
        table[:, :, EOS] = -9.0
        table = table.log_softmax(-1)

    def step(tokens: Tensor) -> Tensor:
        before = tokens[:, -2] if tokens.shape[1] > 1 else torch.zeros(len(tokens), dtype=torch.long)
        return table[before, tokens[:, -1]].float()

    step.__name__ = f"language_{which}"
    return register(step)


LANGUAGES = [_language(which) for which in range(8)]


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
    begin, second = [1e-6, 0.05, 0.45, 0.4, 0.05, 0.05], [1e-6, 0.02, 1e-6, 1e-6, 0.5, 0.48]
    best, good = [1e-6, 0.1, 0.3, 0.02, 0.3, 0.28], [1e-6, 0.01, 0.24, 0.25, 0.24, 0.26]
    after_end, last = [1e-6, 0.2, 0.2, 0.2, 0.2, 0.2], [1e-6, 0.98, 0.005, 0.005, 0.005, 0.005]
    return torch.tensor([begin, after_end, best, second, good, last])[tokens[:, -1]].log()


def _story(tokens: Tensor, limit: int = 12) -> Tensor:
    """Scores (batch, vocab) that depend on the row and on everything said so far; ``limit`` tokens are its longest input."""
    if tokens.dim() != 2 or tokens.shape[1] > limit:
        raise ValueError(f"tokens of shape {tuple(tokens.shape)}: this model reads (batch, t) with t at most {limit}")
    batch, t = tokens.shape
    places, words = torch.arange(1, t + 1, dtype=torch.float64), torch.arange(VOCAB, dtype=torch.float64)
    code = (tokens.double() * places).sum(1) + 3.7 * torch.arange(batch) + 0.9 * t  # (batch,)
    scores = torch.sin(1.3 * code[:, None] * (words + 1) + words)  # (batch, vocab)
    scores[:, PAD] = scores[:, BOS] = -3.0
    scores[:, EOS] += 0.25 * (t + torch.arange(batch) % 3 - 2.5)  # sentences end sooner or later
    return scores.float()


@register
def story(tokens: Tensor) -> Tensor:
    """Reads up to 12 tokens."""
    return _story(tokens)


@register
def other_story(tokens: Tensor) -> Tensor:
    """The same story in which 5 is the end token, 6 the pad, and 2 and 0 are words."""
    other = torch.tensor([6, 1, 5, 3, 4, 2, 0])  # 2 and 5 change places, and so do 0 and 6
    return _story(other[tokens])[:, other]


@register
def mumble(tokens: Tensor) -> Tensor:
    """In its second step the model proposes the pad for every other row, and goes on afterwards."""
    scores = _story(tokens)
    if tokens.shape[1] == 2:
        scores[::2, PAD] = 4.0
    elif tokens.shape[1] < 5:
        scores[:, EOS] = -2.0
    return scores


@register
def short_story(tokens: Tensor) -> Tensor:
    """Reads up to 4 tokens and never ends by itself: one call too many is an error."""
    return _story(tokens, 4).index_fill(1, torch.tensor([EOS]), -2.0)


@register
def stutter(tokens: Tensor) -> Tensor:
    """Ends, and would go on talking after the end: row 0 after one token, row 1 after two ..."""
    scores = _story(tokens).index_fill(1, torch.tensor([EOS]), -2.0)
    scores[torch.arange(len(tokens)) + 1 == tokens.shape[1], EOS] = 5.0
    return scores
