"""Exercise 09.4, find the bugs: the head that names masked tokens. The oracle writes GELU and LayerNorm out."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..common import Case, ModuleExercise, generator, randn


class MaskedTokenHead(nn.Module):
    def __init__(self, vocab_size: int, d_model: int):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.transform = nn.Linear(d_model, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)
        self.bias = nn.Parameter(torch.zeros(vocab_size))

    def forward(self, hidden: Tensor) -> Tensor:
        x = self.norm(F.gelu(self.transform(hidden)))  # (…, d_model)
        return x @ self.embedding.weight.T + self.bias  # (…, vocab_size)


def oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    x = inputs["hidden"] @ parameters["transform.weight"].T + parameters["transform.bias"]
    x = x * 0.5 * (1 + torch.erf(x / 2**0.5))
    x = (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True) + 1e-12).sqrt()
    x = x * parameters["norm.weight"] + parameters["norm.bias"]
    return torch.einsum("...d,vd->...v", x, parameters["embedding.weight"]) + parameters["bias"]


def case(g: torch.Generator, label: str, vocab: int, d: int, *shape: int, size: float = 1.0) -> Case:
    parameters = {"embedding.weight": 0.5 * randn(g, vocab, d)}
    parameters |= {"transform.weight": size * 0.5 * randn(g, d, d), "transform.bias": size * 0.4 * randn(g, d)}
    parameters |= {"norm.weight": 1 + 0.4 * randn(g, d), "norm.bias": 0.4 * randn(g, d), "bias": 0.5 * randn(g, vocab)}
    args = {"init": {"vocab_size": vocab, "d_model": d}, "parameters": parameters, "inputs": {"hidden": randn(g, *shape, d)}}
    by = ("hidden", *parameters) if size == 1 else ()  # of tiny numbers under a norm they are huge, and cancel
    return Case(label, args, gradients=by, shape="(…, vocab_size)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        case(g, "11 tokens, d_model = 6, 2 inputs of 4 tokens", 11, 6, 2, 4),
        case(g, "5 selected tokens, as rows", 13, 8, 5),
        case(g, "small numbers before the norm", 9, 6, 2, 3, size=0.004),
    ]


EXERCISE = ModuleExercise(right=MaskedTokenHead, oracle=oracle, draw=draw)
