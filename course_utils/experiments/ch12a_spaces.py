"""Chapter 12a: where did deleted spaces stand? Learned from 200 windows, scored by F1 (results: ``benchmarks/family_encoders.py``)."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .ch10_finetuning import finetune
from .ch12a_relatives import Letters, N

COUNT, EPOCHS = 200, 20  # windows to learn from, and how often each is shown


class Spaces(NamedTuple):
    """Windows without spaces, ``(windows, 16)``, and for each letter 1 where a space stood behind it, else 0."""

    ids: Tensor
    labels: Tensor


def spaces(text: Letters, windows: Tensor) -> Spaces:
    """The task's texts, made from windows that follow each other."""
    stream = windows.flatten()
    gap = stream == text.alphabet.index(" ")
    behind = torch.cat([gap[1:], gap[:1]]).long()
    ids, labels = stream[~gap], behind[~gap]
    return Spaces(*(part[: len(part) // N * N].view(-1, N) for part in (ids, labels)))


def space_score(
    text: Letters, features: Callable[[Tensor], Tensor], trained: nn.Module, width: int = 64, seed: int = 0, lr: float = 2e-3
) -> float:
    """F1 of the spaces found in held-out text after fine-tuning ``trained``, and a linear layer on ``features(ids)``, on 200 windows.

    ``features`` gives ``(batch, 16, width)``; with frozen features ``trained`` holds nothing but, say, a mix of layers.
    """
    known, asked = spaces(text, text.train), spaces(text, text.held_out)
    rows = torch.randperm(len(known.ids), generator=torch.Generator().manual_seed(seed))[:COUNT]
    torch.manual_seed(seed)
    output = nn.Linear(width, 2)

    def loss(some: list[int]) -> Tensor:
        ids, labels = known.ids[rows[some]], known.labels[rows[some]]
        return F.cross_entropy(output(features(ids)).flatten(0, 1), labels.flatten())

    finetune(nn.ModuleList([trained, output]), loss, COUNT, EPOCHS, lr, seed=seed)
    with torch.no_grad():
        guess = output(features(asked.ids)).argmax(-1)
    return 2 * int(((guess == 1) & (asked.labels == 1)).sum()) / (int((guess == 1).sum()) + int((asked.labels == 1).sum()))
