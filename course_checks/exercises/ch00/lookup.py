"""Exercise 00.3: an embedding is a matrix product with one-hot rows. The oracle looks the rows up."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..common import Case, ModuleExercise, generator, randn, sizes


class Lookup(nn.Module):
    def __init__(self, vocab_size: int, d_model: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))

    def forward(self, ids: Tensor) -> Tensor:
        one_hot = F.one_hot(ids, len(self.weight)).to(self.weight.dtype)
        return one_hot @ self.weight


def oracle(init: dict, parameters: dict, inputs: dict | None) -> Tensor | str:
    return "weight random" if inputs is None else F.embedding(inputs["ids"], parameters["weight"])


def case(g: torch.Generator, words: int, d: int, ids: Tensor, label: str) -> Case:
    args = {"init": {"vocab_size": words, "d_model": d}, "parameters": {"weight": randn(g, words, d)}, "inputs": {"ids": ids}}
    return Case(label, args, gradients=("weight",), shape="(batch, token, d_model)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    batch, n, d = sizes(g, 3)
    words = int(torch.randint(8, 12, (), generator=g))
    ids = torch.randint(words - 1, (batch, n), generator=g)
    ids[0, 0], ids[-1, -1] = 0, words - 1
    return [case(g, words, d, ids, f"{batch} sentences of {n} ids, {words} words, {d} features")]


def fixed() -> list[Case]:
    g = generator(6)
    return [
        case(g, 7, 4, torch.tensor([[0, 1], [2, 3]]), "ids 0 to 3 of 7 words"),
        case(g, 5, 3, torch.tensor([[2, 2, 2, 4]]), "one sentence that repeats a word"),
        case(g, 6, 2, torch.tensor([[0], [0], [0]]), "sentences of one token, all of them word 0"),
        Case("how a new layer starts", {"init": {"vocab_size": 6, "d_model": 2}, "parameters": {}, "inputs": None}),
    ]


EXERCISE = ModuleExercise(right=Lookup, oracle=oracle, draw=draw, fixed=fixed, forbidden=("torch.nn.functional.embedding",))
