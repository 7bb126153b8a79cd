"""Exercise 07b.5: attention whose queries and keys are normalised. The oracle is PyTorch's fused functions, one after the other."""

import math

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, fused, fused_rms_norm, generator, randn


def qk_norm_attention(query: Tensor, key: Tensor, value: Tensor, query_weight: Tensor, key_weight: Tensor, eps: float = 1e-6) -> Tensor:
    def rms_norm(t: Tensor, weight: Tensor) -> Tensor:
        mean_square = t.pow(2).mean(dim=-1, keepdim=True)
        return t / torch.sqrt(mean_square + eps) * weight

    q = rms_norm(query, query_weight)
    k = rms_norm(key, key_weight)
    scores = q @ k.mT / math.sqrt(query.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return weights @ value


def oracle(query: Tensor, key: Tensor, value: Tensor, query_weight: Tensor, key_weight: Tensor, eps: float = 1e-6) -> Tensor:
    width = query.shape[-1:]
    q, k = (fused_rms_norm(t.double(), width, w.double(), eps) for t, w in ((query, query_weight), (key, key_weight)))
    return fused(q, k, value.double()).float()


def case(g: torch.Generator, label: str, sizes: tuple[int, ...], size: float = 1.0, part: str = "values", **eps: float) -> Case:
    """``sizes`` are those of the leading axes, then the numbers of queries and keys, head_dim and d_value."""
    *lead, n, m, d, d_value = sizes
    args = {
        "query": size * randn(g, *lead, n, d) + 0.3 * size,
        "key": size * randn(g, *lead, m, d) - 0.2 * size,
        "value": randn(g, *lead, m, d_value),
        "query_weight": 1 + 0.4 * randn(g, d),
        "key_weight": 1 + 0.4 * randn(g, d),
    }
    return Case(label, args | eps, part=part, gradients=() if eps else tuple(args), shape="(…, query, d_value)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        case(g, "2 sequences, 3 heads, 5 queries, 7 keys, head_dim = 4, d_value = 6", (2, 3, 5, 7, 4, 6)),
        case(g, "2 sequences, 6 queries, 3 keys, head_dim = 5, d_value = 4", (2, 6, 3, 5, 4)),
        case(g, "queries and keys twenty times as long", (2, 3, 5, 6, 4), size=20.0, part="long vectors"),
        case(g, "short vectors, eps = 0.05", (4, 6, 5, 3), size=0.2, part="eps", eps=0.05),
    ]


def fixed() -> list[Case]:
    g = generator(8)
    still = case(g, "queries and keys of zeros", (2, 3, 4, 5, 6), part="eps", eps=1e-6)
    still.args["query"], still.args["key"] = torch.zeros(2, 3, 5), torch.zeros(2, 4, 5)
    return [case(g, "one query and one key", (1, 2, 1, 1, 4, 3)), case(g, "one query, no batch", (1, 5, 4, 3)), still]


EXERCISE = FunctionExercise(right=qk_norm_attention, oracle=oracle, draw=draw, fixed=fixed)
