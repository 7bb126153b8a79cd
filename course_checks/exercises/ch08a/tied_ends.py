"""Exercise 08a.3: one matrix at both ends of the model; the code that is handed out has three faults."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..common import Case, ModuleExercise, generator, integers, randn


class TiedEnds(nn.Module):
    def __init__(self, vocab_size: int, d_model: int):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.body = nn.Linear(d_model, d_model)
        self.scale = math.sqrt(d_model)

    def forward(self, ids: Tensor, positions: Tensor) -> Tensor:
        x = self.embedding(ids) * self.scale + positions  # (batch, n, d_model)
        return self.body(x) @ self.embedding.weight.T


def oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    table = parameters["embedding.weight"]
    one_hot = F.one_hot(inputs["ids"], init["vocab_size"]).to(table)  # a look-up is a product with unit vectors
    x = one_hot @ table * init["d_model"] ** 0.5 + inputs["positions"]
    return F.linear(F.linear(x, parameters["body.weight"], parameters["body.bias"]), table)


def case(g: torch.Generator, label: str, vocab: int, d: int, batch: int, n: int, words: int | None = None) -> Case:
    parameters = {"embedding.weight": 0.5 * randn(g, vocab, d), "body.weight": 0.4 * randn(g, d, d), "body.bias": 0.4 * randn(g, d)}
    inputs = {"ids": integers(g, 0, words or vocab, batch, n), "positions": randn(g, n, d)}
    args = {"init": {"vocab_size": vocab, "d_model": d}, "parameters": parameters, "inputs": inputs}
    return Case(label, args, gradients=("positions", *parameters), shape="(batch, n, vocab_size)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        case(g, "11 words, d_model = 6, 2 sentences of 4 tokens", 11, 6, 2, 4),
        case(g, "5 words, d_model = 8, one sentence of 3 tokens", 5, 8, 1, 3),
    ]


def fixed() -> list[Case]:
    return [
        case(generator(3), "one token, 7 words, d_model = 4", 7, 4, 1, 1),
        case(generator(4), "the last words of 13 do not occur, d_model = 5", 13, 5, 2, 3, words=6),
    ]


EXERCISE = ModuleExercise(right=TiedEnds, oracle=oracle, draw=draw, fixed=fixed)
