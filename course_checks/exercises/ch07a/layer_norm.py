"""Exercise 07a.1: LayerNorm by hand. The oracle is PyTorch's, in double precision."""

import torch
from torch import Tensor

from ..common import LAYER_NORMS, OTHER_NORMS, Case, FunctionExercise, fused_layer_norm, generator, randn


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    mean = x.mean(dim=-1, keepdim=True)
    centred = x - mean
    variance = centred.pow(2).mean(dim=-1, keepdim=True)
    normal = centred / torch.sqrt(variance + eps)
    return normal * weight + bias


def oracle(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    return fused_layer_norm(x.double(), x.shape[-1:], weight.double(), bias.double(), eps).float()


def spread(x: Tensor) -> Tensor:
    """The features of every token moved apart until their standard deviation is 1.2: where the epsilon stands has cases of its own."""
    mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True, unbiased=False)
    return mean + (x - mean) * (1.2 / std).clamp(min=1)


def case(g: torch.Generator, label: str, x: Tensor, part: str = "values", **eps: float) -> Case:
    d = x.shape[-1]
    args = {"x": x, "weight": 1 + 0.5 * randn(g, d), "bias": 0.5 * randn(g, d), **eps}
    return Case(label, args, part=part, gradients=("x", "weight", "bias"), shape="(…, d_model)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    draws = ((64 * randn(g, 2, 3, 8)).round() / 64 for _ in range(10_000))  # 8 features in 64ths: exact means
    large = next(x for x in draws if x.var(-1).min() > 0.4)
    return [
        case(g, "2 sequences of 3 tokens of width 5", spread(2 * randn(g, 2, 3, 5) + 1)),
        case(g, "4 tokens of width 6", spread(2 * randn(g, 4, 6) - 1)),
        case(g, "four axes", spread(randn(g, 2, 3, 4, 5) + 1)),
        case(g, "features around 100", large + 100),
        case(g, "tokens of small variance, eps = 0.01", 0.1 * randn(g, 2, 3, 5), "eps", eps=0.01),
    ]


def fixed() -> list[Case]:
    g = generator(5)
    alike = torch.full((2, 3, 5), 2.0)
    alike[0, 1] = randn(g, 5)
    args = {"x": alike, "weight": 1 + 0.5 * randn(g, 5), "bias": 0.5 * randn(g, 5)}
    return [
        case(g, "one token of one sequence", randn(g, 1, 1, 5) + 1),
        case(g, "a single token, one axis", randn(g, 5) + 1),
        case(g, "tokens of tiny variance, eps = 0.01", 0.003 * randn(g, 2, 4, 6), "eps", eps=0.01),
        case(g, "tokens of tiny variance, eps left out", 0.003 * randn(g, 2, 4, 6), "eps"),
        Case("tokens whose features are all equal", args, part="eps", shape="(batch, token, d_model)"),
    ]


EXERCISE = FunctionExercise(right=layer_norm, oracle=oracle, draw=draw, fixed=fixed, forbidden=(*LAYER_NORMS, *OTHER_NORMS))
