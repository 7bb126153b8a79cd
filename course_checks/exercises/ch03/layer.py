"""Exercises 03.5 and 03.6: one sequence through three projections, then the module."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course_utils.models import attention as reference

from ...exercise import Case, Exercise, Twin, generator
from ..common import FUSED_NAME, fused, randn, sizes
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
        case "d_v":
            return torch.softmax(query @ key.T / math.sqrt(w_v.shape[1]), -1) @ value
        case "tokens":
            return torch.softmax(query @ key.T / math.sqrt(len(x)), -1) @ value
        case "overflow":
            return scores.exp() / scores.exp().sum(-1, keepdim=True) @ value
        case "one maximum":
            power = torch.exp(scores - scores.max())
            return power / power.sum(-1, keepdim=True) @ value
        case "transposed":
            return torch.softmax(scores, -1).T @ value
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
    n, d_model, d_k, d_v = sizes(g, 4, 3, 9)
    args = {"x": randn(g, n, d_model), "w_q": 0.5 * randn(g, d_model, d_k), "w_k": 0.5 * randn(g, d_model, d_k),
            "w_v": 0.5 * randn(g, d_model, d_v)}
    return [Case(f"{n} tokens of width {d_model}, d_k = {d_k}, d_v = {d_v}", args, gradients=("x", "w_q", "w_k", "w_v"),
                 shape="(token, d_v)")]


def _fixed_plain() -> list[Case]:
    (case,), g = _draw_plain(2), generator(3)
    return [Case("a single token", {**case.args, "x": case.args["x"][:1]}, shape="(token, d_v)"),
            Case("tokens 20 times as long: large scores", {**case.args, "x": 20 * randn(g, *case.args["x"].shape)}, shape="(token, d_v)")]


BUG = Exercise(
    id="03.5", title="Find the bug: the misplaced bracket", name="self_attention", kind="function", stars=2, minutes=8,
    signature="self_attention(x, w_q, w_k, w_v) -> (n, d_v)", oracle=_plain_oracle, reference=_plain, draw=_draw_plain, fixed=_fixed_plain,
    parts={"values": 2}, forbidden=(FUSED_NAME,),
    twins=(
        Twin("still the handed-out bug", partial(_plain, how="inside"),
             "Print the sum of every row of the result. Should an output of attention look like a probability?", untouched=True),
        Twin("bracket still wrong, other axis", partial(_plain, how="inside, queries"),
             "You changed the axis, but the values are still inside the softmax. The weights must be finished before the values come in."),
        Twin("keys ask, queries answer", partial(_plain, how="swapped"),
             "Your scores are transposed: entry [i, j] must belong to query i and key j."),
        Twin("softmax over the queries", partial(_plain, how="columns"), "Each row of the weights belongs to one query and must sum to 1."),
        Twin("scaled by d_model", partial(_plain, how="width"),
             "The dot product runs over the d_k entries of a projected query, not over the width of x."),
        Twin("scaled by d_v", partial(_plain, how="d_v"),
             "The dot product runs over the d_k entries of a projected query. The width of the values plays no part in the scores."),
        Twin("scaled by the number of tokens", partial(_plain, how="tokens"),
             "The dot product runs over the d_k entries of a projected query. The number of tokens plays no part."),
        Twin("exponentials out of range", partial(_plain, how="overflow"),
             "Exponentials of large scores are too large for float32. A softmax in one step subtracts the largest score of each row "
             "first."),
        Twin("largest of all scores subtracted", partial(_plain, how="one maximum"),
             "You subtract the largest of all scores from every row. In a row that is far below this score every exponential rounds to "
             "0, and 0/0 is NaN: each row needs its own largest score."),
        Twin("weights transposed", partial(_plain, how="transposed"),
             "You transpose the finished weights before you multiply the values. Row i contains the shares of query i and sums to 1; a "
             "column does not."),
        Twin("scaled after the softmax", partial(_plain, how="scaled after"),
             "The bracket is right now, but you divide after the softmax, so the weights no longer sum to 1."),
        Twin("scaled by d_k", partial(_plain, how="d_k"), "The bracket is right now, but the square root is missing."),
        Twin("not scaled", partial(_plain, how="scale lost"), "The bracket is right now, but the scaling is missing."),
        Twin("values not projected", partial(_plain, how="no w_v"),
             "You mix the tokens themselves. Mix their values instead."),
        Twin("no softmax", partial(_plain, how="no softmax"), "There is no softmax left: you mix the values by the raw scores."),
    ),
)


def _module_oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    query, key, value = (F.linear(inputs["x"], parameters[f"w_{name}.weight"]) for name in "qkv")
    return _attention_oracle(query, key, value, inputs.get("mask"))[0]


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
        scale = {"d_model": x.shape[-1], "d_v": value.shape[-1], "tokens": x.shape[-2]}.get(how)
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
        if mask is not None and how == "turned round":
            return torch.softmax((query @ key.mT / math.sqrt(query.shape[-1])).masked_fill(mask, -torch.inf), -1) @ value
        if how == "queries":
            scores = query @ key.mT / math.sqrt(query.shape[-1])
            return torch.softmax(scores if mask is None else scores.masked_fill(~mask, -torch.inf), -2) @ value
        if mask is not None and how == "finite":
            scores = (query @ key.mT / math.sqrt(query.shape[-1])).masked_fill(~mask, -100.0)
            return torch.softmax(scores, -1).masked_fill(~mask.any(-1, keepdim=True), 0.0) @ value
        if mask is not None and how == "no policy":
            return torch.softmax((query @ key.mT / math.sqrt(query.shape[-1])).masked_fill(~mask, -1e4), -1) @ value
        return weights.mT @ value if how == "transposed" else output


def _module(how: str) -> type[nn.Module]:
    return type("SelfAttention", (_Module,), {
        "__init__": lambda self, d_model, d_k, d_v: _Module.__init__(self, d_model, d_k, d_v, how)})


def _draw_module(seed: int) -> list[Case]:
    g = generator(seed)
    n, d_model, d_k, d_v = sizes(g, 4, 3, 9)
    args = _layers(g, d_model, d_k, d_v)
    x, causal = randn(g, 2, n, d_model), torch.ones(n, n).tril().bool()
    everything = (*args["parameters"], "x")
    gap = torch.ones(n, n).bool()
    gap[0, 1], gap[1] = False, False
    padded = torch.arange(n) < torch.tensor([n - 1, 1])[:, None, None]

    def case(label: str, mask: Tensor | None, part: str = "mask") -> Case:
        return Case(label, {**args, "inputs": {"x": x, "mask": mask}}, part=part, gradients=everything, shape="(batch, token, d_v)")

    return [case(f"2 sequences of {n} tokens, d_model = {d_model}, d_k = {d_k}, d_v = {d_v}", None, "values"),
            case("the same, no token may look ahead", causal), case("padding: a mask of shape (batch, 1, key)", padded),
            case("token 1 may look at nothing", gap, "empty row")]


def _layers(g: torch.Generator, d_model: int, d_k: int, d_v: int) -> dict:
    widths = {"w_q.weight": d_k, "w_k.weight": d_k, "w_v.weight": d_v}
    return {"init": {"d_model": d_model, "d_k": d_k, "d_v": d_v},
            "parameters": {name: 0.6 * randn(g, width, d_model) for name, width in widths.items()}}


def _fixed_module() -> list[Case]:
    """Batches of one; and steep scores, of which each token may see only the two lowest."""
    g = generator(5)
    args = _layers(g, 6, 4, 3)
    x = 20 * randn(g, 1, 7, 6)
    query, key = (x @ args["parameters"][f"w_{name}.weight"].T for name in "qk")
    scores = query @ key.mT
    lowest = scores <= scores.kthvalue(2, dim=-1, keepdim=True).values
    steep = {**args, "inputs": {"x": x, "mask": lowest}}
    return [Case("one sequence, mask left out", {**args, "inputs": {"x": randn(g, 1, 5, 6)}}, shape="(batch, token, d_v)"),
            Case("one sequence of one token", {**args, "inputs": {"x": randn(g, 1, 1, 6), "mask": None}}, shape="(batch, token, d_v)"),
            Case("large scores, only the two lowest keys permitted", steep, part="mask", shape="(batch, token, d_v)")]


MODULE = Exercise(
    id="03.6", title="Self-attention as a module", name="SelfAttention", kind="module", stars=3, minutes=15,
    signature="SelfAttention(d_model, d_k, d_v)(x, mask=None) -> (batch, n, d_v)",
    oracle=_module_oracle, reference=_module("right"), draw=_draw_module, fixed=_fixed_module,
    parts={"values": 3, "mask": 2, "empty row": 1},
    forbidden=("course_utils.models.attention.SelfAttention.forward", "course_utils.models.attention.SelfAttention.weights"),
    twins=(
        Twin("layers with bias", _module("bias"),
             "The docstring asks for projections without bias: nn.Linear adds one unless told otherwise."),
        Twin("query and key projections swapped", _module("swapped"),
             "w_q makes the keys and w_k the queries. With random weights nobody notices, but a loaded checkpoint gives wrong results."),
        Twin("keys made by the query projection", _module("shared"),
             "Queries and keys come from the same layer, so the scores are symmetric and w_k never learns."),
        Twin("scaled by d_model", _module("d_model"), "The dot product runs over d_k entries, after the projection."),
        Twin("scaled by d_v", _module("d_v"), "The width of the values plays no part in the scores."),
        Twin("not scaled", _module("unscaled"), "The scores are not divided by the root of d_k, the width after the projection."),
        Twin("tokens mixed instead of values", _module("tokens mixed"),
             "The weights are right, but they mix the inputs. They should mix the values."),
        Twin("empty row gives the mean", _module("no policy"),
             "A token that may look at nothing should get the output 0. If you fill its scores with a large "
             "negative number, it gets the mean of everything forbidden. Use the policy of 03.2."),
        Twin("scaled once too often", _module("scaled twice"),
             "You divide by the root of d_k twice. If the function that you call already scales, the module must not scale again."),
        Twin("scaled by the number of tokens", _module("tokens"),
             "The dot product runs over the entries of a query. The number of tokens plays no part."),
        Twin("masked scores set to a number", _module("finite"),
             "A score of, say, -100 is small only while the others are larger. Where the permitted scores are lower still, the forbidden "
             "keys win. Only minus infinity is below everything."),
        Twin("softmax over the queries", _module("queries"),
             "Your columns sum to 1. Each query divides its attention among the keys, the last axis of the scores."),
        Twin("mask ignored", _module("mask ignored"), "The mask is accepted and then dropped: hand it on."),
        Twin("mask inverted", _module("inverted"), "True means “may attend”, here as everywhere in the course."),
        Twin("mask the wrong way round", _module("turned round"),
             "You fill the scores where the mask is True, but True means “may attend”. Where everything is permitted, nothing is left, and "
             "the softmax gives NaN."),
        Twin("weights transposed", _module("transposed"),
             "Row i of the output must be mixed with row i of the weights. Yours uses column i."),
    ),
)
