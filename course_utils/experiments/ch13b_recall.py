"""Chapter 13b's memories: what is read back from a matrix, and lists of pairs that a model learns to read.

``recall`` writes random keys, each once or several times, and reads the latest value. ``lists`` are what the chapter's layers learn from.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from ..models.linear_attention import remember

RULES: dict[str, dict[str, Any]] = {
    "plain sum": {},
    "decay 0.97": {"decay": 0.97},
    "delta": {"rule": "delta"},
    "delta, half": {"rule": "delta", "strength": 0.5},
}
WORDS = 32  # keys, and as many values
SIZES = (2, 4, 8, 16, 32)  # pairs in a sequence


def recall(rule: str, pairs: int, times: int, width: int = 16, draws: int = 60, seed: int = 0) -> float:
    """Share of keys whose latest value is the nearest to what is read, among all values that were written.

    ``pairs`` random unit keys of ``width`` numbers, each written ``times`` times with a new unit value of 64 numbers, round after round.
    The candidates are all values that were ever written. ``rule`` is one of ``RULES`` or "softmax", which is sharp (factor 100) and has no
    positions.
    """
    g = torch.Generator().manual_seed(seed)
    keys = F.normalize(torch.randn(draws, pairs, width, generator=g), dim=-1)
    values = F.normalize(torch.randn(draws, times, pairs, 64, generator=g), dim=-1)
    written, given = keys.repeat(1, times, 1), values.flatten(1, 2)  # (draws, times · pairs, …)
    if rule == "softmax":
        read = (100 * keys @ written.mT).softmax(-1) @ given
    else:
        read = keys @ remember(written, given, **RULES[rule])  # (draws, pairs, 64)
    nearest = (read @ given.mT).argmax(-1)  # (draws, pairs), among all values ever written
    return nearest.eq(torch.arange(pairs) + (times - 1) * pairs).float().mean().item()


def lists(pairs: int, batch: int, g: torch.Generator) -> tuple[Tensor, Tensor]:
    """Ids ``key value key value … asked asked …`` and the right values ``(batch, asked)``, at most 16 of them asked."""
    keys = torch.rand(batch, WORDS, generator=g).argsort(-1)[:, :pairs]
    values = torch.randint(WORDS, (batch, pairs), generator=g)
    asked = torch.rand(batch, pairs, generator=g).argsort(-1)[:, :16]
    written = torch.stack([keys, values + WORDS], -1).flatten(1)
    return torch.cat([written, keys.gather(1, asked) + 2 * WORDS], 1), values.gather(1, asked)


@torch.no_grad()
def share_right(model: Callable[[Tensor], Tensor], pairs: int, seed: int = 99) -> float:
    """Share of the asked keys whose value is found, in 128 lists."""
    ids, right = lists(pairs, 128, torch.Generator().manual_seed(seed))
    return model(ids)[:, 2 * pairs :].argmax(-1).eq(right).float().mean().item()
