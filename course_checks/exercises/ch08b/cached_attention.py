"""Exercise 08b.2: attention that remembers. The oracle is one causal pass of PyTorch's fused kernel, whose last rows count."""

import math

import torch
from torch import Tensor

from ..common import FUSED_NAME, Case, FunctionExercise, fused, generator, randn, refusal


def cached_attention(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, num_heads: int, keys=None, values=None) -> tuple[Tensor, ...]:
    if keys is not None and len(keys) != len(x):
        raise ValueError(f"the cache holds {len(keys)} sentences, the new tokens belong to {len(x)}")
    query, key, value = ((x @ w).unflatten(-1, (num_heads, -1)).transpose(1, 2) for w in (w_q, w_k, w_v))
    if keys is not None:
        key, value = torch.cat([keys, key], dim=2), torch.cat([values, value], dim=2)
    n, m = query.shape[2], key.shape[2]
    mask = torch.ones(n, m, dtype=torch.bool).tril(m - n)  # the new tokens are the last n of m
    scores = query @ key.mT / math.sqrt(query.shape[-1])  # (batch, head, n, m)
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    output = (weights @ value).transpose(1, 2).flatten(2)
    return output, key, value


def oracle(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, num_heads: int, keys=None, values=None) -> tuple[Tensor, ...]:
    """Queries for the old tokens too (any will do), one causal pass over all of them, the last rows of it."""
    q, k, v = (torch.stack((x @ w).chunk(num_heads, -1), 1) for w in (w_q, w_k, w_v))
    if keys is not None:
        k, v = torch.cat([keys, k], 2), torch.cat([values, v], 2)
    old = k.shape[2] - q.shape[2]
    q = torch.cat([torch.zeros(*q.shape[:2], old, q.shape[3]), q], 2)
    output = fused(q, k, v, is_causal=True)[:, :, old:]
    return torch.cat(list(output.unbind(1)), -1), k, v


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    weights = {"w_q": 0.5 * randn(g, 9, 10), "w_k": 0.5 * randn(g, 9, 10), "w_v": 0.5 * randn(g, 9, 14), "num_heads": 2}
    first = weights | {"x": randn(g, 3, 4, 9)}
    cache = weights | {"keys": randn(g, 3, 2, 6, 5), "values": randn(g, 3, 2, 6, 7)}
    one, four = cache | {"x": randn(g, 3, 1, 9)}, cache | {"x": randn(g, 3, 4, 9)}
    other = cache | {"x": randn(g, 3, 4, 9), "keys": randn(g, 3, 2, 6, 5), "values": randn(g, 3, 2, 6, 7)}
    by = ("x", "w_q", "w_k", "w_v")
    return [
        Case("4 tokens, nothing cached", first, "empty cache", gradients=by, shape=SHAPE),
        Case("1 new token, 6 cached", one, "one token", gradients=by, shape=SHAPE),
        Case("4 new tokens, 6 cached", four, "several tokens", gradients=by, shape=SHAPE),
        Case("as before, with other tokens in the cache", other, "several tokens", shape=SHAPE),
    ]


def fixed() -> list[Case]:
    g = generator(5)
    weights = {"w_q": randn(g, 9, 10), "w_k": randn(g, 9, 10), "w_v": randn(g, 9, 14), "num_heads": 2}
    first = weights | {"x": randn(g, 1, 1, 9)}
    three = {"w_q": randn(g, 7, 6), "w_k": randn(g, 7, 6), "w_v": randn(g, 7, 12), "num_heads": 3}
    three |= {"x": randn(g, 1, 5, 7), "keys": randn(g, 1, 3, 2, 2), "values": randn(g, 1, 3, 2, 4)}
    single = weights | {"num_heads": 1, "x": randn(g, 2, 2, 9), "keys": randn(g, 2, 1, 4, 10), "values": randn(g, 2, 1, 4, 14)}

    def misfit(old: int, new: int) -> Case:
        label = f"the cache is for {old} sentences, the new tokens are of {new}"
        args = weights | {"x": randn(g, new, 1, 9), "keys": randn(g, old, 2, 6, 5), "values": randn(g, old, 2, 6, 7)}
        return refusal(label, args, str(old), str(new))

    return [
        Case("the very first token of a single sentence", first, "empty cache", shape=SHAPE),
        Case("5 new tokens, 2 cached, one sentence, 3 heads", three, "several tokens", shape=SHAPE),
        Case("2 new tokens, as many cached as were new before, a single head", single, "several tokens", shape=SHAPE),
        misfit(1, 4),
        misfit(4, 1),
        misfit(3, 4),
    ]


NAMES, SHAPE = ("output", "keys", "values"), "(batch, n, heads · d_v)"
EXERCISE = FunctionExercise(right=cached_attention, oracle=oracle, draw=draw, fixed=fixed, outputs=NAMES, forbidden=(FUSED_NAME,))
