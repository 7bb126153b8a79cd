"""Exercise 08a.3: one matrix at both ends of the model, with three faults in the code that is handed out."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...exercise import Case, Exercise, Twin, generator
from ..common import integers, randn


def _oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    table = parameters["embedding.weight"]
    one_hot = F.one_hot(inputs["ids"], init["vocab_size"]).to(table)  # a look-up is a product with unit vectors
    x = one_hot @ table * init["d_model"] ** 0.5 + inputs["positions"]
    return F.linear(F.linear(x, parameters["body.weight"], parameters["body.bias"]), table)


class Ends(nn.Module):
    """Shared ends with a switch for each fault; ``how`` is a set of words."""

    def __init__(self, vocab_size: int, d_model: int, how: frozenset[str] = frozenset()):
        super().__init__()
        self.embedding, self.body, self.how = nn.Embedding(vocab_size, d_model), nn.Linear(d_model, d_model), how
        self.copy = self.embedding.weight.detach().clone()
        if "bias" in how:
            self.bias = nn.Parameter(torch.zeros(vocab_size))

    def forward(self, ids: Tensor, positions: Tensor) -> Tensor:
        how, table = self.how, self.embedding.weight
        scale = {"vocabulary": len(table) ** 0.5, "unscaled": 1.0, "width": table.shape[1], "paper": 512**0.5,
                 "divided": table.shape[1] ** -0.5}.get(
            next(iter(how & SCALES), ""), table.shape[1] ** 0.5)
        x = (table[ids] + positions) * scale if "positions" in how else table[ids] * scale + positions
        x = table[ids] * scale if "no positions" in how else x
        if "entrance cut" in how:
            x = table.detach()[ids] * scale + positions
        if "body first" in how:
            return (self.body(table[ids] * scale) + positions) @ table.T
        hidden = x if "no body" in how else self.body(x)
        hidden = hidden * scale if "end" in how else hidden / scale if "end divided" in how else hidden
        scores = hidden @ (table.detach() if "cut" in how else self.copy if "copy" in how else table).T
        scores = torch.log_softmax(scores, -1) if "log" in how else scores
        return torch.softmax(scores, -1) if "softmax" in how else scores


SCALES = frozenset(("vocabulary", "unscaled", "width", "paper", "divided"))


def _module(*how: str) -> type[nn.Module]:
    def __init__(self, vocab_size, d_model):
        Ends.__init__(self, vocab_size, d_model, frozenset(how))
    return type("TiedEnds", (Ends,), {"__init__": __init__})


def _case(g: torch.Generator, label: str, vocab: int, d: int, batch: int, n: int, largest: int | None = None) -> Case:
    parameters = {"embedding.weight": 0.5 * randn(g, vocab, d), "body.weight": 0.4 * randn(g, d, d), "body.bias": 0.4 * randn(g, d)}
    return Case(label, {"init": {"vocab_size": vocab, "d_model": d}, "parameters": parameters,
                        "inputs": {"ids": integers(g, 0, largest or vocab, batch, n), "positions": randn(g, n, d)}},
                gradients=("positions", *parameters), shape="(batch, n, vocab_size)")


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case(g, "11 words, d_model = 6, 2 sentences of 4 tokens", 11, 6, 2, 4),
            _case(g, "5 words, d_model = 8, one sentence of 3 tokens", 5, 8, 1, 3)]


ENDS = Exercise(
    id="08a.3", title="Find the bugs: shared ends", name="TiedEnds", kind="module", stars=2, minutes=10,
    signature="TiedEnds(vocab_size, d_model)(ids, positions) -> (batch, n, vocab_size)", oracle=_oracle, reference=_module(), draw=_draw,
    fixed=lambda: [_case(generator(3), "one token, 7 words, d_model = 4", 7, 4, 1, 1),
                   _case(generator(4), "the last words of 13 do not occur, d_model = 5", 13, 5, 2, 3, largest=6)],
    parts={"values": 3},
    twins=(
        Twin("still the handed-out faults", _module("vocabulary", "positions", "end"),
             "Compare each use of the scale with the docstring: what stands under the root, and what is multiplied by it?", untouched=True),
        Twin("only the width repaired", _module("positions", "end"),
             "The factor is right now. But in two places it acts on more than the embeddings."),
        Twin("only the entrance repaired", _module("vocabulary", "end"),
             "The positions are added afterwards now. Look at what is under the root, and at the end of the model."),
        Twin("only the end repaired", _module("vocabulary", "positions"),
             "The scores are not multiplied any more. Look at what is under the root, and at what is multiplied at the entrance."),
        Twin("scores still scaled", _module("end"), "You still multiply at the end of the model. Multiply the embeddings only."),
        Twin("root of the vocabulary", _module("vocabulary"), "The factor is the root of the width, not of the number of words."),
        Twin("positions still scaled", _module("positions"), "Only the embeddings are multiplied; the positions are added afterwards."),
        Twin("end cut off from learning", _module("cut"),
             "The numbers are right, but the table learns nothing from the scores: it is cut off at the end of the model. A shared table "
             "learns at both ends."),
        Twin("copy of the table", _module("copy"),
             "The scores are made with a copy of the table from the start. The copy does not change when the embedding learns or "
             "gets other numbers. Both ends have to use the same tensor."),
        Twin("no factor in the call", _module("unscaled"),
             "When the model is called, nothing is multiplied by a root. A factor inside the table itself acts at both ends, and it is "
             "lost when the check loads other weights. It belongs where the rows are looked up."),
        Twin("look-up cut off from learning", _module("entrance cut"),
             "The numbers are right, but the table learns nothing where its rows are looked up: it is cut off there. A shared table learns "
             "at both ends."),
        Twin("positions added behind the body", _module("body first"),
             "The body reads tokens that know their positions: first the look-up, then the positions, then the body."),
        Twin("log-softmax at the end", _module("log"), "Scores are asked for; the log-softmax is part of the loss."),
        Twin("multiplied by the width", _module("width"), "You multiply by the width itself; the square root is missing."),
        Twin("width of the paper written out", _module("paper"),
             "You always take the root of 512. The width of the model is an argument; use that."),
        Twin("divided at the entrance", _module("divided"), "At the entrance the embeddings are multiplied by the root, not divided."),
        Twin("scores divided", _module("end divided"), "You divide the scores by the root. At the end the table is used as it is."),
        Twin("softmax at the end", _module("softmax"), "Scores are asked for; the softmax is part of the loss."),
        Twin("positions lost", _module("no positions"), "The positions are not added to the embeddings any more."),
        Twin("body skipped", _module("no body"), "The layer called body has been skipped on the way to the scores."),
        Twin("a bias on the scores", _module("bias"),
             "The docstring names two submodules; the end of the model has no parameters of its own."),
    ),
)
