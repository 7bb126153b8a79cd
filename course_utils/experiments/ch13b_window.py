"""Chapter 13b's long texts: a small GPT with rotated queries and keys, read far beyond the length it was trained on.

python -m course_utils.experiments.ch13b_window            writes ch13b_window.safetensors, about 25 CPU seconds
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..models.norms import RMSNorm
from ..models.positions import rope
from ..text.letters import letters
from ..training.loop import History, fit
from ..training.schedules import warmup_cosine
from ..training.stored import load_model, save_model

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
    """Pre-norm block: ``(batch, n, width)`` -> the same; ``weights`` keeps the last attention weights if ``watched``."""

    def __init__(self, config: RotaryConfig):
        super().__init__()
        width = config.width
        self.heads, self.watched, self.weights = config.heads, False, None
        self.norm_1, self.norm_2 = RMSNorm(width), RMSNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

    def forward(self, x: Tensor, positions: Tensor, mask: Tensor, base: float, farthest: int | None = None) -> Tensor:
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(self.norm_1(x)).chunk(3, -1))
        turned = rope(q, positions, base), rope(k, positions, base)  # (batch, heads, n, width / heads)
        if self.watched or farthest is not None:
            scores = turned[0] @ turned[1].mT
            if farthest is not None:  # keys further away are read as if they were that far away
                far = positions[:, None] - positions > farthest
                scores = torch.where(far, rope(q, torch.full_like(positions, farthest), base) @ k.mT, scores)
            self.weights = (scores / math.sqrt(q.shape[-1])).masked_fill(~mask, -torch.inf).softmax(-1)
        mixed = self.weights @ v if farthest is not None else F.scaled_dot_product_attention(*turned, v, attn_mask=mask)
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
        self.blocks = nn.ModuleList(RotaryBlock(config) for _ in range(config.layers))
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

    history = fit(
        model,
        loss,
        steps,
        lr,
        "rotary GPT",
        clip=1.0,
        schedule=warmup_cosine(steps, min(50, steps // 4)),
        optimizer=torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01),
    )
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


@torch.no_grad()
def bits_from_cache(model: RotaryGPT, rows: Tensor, size: int, places: range, kept: int = 0) -> float:
    """Bits a letter at ``places`` if each is predicted from the ``kept`` first tokens and the last ones, ``size`` in all, in every layer.

    The numbers of the places are counted inside what is kept, as a cache that turns its keys anew does it: the first token is never further
    away than ``size``. The states of a token do not change once they are computed.
    """
    n = max(places) + 1
    x, base = model.token(rows[:, :n]), 10_000.0
    i = torch.arange(n)
    for block in model.blocks:
        q, k, v = (t.unflatten(-1, (block.heads, -1)).transpose(1, 2) for t in block.qkv(block.norm_1(x)).chunk(3, -1))
        late = (i >= size)[:, None] & (i < kept)[None]  # the kept first keys, once they would have left the window
        seen = window(size - kept, kept)(i[:, None], i[None])
        seen[:size] = causal(i[:size, None], i[None])
        near = rope(q, i, base) @ rope(k, i, base).mT
        at_end = rope(q, torch.full((n,), size - 1), base)  # every query has the last place of a full cache
        far = at_end @ rope(k[:, :, : max(kept, 1)], torch.arange(max(kept, 1)), base).mT
        far = F.pad(far, (0, n - far.shape[-1]))
        scores = torch.where(late, far, near) / math.sqrt(q.shape[-1])
        mixed = scores.masked_fill(~seen, -torch.inf).softmax(-1) @ v
        x = x + block.out(mixed.transpose(1, 2).flatten(2))
        x = x + block.down(F.gelu(block.up(block.norm_2(x))))
    logits = model.out(model.norm(x))[:, places.start : places.stop]
    return F.cross_entropy(logits.transpose(1, 2), rows[:, places.start + 1 : places.stop + 1]).item() / math.log(2)


@torch.no_grad()
def first_key(model: RotaryGPT, rows: Tensor, queries: range = range(32, 64)) -> Tensor:
    """``(layers, heads)``: the mean attention of ``queries`` to the first token."""
    for block in model.blocks:
        block.watched = True
    model(rows[:, : queries.stop])
    found = torch.stack([block.weights[:, :, queries.start :, 0].mean((0, 2)) for block in model.blocks])
    for block in model.blocks:
        block.watched, block.weights = False, None
    return found


def load() -> RotaryGPT:
    """The committed model."""
    return load_model(STORED, "rotary GPT", lambda config: RotaryGPT(RotaryConfig(**config)))[0]


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500)
    steps = parser.parse_args(argv).steps
    model = train(steps=steps)
    save_model(STORED, model, model.config, f"python -m course_utils.experiments.ch13b_window --steps {steps}")


if __name__ == "__main__":
    main()
