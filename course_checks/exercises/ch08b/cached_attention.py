"""Exercise 08b.2: attention that remembers. The oracle is one causal pass of PyTorch's fused kernel, whose last rows count."""

import math

import torch
from torch import Tensor

from ..common import FUSED_NAME, Case, FunctionExercise, fused, generator, randn


def cached_attention(query: Tensor, key: Tensor, value: Tensor, keys=None, values=None) -> tuple[Tensor, ...]:
    if keys is not None:
        key, value = torch.cat([keys, key], dim=2), torch.cat([values, value], dim=2)
    n, m = query.shape[2], key.shape[2]
    mask = torch.ones(n, m, dtype=torch.bool).tril(m - n)  # the new tokens are the last n of m
    scores = query @ key.mT / math.sqrt(query.shape[-1])  # (batch, head, n, m)
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    return weights @ value, key, value


def oracle(query: Tensor, key: Tensor, value: Tensor, keys=None, values=None) -> tuple[Tensor, ...]:
    """Queries for the old tokens too (any will do), one causal pass over all of them, the last rows of it."""
    if keys is not None:
        key, value = torch.cat([keys, key], 2), torch.cat([values, value], 2)
    old = key.shape[2] - query.shape[2]
    every = torch.cat([torch.zeros(*query.shape[:2], old, query.shape[3]), query], 2)
    return fused(every, key, value, is_causal=True)[:, :, old:], key, value


def new(g: torch.Generator, batch: int, heads: int, n: int, old: int = 0, d_k: int = 5, d_v: int = 7) -> dict:
    args = {"query": randn(g, batch, heads, n, d_k), "key": randn(g, batch, heads, n, d_k), "value": randn(g, batch, heads, n, d_v)}
    return args | {"keys": randn(g, batch, heads, old, d_k), "values": randn(g, batch, heads, old, d_v)} if old else args


def draw(seed: int) -> list[Case]:
    g, by = generator(seed), ("query", "key", "value")
    four = new(g, 3, 2, 4, 6)
    return [
        Case("4 tokens, nothing cached", new(g, 3, 2, 4), "empty cache", gradients=by, shape=SHAPE),
        Case("1 new token, 6 cached", new(g, 3, 2, 1, 6), "one token", gradients=by, shape=SHAPE),
        Case("4 new tokens, 6 cached", four, "several tokens", gradients=by, shape=SHAPE),
        Case("as before, with other tokens in the cache", four | {"keys": randn(g, 3, 2, 6, 5)}, "several tokens", shape=SHAPE),
    ]


def fixed() -> list[Case]:
    g = generator(5)
    return [
        Case("the very first token of a single sentence", new(g, 1, 2, 1), "empty cache", shape=SHAPE),
        Case("5 new tokens, 2 cached, one sentence, 3 heads", new(g, 1, 3, 5, 2, 2, 4), "several tokens", shape=SHAPE),
        Case("2 new tokens, as many cached as are new, a single head", new(g, 2, 1, 2, 2, 10, 14), "several tokens", shape=SHAPE),
    ]


NAMES, SHAPE = ("output", "keys", "values"), "(batch, head, n, d_v)"
EXERCISE = FunctionExercise(right=cached_attention, oracle=oracle, draw=draw, fixed=fixed, outputs=NAMES, forbidden=(FUSED_NAME,))
