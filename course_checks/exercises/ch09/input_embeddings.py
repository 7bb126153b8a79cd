"""Exercise 09.3: three tables, added and normalised. The oracle is one linear layer on concatenated one-hot vectors."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...case import Case, generator
from ...exercise import ModuleExercise
from ..common import integers, randn


class InputEmbeddings(nn.Module):
    """The embeddings with a switch for each usual mistake."""

    def __init__(self, vocab_size: int, d_model: int, max_len: int, num_segments: int):
        super().__init__()
        self.token, self.position = nn.Embedding(vocab_size, d_model), nn.Embedding(max_len, d_model)
        self.segment = nn.Embedding(num_segments, d_model)
        eps = 1e-12
        self.norm = nn.LayerNorm(d_model, eps=eps)

    def forward(self, ids: Tensor, segments: Tensor) -> Tensor:
        n = ids.shape[1]
        if n > self.position.num_embeddings:
            raise ValueError(f"{n} tokens are more than max_len={self.position.num_embeddings}")
        places = torch.arange(n)
        token, position, segment = self.token(ids), self.position(places), self.segment(segments)
        x = token + position + segment
        return self.norm(x)


def _oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    ids, segments = inputs["ids"], inputs["segments"]
    if ids.shape[1] > init["max_len"]:
        raise ValueError(f"{ids.shape[1]} tokens, max_len={init['max_len']}")
    tables = [parameters[f"{name}.weight"] for name in ("token", "position", "segment")]
    numbers = [ids, torch.arange(ids.shape[1]).expand_as(ids), segments]
    one_hot = torch.cat([F.one_hot(n, len(table)).to(table) for n, table in zip(numbers, tables, strict=True)], -1)
    x = one_hot @ torch.cat(tables)  # (batch, n, d_model)
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + 1e-12).sqrt() * parameters["norm.weight"] + parameters["norm.bias"]


def _module(how: str = "right") -> type[nn.Module]:
    def __init__(self, vocab_size, d_model, max_len, num_segments):
        InputEmbeddings.__init__(self, vocab_size, d_model, max_len, num_segments, how)

    return type("InputEmbeddings", (InputEmbeddings,), {"__init__": __init__})


def _case(
    g: torch.Generator, label: str, shape: tuple[int, int], d: int = 6, max_len: int = 9, size: float = 1.0, segments: int = 2, **more
) -> Case:
    batch, n = shape
    parameters = {
        "token.weight": size * randn(g, 17, d),
        "position.weight": size * randn(g, max_len, d),
        "segment.weight": size * randn(g, segments, d),
        "norm.weight": 1 + 0.3 * randn(g, d),
        "norm.bias": 0.3 * randn(g, d),
    }
    second = torch.arange(n) >= integers(g, 1, max(n, 2), batch, 1)
    ids = integers(g, 0, 17, batch, n)
    ids[0, n - 1] = 0
    return Case(
        label,
        {
            "init": {"vocab_size": 17, "d_model": d, "max_len": max_len, "num_segments": segments},
            "parameters": parameters,
            "inputs": {"ids": ids, "segments": second.long()},
        },
        gradients=() if "rejects" in more or size < 0.1 else tuple(parameters),  # of tiny numbers rounding decides
        shape="(batch, n, d_model)",
        **more,
    )


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        _case(g, "2 inputs of 5 tokens, d_model = 6, max_len = 9", (2, 5)),
        _case(g, "3 inputs of 7 tokens, three segments", (3, 7), segments=3),
        _case(g, "small numbers, entries of size 0.001", (2, 4), size=0.001, part="eps"),
    ]


def _fixed() -> list[Case]:
    g = generator(2)
    return [
        _case(g, "as long as max_len", (1, 9)),
        _case(g, "a single token", (1, 1)),
        _case(g, "11 tokens, max_len = 9", (2, 11), part="refusal", rejects=ValueError, mentions=("11", "9")),
    ]


EXERCISE = ModuleExercise(
    file=__file__,
    right=InputEmbeddings,
    oracle=_oracle,
    reference=_module(),
    draw=_draw,
    fixed=_fixed,
    forbidden=("course_utils.models.bert.Embeddings.forward",),
)
