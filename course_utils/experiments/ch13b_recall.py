"""Chapter 13b's memories: what is read back from a matrix, without training and with two trained layers.

``recall`` writes random keys, each once or several times, and reads the latest value. ``train`` teaches pairs of layers the same task.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..models.linear_attention import remember
from ..training.loop import fit
from ..training.schedules import warmup_cosine

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


class Mixer(nn.Module):
    """One layer of a pair, "softmax" or "add": ``(batch, n, 64)`` -> the same.

    Both see the neighbours through a convolution of width 3, have one head with 8 numbers for a key and 64 for a value, and a feed-forward
    network behind. "add" is plain linear attention without its denominator, with a norm behind: its state is 8 times 64 numbers.
    """

    def __init__(self, kind: str, width: int = 64, narrow: int = 8):
        super().__init__()
        self.kind, self.split = kind, [narrow, narrow, width]
        self.norm_1, self.norm_2, self.behind = nn.RMSNorm(width), nn.RMSNorm(width), nn.RMSNorm(width)
        self.qkv = nn.Linear(width, width + 2 * narrow, bias=False)
        self.near = nn.Conv1d(width + 2 * narrow, width + 2 * narrow, 3, groups=width + 2 * narrow)
        self.out = nn.Linear(width, width, bias=False)
        self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        y = self.qkv(self.norm_1(x)).mT
        q, k, v = self.near(F.pad(y, (2, 0))).mT.split(self.split, -1)
        if self.kind == "softmax":
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            mixed = self.behind((F.silu(q) @ F.silu(k).mT).tril() @ v)
        x = x + self.out(mixed)
        return x + self.feed(self.norm_2(x))


class Pair(nn.Module):
    """Two layers over ids ``(batch, n)``; logits of the values ``(batch, n, words)``."""

    def __init__(self, kinds: tuple[str, str], width: int = 64):
        super().__init__()
        self.token = nn.Embedding(3 * WORDS, width)  # keys, values, keys that are asked for
        nn.init.normal_(self.token.weight, std=0.5)
        self.layers = nn.Sequential(*(Mixer(kind, width) for kind in kinds))
        self.norm, self.answer = nn.RMSNorm(width), nn.Linear(width, WORDS, bias=False)

    def forward(self, ids: Tensor) -> Tensor:
        return self.answer(self.norm(self.layers(self.token(ids))))


def lists(pairs: int, batch: int, g: torch.Generator) -> tuple[Tensor, Tensor]:
    """Ids ``key value key value … asked asked …`` and the right values ``(batch, asked)``, at most 16 of them asked."""
    keys = torch.rand(batch, WORDS, generator=g).argsort(-1)[:, :pairs]
    values = torch.randint(WORDS, (batch, pairs), generator=g)
    asked = torch.rand(batch, pairs, generator=g).argsort(-1)[:, :16]
    written = torch.stack([keys, values + WORDS], -1).flatten(1)
    return torch.cat([written, keys.gather(1, asked) + 2 * WORDS], 1), values.gather(1, asked)


def train(kinds: tuple[str, str], steps: int = 300, seed: int = 0) -> Pair:
    """A fresh pair of layers, taught with 2 to 32 pairs in a list."""
    torch.manual_seed(seed)
    model, g = Pair(kinds), torch.Generator().manual_seed(seed)

    def loss() -> Tensor:
        pairs = SIZES[int(torch.randint(len(SIZES), (), generator=g))]
        ids, right = lists(pairs, 32, g)
        return F.cross_entropy(model(ids)[:, 2 * pairs :].transpose(1, 2), right)

    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.01)
    fit(model, loss, steps, 5e-3, " + ".join(kinds), clip=1.0, schedule=warmup_cosine(steps, 20, 0.02), optimizer=optimizer)
    return model.eval()


@torch.no_grad()
def share_right(model: Pair, pairs: int, seed: int = 99) -> float:
    """Share of the asked keys whose value is found, in 128 lists."""
    ids, right = lists(pairs, 128, torch.Generator().manual_seed(seed))
    return model(ids)[:, 2 * pairs :].argmax(-1).eq(right).float().mean().item()
