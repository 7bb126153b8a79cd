"""Exercises 05.4 and 05.5: how long the vectors are, and the embedding module."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...exercise import Case, Exercise, Twin, generator
from ..common import integers, randn, sizes

_KEYS = ("row of nn.Embedding(1000, 512)", "row with entries of std 1/√512", "that row times √512", "sinusoidal row, d_model = 512",
         "nn.Embedding row times √512, in sinusoidal rows")


def _lengths(d: int = 512) -> dict[str, float]:
    """Root of the sum of squares, worked out from variances: d entries of variance 1, d/2 pairs with sin² + cos² = 1."""
    normal, sinusoid = math.sqrt(d * 1.0), math.sqrt(d / 2)
    return dict(zip(_KEYS, (normal, 1.0, math.sqrt(d), sinusoid, normal * math.sqrt(d) / sinusoid), strict=True))


def _guess(*numbers: float) -> dict[str, float]:
    return dict(zip(_KEYS, numbers, strict=True))


_ROOT = math.sqrt(512)

LENGTHS = Exercise(
    id="05.4", title="Predict: how long are the vectors?", name="prediction_of_lengths", kind="value", stars=1, minutes=6,
    signature="prediction_of_lengths: dict of 5 numbers", oracle=_lengths, reference=_lengths(), rtol=0.05, parts={"values": 2},
    draw=lambda seed: [Case("your five numbers", {})],
    twins=(
        Twin("squared lengths", _guess(512, 1, 512, 256, 1024),
             "Those are sums of squares. A length is the root of that sum."),
        Twin("sums of absolute values", _guess(408.5, 18.05, 408.5, 16, 578),
             "You used the L1 norm, the sum of absolute values. Length means the L2 norm here."),
        Twin("every embedding has length one", _guess(1, 1, _ROOT, 16, _ROOT / 16),
             "PyTorch draws the entries of an embedding with standard deviation 1, so each of them adds about 1 to the squared length."),
        Twin("sinusoids taken for variance one", _guess(_ROOT, 1, _ROOT, _ROOT, _ROOT),
             "Each pair of a sinusoidal row adds sine squared plus cosine squared, that is 1. There are half as many pairs as columns."),
        Twin("scaling left out at the end", _guess(_ROOT, 1, _ROOT, 16, _ROOT / 16),
             "The last entry asks for the row after the multiplication, compared with a sinusoidal row."),
        Twin("multiplied by the width", _guess(_ROOT, 1, 512, 16, 32 * _ROOT),
             "The factor is the root of the width, about 22.6, not the width itself."),
        Twin("small entries taken for large", _guess(_ROOT, _ROOT, 512, 16, 32),
             "Entries of standard deviation one over the root of 512 have variance 1/512, and there are 512 of them."),
        Twin("ratio turned round", _guess(_ROOT, 1, _ROOT, 16, 1 / 32),
             "The last entry asks how many sinusoidal rows fit into one scaled embedding, not the other way round."),
        Twin("square of an embedding's length", _guess(512, 1, _ROOT, 16, 32),
             "512 is the sum of the squares, which is the length squared. The length is its root."),
        Twin("sum of an embedding's absolute values", _guess(408.5, 1, _ROOT, 16, 32),
             "You added up absolute values. The length is the root of the sum of squares."),
        Twin("one entry taken for the row", _guess(1, 1, _ROOT, 16, 32),
             "1 is the spread of a single entry. The row has 512 of them, and the squares of all add up."),
        Twin("words taken for columns", _guess(1000**0.5, 1, _ROOT, 16, 32),
             "You took the root of the number of words. A row belongs to one word, and it has as many entries as the embedding is wide."),
        Twin("one small entry taken for the row", _guess(_ROOT, 1 / _ROOT, _ROOT, 16, 32),
             "That is the spread of a single entry. The row has 512 of them; add up their squares before you take the root."),
        Twin("factor counted twice", _guess(_ROOT, 1, 512, 16, 32),
             "That row has the length 1 before it is multiplied, so afterwards its length is the factor itself. You have "
             "used the factor twice."),
        Twin("the factor taken away again", _guess(_ROOT, 1, 1, 16, 32),
             "The factor brings the single entries back to a spread of 1. The whole row had the length 1 before and gets longer by "
             "this factor."),
        Twin("every column of a sinusoid adds 1", _guess(_ROOT, 1, _ROOT, _ROOT, 32),
             "A sine squared plus its cosine squared is 1. So a pair of columns adds 1, not each column."),
        Twin("square of a sinusoid's length", _guess(_ROOT, 1, _ROOT, 256, 32),
             "256 is the sum of the squares, which is the length squared. The length is its root."),
        Twin("one pair taken for the row", _guess(_ROOT, 1, _ROOT, 1, 32),
             "1 is the length of a single pair. The row has 256 pairs, and the squares of all add up."),
        Twin("length instead of ratio", _guess(_ROOT, 1, _ROOT, 16, 512),
             "That is the length of the scaled row. The last entry asks for this length in sinusoidal rows: a division is missing."),
        Twin("factor instead of ratio", _guess(_ROOT, 1, _ROOT, 16, _ROOT),
             "That is the factor alone. A row of the embedding is already longer than a sinusoidal one before it is multiplied."),
    ),
)


def _module_oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    ids, first = inputs["ids"], inputs.get("first", 0)
    one_hot = F.one_hot(ids, init["vocab_size"]).float()
    where = F.one_hot(torch.arange(ids.shape[1]) + first, init["max_len"]).float()
    total = one_hot @ parameters["token.weight"] + (where @ parameters["position.weight"])[None]
    return F.layer_norm(total, (init["d_model"],), parameters["norm.weight"], parameters["norm.bias"], eps=1e-12)


class _Module(nn.Module):
    """Embeddings with a switch for each usual mistake."""

    def __init__(self, vocab_size: int, d_model: int, max_len: int, how: str = "right"):
        super().__init__()
        self.how = how
        self.token = nn.Embedding(vocab_size, d_model, padding_idx=0 if how == "padding" else None)
        self.position = nn.Embedding(max_len, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-5 if how == "default eps" else 1e-12)

    def forward(self, ids: Tensor, first: int = 0) -> Tensor:
        how, n, room = self.how, ids.shape[1], self.position.num_embeddings
        if first + n > room:
            raise ValueError(f"positions up to {first + n - 1}, but the table has {room}")
        start = {"first ignored": 0, "one too far": first + 1, "from the end": room - n}.get(how, first)
        places = torch.arange(n).add(start) % room
        if how == "backwards":
            places = places.flip(0)
        words, where = self.token(ids), self.position(places)
        match how:
            case "no positions":
                return self.norm(words)
            case "ids as positions":
                return self.norm(words + self.position(ids % room))
            case "by sentence":
                return self.norm(words + self.position(first + torch.arange(len(ids))[:, None].expand_as(ids)))
            case "same position":
                return self.norm(words + self.position.weight[first])
            case "norm first":
                return self.norm(words) + where
            case "two norms":
                return self.norm(words) + self.norm(where)
            case "no norm":
                return words + where
            case "scaled":
                return self.norm(words * math.sqrt(words.shape[-1]) + where)
            case "product":
                return self.norm(words * where)
        return self.norm(words + where)


def _module(how: str) -> type[nn.Module]:
    return type("Embeddings", (_Module,), {
        "__init__": lambda self, vocab_size, d_model, max_len: _Module.__init__(self, vocab_size, d_model, max_len, how)})


def _draw_module(seed: int) -> list[Case]:
    g = generator(seed)
    batch, n, d_model = sizes(g, 3, 3, 8)
    room, words = n + 4, n + 7
    init = {"vocab_size": words, "d_model": d_model, "max_len": room}
    parameters = {name: randn(g, *size) for name, size in {"token.weight": (words, d_model), "position.weight": (room, d_model),
                                                           "norm.weight": (d_model,), "norm.bias": (d_model,)}.items()}
    parameters["token.weight"] += 9 * torch.arange(d_model).remainder(2)  # no token of small variance: the epsilon has a case of its own
    ids = integers(g, 0, words, batch, n)
    ids[0, 0], ids[-1, -1] = 0, words - 1
    tiny = {**parameters, **{name: 1e-3 * parameters[name] for name in ("token.weight", "position.weight")}}
    everything = tuple(parameters)
    shape = "(batch, token, d_model)"
    return [
        Case(f"{batch} sequences of {n} ids, table of {room} positions",
             {"init": init, "parameters": parameters, "inputs": {"ids": ids, "first": 0}}, gradients=everything, shape=shape),
        Case("the same, continuing at position 3", {"init": init, "parameters": parameters, "inputs": {"ids": ids, "first": 3}},
             part="continuing", gradients=everything, shape=shape),
        Case("tiny embeddings, where the epsilon shows", {"init": init, "parameters": tiny, "inputs": {"ids": ids, "first": 0}},
             shape=shape)]


def _fixed_module() -> list[Case]:
    g, init = generator(7), {"vocab_size": 11, "d_model": 6, "max_len": 9}
    parameters = {name: randn(g, *size) for name, size in
                  {"token.weight": (11, 6), "position.weight": (9, 6), "norm.weight": (6,), "norm.bias": (6,)}.items()}

    def case(label: str, ids: Tensor, start: int, **more) -> Case:
        return Case(label, {"init": init, "parameters": parameters, "inputs": {"ids": ids, "first": start}}, **more)

    left_out = case("one sequence that fills the table, first left out", torch.tensor([[0, 3, 10, 0, 5, 1, 2, 0, 7]]), 0,
                    gradients=tuple(parameters), shape="(batch, token, d_model)")
    del left_out.args["inputs"]["first"]
    return [
        left_out,
        case("the last place of the table", torch.tensor([[4], [0], [10]]), 8, part="continuing", shape="(batch, token, d_model)"),
        case("10 tokens for 9 positions", torch.zeros(1, 10, dtype=torch.long), 0, part="bad input", rejects=ValueError,
             mentions=("9", "10")),
        case("5 tokens from position 7 for 9 positions", torch.zeros(1, 5, dtype=torch.long), 7, part="bad input",
             rejects=ValueError, mentions=("9", "12")),
    ]


class _Reference(_Module):
    def __init__(self, vocab_size: int, d_model: int, max_len: int):
        super().__init__(vocab_size, d_model, max_len)

    def forward(self, ids: Tensor, first: int = 0) -> Tensor:
        end, room = first + ids.shape[1], self.position.num_embeddings
        if end > room:
            raise ValueError(f"{end} positions are needed, the table has {room}")
        return self.norm(self.token(ids) + self.position.weight[first:end])


_Reference.__name__ = "Embeddings"

EMBEDDINGS = Exercise(
    id="05.5", title="Words and places as a module", name="Embeddings", kind="module", stars=2, minutes=12,
    signature="Embeddings(vocab_size, d_model, max_len)(ids, first=0) -> (batch, n, d_model)",
    oracle=_module_oracle, reference=_Reference, draw=_draw_module, fixed=_fixed_module,
    parts={"values": 3, "continuing": 1, "bad input": 1},
    twins=(
        Twin("no positions", _module("no positions"),
             "The table of positions is made and never used: every order of the words looks the same."),
        Twin("token ids used as positions", _module("ids as positions"),
             "You look positions up with the ids of the words. A position is the number of tokens before, whatever they are."),
        Twin("one position for all tokens", _module("same position"),
             "Every token gets the same row of the position table. Each place in the sentence needs its own."),
        Twin("positions counted over the batch", _module("by sentence"),
             "Your positions number the sentences of the batch, so all tokens of a sentence get the same. Count the tokens in a sentence; "
             "their number is the second axis of the ids."),
        Twin("positions counted from one", _module("one too far"),
             "The first token of a text is at position 0 and gets the first row of the table."),
        Twin("first is ignored", _module("first ignored"),
             "The sequence starts again at position 0 although the call says at which position it continues."),
        Twin("positions run backwards", _module("backwards"), "The last token gets the first row. Positions grow along the sentence."),
        Twin("taken from the end of the table", _module("from the end"),
             "A text uses the front rows of the position table, as many as it has tokens; yours uses the last ones."),
        Twin("norm before the sum", _module("norm first"),
             "You normalise the words and add positions afterwards. The norm comes last, so that the output of the module has one scale."),
        Twin("words and positions normalised apart", _module("two norms"),
             "Each part gets a norm of its own before they are added. There is one norm, and it comes after the sum."),
        Twin("no norm", _module("no norm"), "Words and positions are added, but the LayerNorm is not applied to their sum."),
        Twin("default epsilon", _module("default eps"),
             "PyTorch's LayerNorm has an epsilon of 1e-5 by default. The docstring asks for another value."),
        Twin("words scaled by the root", _module("scaled"),
             "You multiply the word vectors by the root of the width. Another model does that; here nothing is scaled."),
        Twin("word 0 never trained", _module("padding"),
             "The numbers are right, but word 0 is declared as padding and gets no gradient. The docstring asks for a plain table; the "
             "mask takes care of the padding."),
        Twin("multiplied instead of added", _module("product"),
             "Position vectors are added to word vectors, entry by entry, and not multiplied."),
    ),
)
