"""Exercise 09.2: three tables, added and normalised. The oracle is one linear layer on concatenated one-hot vectors."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..common import Case, ModuleExercise, generator, integers, randn


class InputEmbeddings(nn.Module):
    def __init__(self, vocab_size: int, d_model: int, max_len: int, num_segments: int):
        super().__init__()
        self.token = nn.Embedding(vocab_size, d_model)
        self.position = nn.Embedding(max_len, d_model)
        self.segment = nn.Embedding(num_segments, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)

    def forward(self, ids: Tensor, segments: Tensor) -> Tensor:
        n = ids.shape[1]
        place = torch.arange(n)
        x = self.token(ids) + self.position(place) + self.segment(segments)
        return self.norm(x)  # (batch, n, d_model)


def oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    ids, segments = inputs["ids"], inputs["segments"]
    tables = [parameters[f"{name}.weight"] for name in ("token", "position", "segment")]
    numbers = [ids, torch.arange(ids.shape[1]).expand_as(ids), segments]
    one_hot = torch.cat([F.one_hot(n, len(table)).to(table) for n, table in zip(numbers, tables, strict=True)], -1)
    x = one_hot @ torch.cat(tables)  # (batch, n, d_model)
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + 1e-12).sqrt() * parameters["norm.weight"] + parameters["norm.bias"]


def case(g: torch.Generator, label: str, part: str, batch: int, n: int, segments: int = 2, size: float = 1.0) -> Case:
    parameters = {f"{name}.weight": size * randn(g, rows, 6) for name, rows in (("token", 17), ("position", 9), ("segment", segments))}
    parameters |= {"norm.weight": 1 + 0.3 * randn(g, 6), "norm.bias": 0.3 * randn(g, 6)}
    second = torch.arange(n) >= integers(g, 1, max(n, 2), batch, 1)
    ids = integers(g, 0, 17, batch, n)
    ids[0, n - 1] = 0
    init = {"vocab_size": 17, "d_model": 6, "max_len": 9, "num_segments": segments}
    args = {"init": init, "parameters": parameters, "inputs": {"ids": ids, "segments": second.long()}}
    by = tuple(parameters) if part == "values" else ()  # of tiny numbers rounding decides
    return Case(label, args, part, gradients=by, shape="(batch, n, d_model)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        case(g, "2 inputs of 5 tokens, d_model = 6, max_len = 9", "values", 2, 5),
        case(g, "3 inputs of 7 tokens, three segments", "values", 3, 7, segments=3),
        case(g, "small numbers, entries of size 0.001", "eps", 2, 4, size=0.001),
    ]


def fixed() -> list[Case]:
    g = generator(2)
    return [case(g, "as long as max_len", "values", 1, 9), case(g, "a single token", "values", 1, 1)]


FORBIDDEN = ("course_utils.models.bert.BertEmbeddings.forward",)
EXERCISE = ModuleExercise(right=InputEmbeddings, oracle=oracle, draw=draw, fixed=fixed, forbidden=FORBIDDEN)
