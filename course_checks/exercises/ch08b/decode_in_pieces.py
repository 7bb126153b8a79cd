"""Exercise 08b.6: a step-wise decoder whose code, as handed out, starts counting anew. The oracle is one pass over the whole sentence."""

import math

import torch
from torch import Tensor

from ..common import FUSED_NAME, Case, FunctionExercise, fused, generator, randn


def decode_in_pieces(ids: Tensor, pieces: list[int], embedding: Tensor, table: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> Tensor:
    outputs, seen = [], 0
    keys = values = None
    for size in pieces:
        x = embedding[ids[:, seen : seen + size]] + table[seen : seen + size]  # (batch, size, d_model)
        query, key, value = x @ w_q, x @ w_k, x @ w_v
        keys = key if keys is None else torch.cat([keys, key], dim=1)
        values = value if values is None else torch.cat([values, value], dim=1)
        scores = query @ keys.mT / math.sqrt(query.shape[-1])  # (batch, size, seen + size)
        future = torch.ones(size, seen + size, dtype=torch.bool).triu(seen + 1)
        weights = scores.masked_fill(future, -torch.inf).softmax(-1)
        outputs.append(weights @ values)
        seen += size
    return torch.cat(outputs, dim=1)


def oracle(ids: Tensor, pieces: list[int], embedding: Tensor, table: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> Tensor:
    x = torch.nn.functional.embedding(ids, embedding) + table[: ids.shape[1]]
    return fused((x @ w_q)[:, None], (x @ w_k)[:, None], (x @ w_v)[:, None], is_causal=True)[:, 0]


def arguments(g: torch.Generator, batch: int, n: int, d_k: int, size: float) -> dict:
    args = {"ids": torch.randint(0, 11, (batch, n), generator=g), "embedding": randn(g, 11, 8), "table": randn(g, 10, 8)}
    return args | {"w_q": size * randn(g, 8, d_k), "w_k": size * randn(g, 8, d_k), "w_v": size * randn(g, 8, 6)}


def draw(seed: int) -> list[Case]:
    args = arguments(generator(seed), 3, 7, 5, 0.4)
    by, shape = ("embedding", "w_k", "w_v"), "(batch, n, d_v)"
    return [
        Case("7 tokens, one at a time", args | {"pieces": [1] * 7}, "one at a time", gradients=by, shape=shape),
        Case("a prompt of 3, then one at a time", args | {"pieces": [3, 1, 1, 1, 1]}, "a prompt first", shape=shape),
        Case("pieces of 2, 3 and 2", args | {"pieces": [2, 3, 2]}, "later pieces", gradients=by, shape=shape),
    ]


def fixed() -> list[Case]:
    args = arguments(generator(9), 1, 5, 4, 1.0)
    loud = args | {"w_q": 4 * args["w_q"], "w_k": 4 * args["w_k"]}
    return [
        Case("one token, then four, large scores", loud | {"pieces": [1, 4]}, "later pieces", shape="(batch, n, d_v)"),
        Case("four tokens, then one, large scores", loud | {"pieces": [4, 1]}, "a prompt first", shape="(batch, n, d_v)"),
        Case("all five tokens in a single piece", args | {"pieces": [5]}, "a prompt first", shape="(batch, n, d_v)"),
    ]


EXERCISE = FunctionExercise(right=decode_in_pieces, oracle=oracle, draw=draw, fixed=fixed, forbidden=(FUSED_NAME,))
