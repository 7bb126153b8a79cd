"""Chapter 13b's long texts: a small GPT with rotated queries and keys, read far beyond the length it was trained on."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..models.norms import RMSNorm
from ..models.positions import rope
from ..text.letters import letters
from ..training.loop import History, fit
from ..training.model_file import load_model
from ..training.schedules import warmup_cosine

STORED = Path(__file__).with_name("ch13b_window.safetensors")
LENGTH = 64  # letters of a window of training
Look = Callable[[Tensor, Tensor], Tensor]  # (n, 1), (1, m): numbers of queries and keys -> (n, m), True = may attend


@dataclass(frozen=True)
class RotaryConfig:
    """Sizes of a rotary GPT over letters."""

    vocab_size: int
    width: int = 96
    heads: int = 4
    layers: int = 3


def causal(i: Tensor, j: Tensor) -> Tensor:
    """Every key up to the query itself."""
    return j <= i


def window(size: int, first: int = 0) -> Look:
    """The last ``size`` keys, the query's own among them, and the ``first`` keys of the text."""
    return lambda i, j: (j <= i) & ((j > i - size) | (j < first))


class RotaryBlock(nn.Module):
    """Pre-norm block: ``(batch, n, width)`` -> the same."""

    def __init__(self, config: RotaryConfig):
        super().__init__()
        width = config.width
        self.heads = config.heads
        self.norm_1, self.norm_2 = RMSNorm(width), RMSNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

    def forward(self, x: Tensor, positions: Tensor, mask: Tensor, base: float, farthest: int | None = None) -> Tensor:
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(self.norm_1(x)).chunk(3, -1))
        turned = rope(q, positions, base), rope(k, positions, base)  # (batch, heads, n, width / heads)
        if farthest is None:
            mixed = F.scaled_dot_product_attention(*turned, v, attn_mask=mask)
        else:  # keys further away are read as if they were that far away
            far = positions[:, None] - positions > farthest
            scores = torch.where(far, rope(q, torch.full_like(positions, farthest), base) @ k.mT, turned[0] @ turned[1].mT)
            mixed = (scores / math.sqrt(q.shape[-1])).masked_fill(~mask, -torch.inf).softmax(-1) @ v
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm_2(x))))


class RotaryGPT(nn.Module):
    """``forward(ids, look, scale, base, farthest)``: ``(batch, n)`` -> logits ``(batch, n, vocabulary)``.

    ``look`` says which keys a query reads; positions are divided by ``scale`` (position interpolation); ``base`` is that of the rotation;
    with ``farthest`` every larger distance is replaced by this one.
    """

    def __init__(self, config: RotaryConfig):
        super().__init__()
        self.config = config
        self.token = nn.Embedding(config.vocab_size, config.width)
        self.blocks: Any = nn.ModuleList(RotaryBlock(config) for _ in range(config.layers))
        self.norm, self.out = RMSNorm(config.width), nn.Linear(config.width, config.vocab_size, bias=False)
        nn.init.normal_(self.token.weight, std=0.5)

    def forward(self, ids: Tensor, look: Look = causal, scale: float = 1.0, base: float = 10_000.0, farthest: int | None = None) -> Tensor:
        place = torch.arange(ids.shape[1])
        mask = look(place[:, None], place[None])
        x = self.token(ids)
        for block in self.blocks:
            x = block(x, place / scale, mask, base, farthest)
        return self.out(self.norm(x))


@cache
def text() -> tuple[str, Tensor, Tensor]:
    """The manual in letters; the id behind the last letter is the token that begins a text."""
    return letters()


def begin(rows: Tensor) -> Tensor:
    """Put the token that begins a text before each row: ``(rows, n)`` -> ``(rows, n + 1)``."""
    return torch.cat([torch.full((len(rows), 1), len(text()[0])), rows], 1)


def learn(
    model: RotaryGPT,
    steps: int,
    length: int = LENGTH,
    batch: int = 16,
    seed: int = 0,
    lr: float = 3e-3,
    scale: float = 1.0,
    begins: bool = False,
) -> History:
    """Train on windows of ``length`` letters; with ``begins`` each has the token that begins a text in front."""
    g, stream = torch.Generator().manual_seed(seed), text()[1]
    reach = torch.arange(length + 1)

    def loss() -> Tensor:
        rows = stream[torch.randint(len(stream) - length, (batch, 1), generator=g) + reach]
        rows = begin(rows)[:, :-1] if begins else rows
        return F.cross_entropy(model(rows[:, :-1], scale=scale).transpose(1, 2), rows[:, 1:])

    optimizer, schedule = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01), warmup_cosine(steps, min(50, steps // 4))
    history = fit(model, loss, steps, lr, "rotary GPT", clip=1.0, schedule=schedule, optimizer=optimizer)
    model.eval()
    return history


def train(seed: int = 0, steps: int = 500, begins: bool = False) -> RotaryGPT:
    """A fresh model."""
    torch.manual_seed(seed)
    model = RotaryGPT(RotaryConfig(len(text()[0]) + 1))
    learn(model, steps, seed=seed, begins=begins)
    return model


def held_out(rows: int, length: int) -> Tensor:
    """``rows`` pieces of ``length`` letters, spread over the text that no model has read."""
    stream = text()[2]
    starts = torch.linspace(0, len(stream) - length, rows).long()
    return stream[starts[:, None] + torch.arange(length)]


@torch.no_grad()
def bits(model: RotaryGPT, rows: Tensor, **options) -> Tensor:
    """Bits a letter at every place that is predicted, ``(n - 1,)``, the mean over the rows ``(rows, n)``."""
    found = [F.cross_entropy(model(part[:, :-1], **options).transpose(1, 2), part[:, 1:], reduction="none") for part in rows.split(8)]
    return torch.cat(found).mean(0) / math.log(2)


def load() -> RotaryGPT:
    """The committed model."""
    return load_model(STORED, "rotary GPT", lambda config: RotaryGPT(RotaryConfig(**config)))[0]
