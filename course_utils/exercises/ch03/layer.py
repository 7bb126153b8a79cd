"""Exercises 03.5 and 03.6: one sequence through three projections, then the module."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...checks.exercise import Case, Exercise, Twin, generator
from ...models import attention as reference
from ..common import FUSED_NAME, fused, randn
from .attend import _attention_oracle


def _plain_oracle(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> Tensor:
    return fused((x @ w_q)[None], (x @ w_k)[None], (x @ w_v)[None])[0]


def _plain(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, how: str = "right") -> Tensor:
    query, key, value = x @ w_q, x @ w_k, x @ w_v
    scores = query @ key.T / math.sqrt(w_q.shape[1])
    match how:
        case "inside":
            return torch.softmax(scores @ value, -1)
        case "inside, queries":
            return torch.softmax(scores @ value, 0)
        case "swapped":
            return torch.softmax(scores.T, -1) @ value
        case "columns":
            return torch.softmax(scores, 0) @ value
        case "width":
            return torch.softmax(query @ key.T / math.sqrt(x.shape[1]), -1) @ value
        case "scale lost":
            return torch.softmax(query @ key.T, -1) @ value
        case "scaled after":
            return torch.softmax(query @ key.T, -1) / math.sqrt(w_q.shape[1]) @ value
        case "d_k":
            return torch.softmax(query @ key.T / w_q.shape[1], -1) @ value
        case "no w_v":
            return torch.softmax(scores, -1) @ x
        case "no softmax":
            return scores @ value
    return torch.softmax(scores, -1) @ value


def _draw_plain(seed: int) -> list[Case]:
    g = generator(seed)
    args = {"x": randn(g, 4, 6), "w_q": 0.5 * randn(g, 6, 3), "w_k": 0.5 * randn(g, 6, 3), "w_v": 0.5 * randn(g, 6, 5)}
    return [Case("4 tokens of width 6, d_k = 3, d_v = 5", args, gradients=("x", "w_q", "w_k", "w_v"), shape="(token, d_v)")]


BUG = Exercise(
    id="03.5", title="Find the bug: the misplaced bracket", name="self_attention", kind="function", stars=2, minutes=8,
    signature="self_attention(x, w_q, w_k, w_v) -> (n, d_v)", oracle=_plain_oracle, reference=_plain, draw=_draw_plain,
    parts={"values": 2}, forbidden=(FUSED_NAME,),
    twins=(
        Twin("still the handed-out bug", partial(_plain, how="inside"),
             "Print the sum of every row of the result. Should an output of attention look like a probability?", untouched=True),
        Twin("bracket still wrong, other axis", partial(_plain, how="inside, queries"),
             "You changed the axis, but the softmax still swallows the values. Weights come first, values after."),
        Twin("keys ask, queries answer", partial(_plain, how="swapped"), "Entry [i, j] of the scores must belong to query i and key j."),
        Twin("softmax over the queries", partial(_plain, how="columns"), "The rows of the weights must sum to 1, one row a query."),
        Twin("scaled by d_model", partial(_plain, how="width"),
             "The dot product runs over the d_k entries of a projected query, not over the width of x."),
        Twin("scaled after the softmax", partial(_plain, how="scaled after"),
             "The bracket is right now, but the division has moved behind the softmax: the weights no longer sum to 1."),
        Twin("scaled by d_k", partial(_plain, how="d_k"), "The bracket is right now, but the square root has got lost."),
        Twin("not scaled", partial(_plain, how="scale lost"), "The bracket is right now, but the scaling has got lost on the way."),
        Twin("values not projected", partial(_plain, how="no w_v"),
             "The tokens themselves are mixed. What is mixed should be their values."),
        Twin("no softmax", partial(_plain, how="no softmax"), "The softmax has gone altogether: raw scores mix the values."),
    ),
)


def _module_oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    query, key, value = (F.linear(inputs["x"], parameters[f"w_{name}.weight"]) for name in "qkv")
    return _attention_oracle(query, key, value, inputs["mask"])[0]


class _Module(nn.Module):
    """Self-attention with a switch for each usual mistake."""

    def __init__(self, d_model: int, d_k: int, d_v: int, how: str):
        super().__init__()
        self.how, bias = how, how == "bias"
        self.w_q, self.w_k = nn.Linear(d_model, d_k, bias=bias), nn.Linear(d_model, d_k, bias=bias)
        self.w_v = nn.Linear(d_model, d_v, bias=bias)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        how = self.how
        query, key, value = self.w_q(x), self.w_k(x), self.w_v(x)
        if how == "swapped":
            query, key = key, query
        if how == "shared":
            key = self.w_q(x)
        scale = {"d_model": x.shape[-1], "d_v": value.shape[-1]}.get(how)
        if scale:
            query = query * math.sqrt(query.shape[-1] / scale)
        if how == "scaled twice":
            query = query / math.sqrt(query.shape[-1])
        if how == "unscaled":
            query = query * math.sqrt(query.shape[-1])
        if mask is not None and how == "inverted":
            mask = ~mask
        if how == "mask ignored":
            mask = None
        output, weights = reference.scaled_dot_product_attention(query, key, value, mask)
        if how == "tokens mixed":
            return weights @ x
        if mask is not None and how == "no policy":
            return torch.softmax((query @ key.mT / math.sqrt(query.shape[-1])).masked_fill(~mask, -1e4), -1) @ value
        return weights.mT @ value if how == "transposed" else output


def _module(how: str) -> type[nn.Module]:
    return type("SelfAttention", (_Module,), {
        "__init__": lambda self, d_model, d_k, d_v: _Module.__init__(self, d_model, d_k, d_v, how)})


def _draw_module(seed: int) -> list[Case]:
    g = generator(seed)
    init = {"d_model": 6, "d_k": 4, "d_v": 5}
    sizes = {"w_q.weight": (4, 6), "w_k.weight": (4, 6), "w_v.weight": (5, 6)}
    parameters = {name: 0.6 * randn(g, *size) for name, size in sizes.items()}
    x = randn(g, 2, 3, 6)
    causal = torch.ones(3, 3).tril().bool()
    everything = tuple(sizes) + ("x",)
    return [
        Case("2 sequences of 3 tokens, d_model = 6, d_k = 4, d_v = 5", {"init": init, "parameters": parameters,
             "inputs": {"x": x, "mask": None}}, gradients=everything, shape="(batch, token, d_v)"),
        Case("the same, no token may look ahead", {"init": init, "parameters": parameters, "inputs": {"x": x, "mask": causal}},
             part="mask", gradients=everything, shape="(batch, token, d_v)"),
        Case("token 1 may look at nothing", {"init": init, "parameters": parameters,
             "inputs": {"x": x, "mask": torch.tensor([[True, False, True], [False] * 3, [True] * 3])}}, part="empty row",
             gradients=everything, shape="(batch, token, d_v)")]


MODULE = Exercise(
    id="03.6", title="Self-attention as a module", name="SelfAttention", kind="module", stars=3, minutes=15,
    signature="SelfAttention(d_model, d_k, d_v)(x, mask=None) -> (batch, n, d_v)",
    oracle=_module_oracle, reference=reference.SelfAttention, draw=_draw_module, parts={"values": 3, "mask": 2, "empty row": 1},
    twins=(
        Twin("layers with bias", _module("bias"),
             "The docstring asks for projections without bias: nn.Linear adds one unless told otherwise."),
        Twin("query and key projections swapped", _module("swapped"),
             "w_q makes the keys and w_k the queries. With both random nothing looks wrong, but a loaded checkpoint would be."),
        Twin("keys made by the query projection", _module("shared"),
             "Queries and keys come from the same layer, so the scores are symmetric and w_k never learns."),
        Twin("scaled by d_model", _module("d_model"), "The dot product runs over d_k entries, after the projection."),
        Twin("scaled by d_v", _module("d_v"), "The width of the values plays no part in the scores."),
        Twin("not scaled", _module("unscaled"), "The scores are not divided by the root of d_k, the width after the projection."),
        Twin("tokens mixed instead of values", _module("tokens mixed"),
             "The weights are right, but they mix the inputs. They should mix the values."),
        Twin("empty row gives the mean", _module("no policy"),
             "A token that may look at nothing should get the output 0. With a large negative number instead of the policy of "
             "03.2 it gets the "
             "mean of everything forbidden."),
        Twin("scaled twice", _module("scaled twice"), "The function you call already scales; the module scales again."),
        Twin("mask ignored", _module("mask ignored"), "The mask is accepted and then dropped: hand it on."),
        Twin("mask inverted", _module("inverted"), "True means “may attend”, here as everywhere in the course."),
        Twin("weights transposed", _module("transposed"),
             "Row i of the output must be mixed with row i of the weights. Yours uses column i."),
    ),
)
