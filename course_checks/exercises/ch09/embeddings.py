"""Exercise 09.3: three tables, added and normalised. The oracle is one linear layer on concatenated one-hot vectors."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...exercise import Case, Exercise, Twin, generator
from ..common import integers, randn


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


class Sum(nn.Module):
    """The embeddings with a switch for each usual mistake."""

    def __init__(self, vocab_size: int, d_model: int, max_len: int, num_segments: int, how: str = "right"):
        super().__init__()
        self.token, self.position = nn.Embedding(vocab_size, d_model), nn.Embedding(max_len, d_model)
        self.segment = nn.Embedding(num_segments, d_model)
        eps = {"eps": 1e-5, "large eps": 1e-6}.get(how, 1e-12)
        self.norm, self.how = nn.LayerNorm(d_model, eps=eps), how
        if how == "padding":
            self.token.padding_idx = 0

    def forward(self, ids: Tensor, segments: Tensor) -> Tensor:
        how, n, d = self.how, ids.shape[1], self.token.embedding_dim
        if n > self.position.num_embeddings:
            raise ValueError(f"{n} tokens are more than max_len={self.position.num_embeddings}")
        places = torch.arange(n)
        match how:
            case "from one":
                places = places + 1  # runs out of the table for an input as long as max_len, as a learner's does
            case "by id":
                places = ids % self.position.num_embeddings
            case "reversed":
                places = places.flip(0)
            case "anew":
                places = torch.stack([torch.cat([torch.arange(int((row == s).sum())) for s in range(self.segment.num_embeddings)])
                                      for row in segments]) if (segments.diff(dim=1) >= 0).all() else places
        token, position, segment = self.token(ids), self.position(places), self.segment(segments)
        match how:
            case "no position":
                position = 0 * position
            case "no segment":
                segment = 0 * segment
            case "tables exchanged":  # the first rows of each table for the numbers of the other
                position, segment = self.segment(places.clamp_max(self.segment.num_embeddings - 1)), self.position(segments)
            case "first segment":
                segment = self.segment.weight[0]
            case "scaled":
                token = token * d**0.5
            case "frozen":
                position = position.detach()
            case "cut":
                token, segment = token.detach(), segment.detach()
            case "rows":
                position = self.position(torch.arange(len(ids)).clamp_max(self.position.num_embeddings - 1))[:, None]
            case "norm each":
                return self.norm(token) + self.norm(position) + self.norm(segment)
            case "norm token":
                return self.norm(token) + position + segment
            case "norm before segment":
                return self.norm(token + position) + segment
            case "product":
                return self.norm(token * position * segment)
            case "padding":
                token = token * (ids != 0)[..., None]
        x = token + position + segment
        if how == "mean":
            return self.norm(x).mean(0, keepdim=True).expand_as(x)
        if how == "whole":
            return F.layer_norm(x, x.shape[1:], eps=1e-12) * self.norm.weight + self.norm.bias
        return x if how == "no norm" else self.norm(x)


def _module(how: str = "right") -> type[nn.Module]:
    def __init__(self, vocab_size, d_model, max_len, num_segments):
        Sum.__init__(self, vocab_size, d_model, max_len, num_segments, how)
    return type("InputEmbeddings", (Sum,), {"__init__": __init__})


def _case(g: torch.Generator, label: str, shape: tuple[int, int], d: int = 6, max_len: int = 9, size: float = 1.0, segments: int = 2,
          **more) -> Case:
    batch, n = shape
    parameters = {"token.weight": size * randn(g, 17, d), "position.weight": size * randn(g, max_len, d),
                  "segment.weight": size * randn(g, segments, d), "norm.weight": 1 + 0.3 * randn(g, d), "norm.bias": 0.3 * randn(g, d)}
    second = torch.arange(n) >= integers(g, 1, max(n, 2), batch, 1)
    ids = integers(g, 0, 17, batch, n)
    ids[0, n - 1] = 0
    return Case(label, {"init": {"vocab_size": 17, "d_model": d, "max_len": max_len, "num_segments": segments}, "parameters": parameters,
                        "inputs": {"ids": ids, "segments": second.long()}},
                gradients=() if "rejects" in more or size < 0.1 else tuple(parameters),  # of tiny numbers rounding decides
                shape="(batch, n, d_model)", **more)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case(g, "2 inputs of 5 tokens, d_model = 6, max_len = 9", (2, 5)),
            _case(g, "3 inputs of 7 tokens, three segments", (3, 7), segments=3),
            _case(g, "small numbers, entries of size 0.001", (2, 4), size=0.001, part="eps")]


def _fixed() -> list[Case]:
    g = generator(2)
    return [_case(g, "as long as max_len", (1, 9)), _case(g, "a single token", (1, 1)),
            _case(g, "11 tokens, max_len = 9", (2, 11), part="refusal", rejects=ValueError, mentions=("11", "9"))]


EMBEDDINGS = Exercise(
    id="09.3", title="Token, position, segment", name="InputEmbeddings", kind="module", stars=1, minutes=10,
    signature="InputEmbeddings(vocab_size, d_model, max_len, num_segments)(ids, segments) -> (batch, n, d_model)", oracle=_oracle,
    reference=_module(), draw=_draw, fixed=_fixed, parts={"values": 2, "eps": 1, "refusal": 1},
    forbidden=("course_utils.models.bert.Embeddings.forward",),
    twins=(
        Twin("position looked up by id", _module("by id"),
             "You look up the position with the id of the token. Use the place of the token in the input, whichever token it is."),
        Twin("position left out", _module("no position"),
             "Nothing tells the model where a token stands: one of the three tables is unused."),
        Twin("segment left out", _module("no segment"), "Nothing tells the model which text a token belongs to: one table is unused."),
        Twin("tables of position and segment exchanged", _module("tables exchanged"),
             "You look places up in the table of the segments and segments in that of the positions. Each number belongs to its own "
             "table."),
        Twin("every token in segment 0", _module("first segment"), "The segment is looked up for each token from what the caller says."),
        Twin("positions counted from 1", _module("from one"),
             "The first token is at position 0, the first row of the table. If you count from 1, you never use that row, and the "
             "longest permitted input needs a row that does not exist."),
        Twin("positions start again in the second text", _module("anew"),
             "Positions run through the whole input, across the separator. The segments tell the two texts apart."),
        Twin("positions from behind", _module("reversed"), "Positions are counted from the first token of the input, not from the last."),
        Twin("position of the row in the batch", _module("rows"),
             "You number the inputs of the batch. Number the tokens of each input instead, along the second axis."),
        Twin("no norm", _module("no norm"), "You return the plain sum. It has to go through a LayerNorm first."),
        Twin("each table normed", _module("norm each"), "One LayerNorm acts on the sum. You normalise three vectors and then add them."),
        Twin("only tokens normed", _module("norm token"), "First all three are added, and only then comes the LayerNorm."),
        Twin("normed before the segment", _module("norm before segment"), "Add the segment to the sum before the sum is normalised."),
        Twin("normed over the whole input", _module("whole"), "A LayerNorm looks at the features of one token, never across tokens."),
        Twin("multiplied instead of added", _module("product"), "The three vectors are added to each other, not multiplied."),
        Twin("tokens times the root of the width", _module("scaled"),
             "That factor belongs to the Transformer of 2017. Here all three tables are learned and simply added."),
        Twin("PyTorch's default for the norm", _module("eps"),
             "The small number under the root is the default of PyTorch. The docstring asks for a much smaller one, and rows of small "
             "numbers show the difference."),
        Twin("a millionth under the root", _module("large eps"),
             "You use a millionth under the root. BERT uses a smaller number; the docstring names it."),
        Twin("positions are not learned", _module("frozen"), "The numbers are right, but no gradient reaches the table of positions."),
        Twin("two tables are not learned", _module("cut"), "The numbers are right, but tokens and segments receive no gradient."),
        Twin("pads without a vector", _module("padding"),
             "You set the vector of token 0 to zero. Pads keep their embedding; later the attention mask hides them."),
        Twin("averaged over the batch", _module("mean"), "Each input has its own result. You have averaged over the inputs."),
    ),
)
