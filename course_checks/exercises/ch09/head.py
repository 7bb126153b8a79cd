"""Exercise 09.6, find the bugs: the head that names masked tokens. The oracle writes GELU and LayerNorm out."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn


def _oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    x = inputs["hidden"] @ parameters["transform.weight"].T + parameters["transform.bias"]
    x = x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))
    x = (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True) + 1e-12).sqrt()
    x = x * parameters["norm.weight"] + parameters["norm.bias"]
    return torch.einsum("...d,vd->...v", x, parameters["embedding.weight"]) + parameters["bias"]


class Head(nn.Module):
    """The head with a switch for each fault; ``how`` is a set of words."""

    def __init__(self, vocab_size: int, d_model: int, how: frozenset[str] = frozenset()):
        super().__init__()
        self.how, eps = how, 1e-5 if "eps" in how else 1e-12
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.transform, self.norm = nn.Linear(d_model, d_model), nn.LayerNorm(d_model, eps=eps)
        self.bias = nn.Parameter(torch.zeros(vocab_size))
        if "untied" in how:
            self.decoder = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, hidden: Tensor) -> Tensor:
        how, table = self.how, self.embedding.weight
        x = hidden if "no transform" in how else self.transform(hidden)
        gelu = {"relu": F.relu, "silu": F.silu,
                "tanh gelu": lambda t: F.gelu(t, approximate="tanh"), "no gelu": lambda t: t, "tanh": torch.tanh}.get(
            next(iter(how & ACTIVATIONS), ""), F.gelu)
        if "order" in how:
            x = gelu(self.norm(x))
        elif "gelu first" in how:
            x = self.norm(self.transform(gelu(hidden)))
        else:
            x = gelu(x) if "no norm" in how else self.norm(gelu(x))
        x = x + hidden if "residual" in how else x
        x = x * table.shape[1] ** 0.5 if "scaled" in how else x / table.shape[1] ** 0.5 if "divided" in how else x
        scores = F.linear(x, self.decoder.weight if "untied" in how else table.detach() if "cut" in how else table)
        scores = scores if "no bias" in how else scores + self.bias
        return torch.softmax(scores, -1) if "softmax" in how else torch.log_softmax(scores, -1) if "log" in how else scores


ACTIVATIONS = frozenset(("relu", "silu", "tanh gelu", "no gelu", "tanh"))


def _module(*how: str) -> type[nn.Module]:
    def __init__(self, vocab_size, d_model):
        Head.__init__(self, vocab_size, d_model, frozenset(how))
    return type("MaskedTokenHead", (Head,), {"__init__": __init__})


def _case(g: torch.Generator, label: str, vocab: int, d: int, *shape: int, size: float = 1.0, part: str = "values") -> Case:
    parameters = {"embedding.weight": 0.5 * randn(g, vocab, d), "transform.weight": size * 0.5 * randn(g, d, d),
                  "transform.bias": size * 0.4 * randn(g, d), "norm.weight": 1 + 0.4 * randn(g, d), "norm.bias": 0.4 * randn(g, d),
                  "bias": 0.5 * randn(g, vocab)}
    return Case(label, {"init": {"vocab_size": vocab, "d_model": d}, "parameters": parameters, "inputs": {"hidden": randn(g, *shape, d)}},
                gradients=("hidden", *parameters) if size == 1 else (),  # of tiny numbers under a norm they are huge, and cancel
                shape="(…, vocab_size)", part=part)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case(g, "11 tokens, d_model = 6, 2 inputs of 4 tokens", 11, 6, 2, 4),
            _case(g, "5 selected tokens, as rows", 13, 8, 5),
            _case(g, "small numbers before the norm", 9, 6, 2, 3, size=0.004)]


HEAD = Exercise(
    id="09.6", title="Find the bugs: the masked-token head", name="MaskedTokenHead", kind="module", stars=2, minutes=12,
    signature="MaskedTokenHead(vocab_size, d_model)(hidden) -> (…, vocab_size)", oracle=_oracle, reference=_module(), draw=_draw,
    parts={"values": 3},
    twins=(
        Twin("still the handed-out faults", _module("order", "tanh", "no bias"),
             "Compare each line of the forward pass with the docstring: which steps, in which order, and what the scores consist of.",
             untouched=True),
        Twin("order and bias left", _module("order", "no bias"),
             "The activation is the right one now. Two faults are left: the order of two steps, and what the scores consist of."),
        Twin("order and activation left", _module("order", "tanh"),
             "The bias is added now. Two faults are left: the order of two steps, and the kind of the activation."),
        Twin("bias and activation left", _module("tanh", "no bias"),
             "The order is right now. Two faults are left: a parameter nobody uses, and the kind of the activation."),
        Twin("normed before the activation", _module("order"),
             "The order is linear layer, activation, norm, scores; the norm is the last step before the scores."),
        Twin("table cut off from learning", _module("cut"),
             "The numbers are right, but no gradient reaches the table: reading the data of a parameter takes it out of the graph."),
        Twin("no bias", _module("no bias"), "The bias of the vocabulary, one number for each token, is made and never added."),
        Twin("an output matrix of its own", _module("untied"),
             "You made one more matrix for the output. The scores must use the table of the embeddings, the same parameter."),
        Twin("softmax at the end", _module("softmax"), "Logits are asked for; the softmax is part of the loss."),
        Twin("log-softmax at the end", _module("log"), "Plain logits are asked for; the logarithm of the softmax belongs to the loss."),
        Twin("SiLU instead of GELU", _module("silu"),
             "This is the activation of Llama and its relatives. The docstring asks for GELU, which has another curve."),
        Twin("ReLU", _module("relu"), "The activation of this model is GELU, which lets small negative numbers through."),
        Twin("GELU by its approximation", _module("tanh gelu"),
             "This is the approximation with tanh. The exact GELU uses the error function."),
        Twin("tanh, as in the pooler", _module("tanh"), "Tanh belongs to the pooler of the other head; this head uses GELU."),
        Twin("no activation", _module("no gelu"), "The activation between the linear layer and the norm is missing."),
        Twin("activation before the linear layer", _module("gelu first"), "First comes the linear layer, and its result is activated."),
        Twin("no norm", _module("no norm"), "The norm is missing. It comes between the activation and the scores."),
        Twin("linear layer skipped", _module("no transform"),
             "The layer called transform is made, but no hidden state ever goes through it."),
        Twin("hidden state added again", _module("residual"),
             "This head has no residual path: nothing is added to what the norm returns."),
        Twin("scores times the root of the width", _module("scaled"),
             "You multiply by the root of the width. This end of the model has no such factor."),
        Twin("divided by the root of the width", _module("divided"),
             "That division belongs to the scores of attention. Here the products are taken as they are."),
        Twin("PyTorch's default for the norm", _module("eps"),
             "The small number under the root of the norm is no longer the one in the docstring."),
    ),
)
