"""Exercise 08a.1: attention from the target to the source. The oracle is PyTorch's fused kernel."""

import math

import torch
from torch import Tensor

from ..common import FUSED_NAME, Case, FunctionExercise, fused, generator, integers, randn


def cross_attention(y: Tensor, memory: Tensor, source: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> tuple[Tensor, Tensor]:
    query, key, value = y @ w_q, memory @ w_k, memory @ w_v
    real = (source != 0)[:, None]  # (batch, 1, m), the same for every query
    scores = query @ key.mT / math.sqrt(key.shape[-1])  # (batch, n, m)
    lowest = torch.finfo(scores.dtype).min
    weights = scores.masked_fill(~real, lowest).softmax(-1) * real
    return weights @ value, weights


def oracle(y: Tensor, memory: Tensor, source: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> tuple[Tensor, Tensor]:
    real = (source != 0)[:, None].expand(len(y), y.shape[1], source.shape[1])
    empty = ~real.any(-1, keepdim=True)
    query, key = y @ w_q, memory @ w_k

    def mix(value: Tensor) -> Tensor:
        return fused(query[:, None], key[:, None], value[:, None], attn_mask=(real | empty)[:, None])[:, 0].masked_fill(empty, 0.0)

    return mix(memory @ w_v), mix(torch.eye(memory.shape[1]).expand(len(y), -1, -1))  # the weights: what mixes unit vectors


def case(g: torch.Generator, label: str, part: str, n: int, m: int, pads: list[int], d: int = 6, d_k: int = 4, d_v: int = 5) -> Case:
    source = integers(g, 1, 20, len(pads), m)
    for row, count in zip(source, pads, strict=True):
        row[m - count :] = 0
    args = {"y": randn(g, len(pads), n, d), "memory": randn(g, len(pads), m, d), "source": source}
    args |= {name: 0.6 * randn(g, d, width) for name, width in (("w_q", d_k), ("w_k", d_k), ("w_v", d_v))}
    return Case(label, args, part, gradients=("y", "memory", "w_q", "w_k", "w_v") if d == 6 else (), shape="(batch, n, d_v)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        case(g, "2 sentences, 3 target and 7 source tokens, no pads", "values", 3, 7, [0, 0]),
        case(g, "more target than source tokens, 7 and 3", "values", 7, 3, [0, 0]),
        case(g, "2, 0 and 4 pads at the end of the sources", "padding", 4, 8, [2, 0, 4]),
    ]


def fixed() -> list[Case]:
    g = generator(5)
    middle = case(g, "a pad in the middle", "padding", 3, 7, [1, 0])
    middle.args["source"][1, 2] = 0
    return [
        case(g, "one target token, one source token", "values", 1, 1, [0]),
        case(g, "one sentence, d = 5, d_k = 7, d_v = 3", "padding", 4, 6, [2], 5, 7, 3),
        middle,
        case(g, "the second source is all padding", "empty source", 3, 4, [1, 4]),
    ]


FORBIDDEN = (FUSED_NAME, "course_utils.models.attention.scaled_dot_product_attention")
EXERCISE = FunctionExercise(
    right=cross_attention, oracle=oracle, draw=draw, fixed=fixed, forbidden=FORBIDDEN, outputs=("output", "weights")
)
