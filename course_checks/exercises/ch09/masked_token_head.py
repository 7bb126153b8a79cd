"""Exercise 09.6, find the bugs: the head that names masked tokens. The oracle writes GELU and LayerNorm out."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...case import Case, generator
from ...exercise import ModuleExercise
from ..common import randn


class MaskedTokenHead(nn.Module):
    """The head with a switch for each fault; ``how`` is a set of words."""

    def __init__(self, vocab_size: int, d_model: int):
        super().__init__()
        eps = 1e-12
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.transform, self.norm = nn.Linear(d_model, d_model), nn.LayerNorm(d_model, eps=eps)
        self.bias = nn.Parameter(torch.zeros(vocab_size))

    def forward(self, hidden: Tensor) -> Tensor:
        table = self.embedding.weight
        x = self.transform(hidden)
        gelu = {
            "relu": F.relu,
            "silu": F.silu,
            "tanh gelu": lambda t: F.gelu(t, approximate="tanh"),
            "no gelu": lambda t: t,
            "tanh": torch.tanh,
        }.get(next(iter(frozenset() & ACTIVATIONS), ""), F.gelu)
        x = self.norm(gelu(x))
        scores = F.linear(x, table)
        scores = scores + self.bias
        return scores


def _oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    x = inputs["hidden"] @ parameters["transform.weight"].T + parameters["transform.bias"]
    x = x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))
    x = (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True) + 1e-12).sqrt()
    x = x * parameters["norm.weight"] + parameters["norm.bias"]
    return torch.einsum("...d,vd->...v", x, parameters["embedding.weight"]) + parameters["bias"]


ACTIVATIONS = frozenset(("relu", "silu", "tanh gelu", "no gelu", "tanh"))


def _module(*how: str) -> type[nn.Module]:
    def __init__(self, vocab_size, d_model):
        MaskedTokenHead.__init__(self, vocab_size, d_model, frozenset(how))

    return type("MaskedTokenHead", (MaskedTokenHead,), {"__init__": __init__})


def _case(g: torch.Generator, label: str, vocab: int, d: int, *shape: int, size: float = 1.0, part: str = "values") -> Case:
    parameters = {
        "embedding.weight": 0.5 * randn(g, vocab, d),
        "transform.weight": size * 0.5 * randn(g, d, d),
        "transform.bias": size * 0.4 * randn(g, d),
        "norm.weight": 1 + 0.4 * randn(g, d),
        "norm.bias": 0.4 * randn(g, d),
        "bias": 0.5 * randn(g, vocab),
    }
    return Case(
        label,
        {"init": {"vocab_size": vocab, "d_model": d}, "parameters": parameters, "inputs": {"hidden": randn(g, *shape, d)}},
        gradients=("hidden", *parameters) if size == 1 else (),  # of tiny numbers under a norm they are huge, and cancel
        shape="(…, vocab_size)",
        part=part,
    )


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        _case(g, "11 tokens, d_model = 6, 2 inputs of 4 tokens", 11, 6, 2, 4),
        _case(g, "5 selected tokens, as rows", 13, 8, 5),
        _case(g, "small numbers before the norm", 9, 6, 2, 3, size=0.004),
    ]


EXERCISE = ModuleExercise(file=__file__, right=MaskedTokenHead, oracle=_oracle, reference=_module(), draw=_draw)
