"""Chapter 13b on three seeds: a rotary GPT far beyond its windows of training, with and without a first token.

    python benchmarks/long_attention.py

It writes results/long_attention.json and takes about seven minutes.
"""

from __future__ import annotations

import math
from copy import deepcopy

import torch
from report import write
from torch import Tensor
from torch.nn import functional as F

from course_utils.experiments.ch13b_window import RotaryGPT, begin, bits, causal, held_out, learn, train, window
from course_utils.models.attention import masked_softmax
from course_utils.models.masks import causal_mask
from course_utils.models.positions import rope

PLACES = {"inside": slice(32, 64), "to 128": slice(64, 128), "to 256": slice(128, 256), "to 511": slice(256, 511)}


def by_place(row: torch.Tensor) -> dict[str, float]:
    return {name: round(row[part].mean().item(), 3) for name, part in PLACES.items()}


def few(i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
    """The 32 nearest keys, and every fifteenth of those behind them."""
    return (j <= i) & ((j > i - 32) | ((i - j) % 15 == 0))


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
    x, i, found = model.token(rows[:, : queries.stop]), torch.arange(queries.stop), []
    for block in model.blocks:
        q, k = (rope(t.unflatten(-1, (block.heads, -1)).transpose(1, 2), i) for t in block.qkv(block.norm_1(x)).chunk(3, -1)[:2])
        weights = masked_softmax(q @ k.mT / math.sqrt(q.shape[-1]), causal_mask(len(i)))
        found.append(weights[:, :, queries.start :, 0].mean((0, 2)))
        x = block(x, i, causal_mask(len(i)), 10_000.0)
    return torch.stack(found)


def rotary(seed: int) -> dict[str, dict[str, float]]:
    """One model, read in all ways of the chapter, and tuned on longer windows."""
    model, rows, base = train(seed), held_out(24, 512), 10_000 * 4 ** (24 / 22)
    found = {
        "full": bits(model, rows),
        "window 64": bits(model, rows, look=window(64)),
        "far, not many": bits(model, rows, look=few),
        "many, not far": bits(model, rows, farthest=48),
        "few, not far": bits(model, rows, look=few, farthest=48),
        "positions / 4": bits(model, rows, scale=4.0),
        "base for 4": bits(model, rows, base=base),
    }
    for name, scale, length, batch in (
        ("positions / 4, tuned", 4.0, 256, 4),
        ("as they are, tuned", 1.0, 256, 4),
        ("as they are, tuned on 64", 1.0, 64, 16),
    ):
        tuned = deepcopy(model)
        learn(tuned, steps=60, length=length, batch=batch, lr=1e-3, scale=scale)
        found[name] = bits(tuned, rows, scale=scale)
    return {name: by_place(row) for name, row in found.items()}


def first_token(seed: int) -> dict[str, dict]:
    """What the first token gets and what it costs to drop it, in a model whose texts all begin with the same one, and in one without."""
    rows, found = held_out(24, 257), {}
    for name, begins in (("a first token", True), ("none", False)):
        model = train(seed, begins=begins)
        read = begin(rows)[:, :-1] if begins else rows
        by_head = first_key(model, read)  # (layers, heads)
        found[name] = {
            "attention of letters 33 to 64 to the first, by layer": [round(x, 4) for x in by_head.mean(1).tolist()],
            "largest head": round(by_head.max().item(), 3),
            "bits with the last 64": round(bits_from_cache(model, read, 64, range(128, 256)), 3),
            "bits with the first and the last 63": round(bits_from_cache(model, read, 64, range(128, 256), 1), 3),
        }
    return found


def main() -> None:
    torch.set_num_threads(1)
    seeds = {}
    for seed in range(3):
        seeds[str(seed)] = {"rotary": rotary(seed), "first token": first_token(seed)}
        write("long_attention", {"seeds": seeds})


if __name__ == "__main__":
    main()
