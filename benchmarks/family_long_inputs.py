"""Chapter 12a trains small BERTs under sparse masks on texts with one rare token, for which every position is asked.

A window does not carry the answer from one end to the other, a global token does.
Stored results: ``python benchmarks/family_others.py --only long``.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from course_utils.models.bert import Bert, BertConfig, output_layer
from course_utils.training.loop import History, fit
from course_utils.training.schedules import warmup_linear

KINDS = 8  # ids 1 to 8 are ordinary tokens, 9 to 16 the rare ones


def texts_with_one(batch: int, n: int, generator: torch.Generator, first: int = 0) -> tuple[Tensor, Tensor]:
    """Random texts ``(batch, n)`` with one rare token, at ``first`` or later, and its place, ``(batch,)``."""
    ids = torch.randint(1, KINDS + 1, (batch, n), generator=generator)
    place = torch.randint(first, n, (batch,), generator=generator)
    ids[torch.arange(batch), place] += KINDS
    return ids, place


class Finder(torch.nn.Module):
    """A small BERT under a mask ``(n, n)``; every position names the rare token: ids ``(batch, n)`` -> ``(batch, n, 8)``."""

    def __init__(self, mask: Tensor, width: int = 32, layers: int = 2):
        super().__init__()
        sizes: dict[str, Any] = {"vocab_size": 2 * KINDS + 1, "d_model": width, "num_heads": 4, "d_ff": 2 * width, "num_layers": layers}
        self.bert = Bert(BertConfig(**sizes, max_len=len(mask), dropout=0.0, pooler=False, init_std=0.08))
        self.output = output_layer(self.bert, KINDS)
        self.mask = mask

    def forward(self, ids: Tensor) -> Tensor:
        return self.output(self.bert(ids, None, self.mask[None]))


def answers(ids: Tensor, place: Tensor) -> Tensor:
    """Which rare token it is, counted from 0, ``(batch,)``."""
    return ids.gather(1, place[:, None])[:, 0] - KINDS - 1


def train(mask: Tensor, steps: int, seed: int = 0, batch: int = 32, first: int = 0, lr: float = 5e-3) -> tuple[Finder, History]:
    """Train a fresh ``Finder`` under this mask, rare tokens at ``first`` or later."""
    torch.manual_seed(seed)
    model, g = Finder(mask), torch.Generator().manual_seed(seed)

    def loss() -> Tensor:
        ids, place = texts_with_one(batch, len(mask), g, first)
        right = answers(ids, place)[:, None].expand_as(ids)
        return F.cross_entropy(model(ids).flatten(0, 1), right.flatten())

    history = fit(model, loss, steps, lr, "finding the token", clip=1.0, schedule=warmup_linear(steps, 20))
    return model.eval(), history


@torch.no_grad()
def by_distance(model: Finder, texts: int = 512, first: int = 0, seed: int = 99) -> Tensor:
    """Share of right answers by the distance from the rare token, ``(n,)``; NaN where no text has that distance."""
    n = len(model.mask)
    ids, place = texts_with_one(texts, n, torch.Generator().manual_seed(seed), first)
    right = torch.cat([model(part).argmax(-1) for part in ids.split(128)]) == answers(ids, place)[:, None]
    distance = (torch.arange(n) - place[:, None]).abs().flatten()
    hits = torch.zeros(n).index_add_(0, distance, right.float().flatten())
    return hits / torch.zeros(n).index_add_(0, distance, torch.ones(len(distance)))
