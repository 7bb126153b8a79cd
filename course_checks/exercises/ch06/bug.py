"""Exercise 06.6: find the bug in a causal attention. The oracle is the fused kernel with its own causal flag."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...exercise import Case, Exercise, Twin, generator
from ..common import FUSED_NAME, fused


def _oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    q, k, v = (F.linear(inputs["x"], parameters[f"w_{name}.weight"])[:, None] for name in "qkv")
    return fused(q, k, v, is_causal=True)[:, 0]


class _Causal(nn.Module):
    """Causal attention with a switch for each usual mistake."""

    def __init__(self, d_model: int, d_k: int, max_len: int, how: str):
        super().__init__()
        self.how = how
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_k, bias=False) for _ in range(3))
        self.register_buffer("visible", torch.ones(max_len, max_len, dtype=torch.bool).tril())

    def forward(self, x: Tensor) -> Tensor:
        how, n, value = self.how, x.shape[1], self.w_v(x)
        query, key = self.w_q(x), self.w_k(x)
        scores = query @ key.mT / query.shape[-1] ** 0.5
        visible = self.visible[:n, :n]
        match how:
            case "bug":
                return (torch.softmax(scores, -1) * visible) @ value
            case "anti-causal":
                scores = scores.masked_fill(visible, -torch.inf)
            case "swept":
                return torch.softmax(scores.masked_fill(visible, -torch.inf), -1).nan_to_num() @ value
            case "upper":
                scores = scores.masked_fill(~visible.mT, -torch.inf)
            case "zero":
                scores = scores * visible
            case "strict":
                scores = scores.masked_fill(~visible.tril(-1), -torch.inf)
            case "strict, swept":
                return torch.softmax(scores.masked_fill(~visible.tril(-1), -torch.inf), -1).nan_to_num() @ value
            case "times infinity":
                scores = scores * torch.ones(n, n).masked_fill(~visible, -torch.inf)
            case "queries":
                return torch.softmax(scores.masked_fill(~visible, -torch.inf), -2) @ value
            case "added":
                scores = scores + visible
            case "columns":
                weights = torch.softmax(scores, -1) * visible
                return weights / weights.sum(-2, keepdim=True) @ value
            case "one ahead":
                scores = scores.masked_fill(~torch.ones(n, n, dtype=torch.bool).tril(1), -torch.inf)
            case "token width":
                scores = (scores * (query.shape[-1] / x.shape[-1]) ** 0.5).masked_fill(~visible, -torch.inf)
            case "no scale":
                scores = (scores * query.shape[-1] ** 0.5).masked_fill(~visible, -torch.inf)
            case "minus one" | "minus ten" | "minus a hundred":
                fill = {"minus one": -1.0, "minus ten": -10.0, "minus a hundred": -100.0}[how]
                scores = scores.masked_fill(~visible, fill)
            case "right":
                scores = scores.masked_fill(~visible, -torch.inf)
            case word if word != "none":
                raise ValueError(word)
        return torch.softmax(scores, -1) @ value


def _module(how: str) -> type[nn.Module]:
    return type("CausalAttention", (_Causal,), {
        "__init__": lambda self, d_model, d_k, max_len: _Causal.__init__(self, d_model, d_k, max_len, how)})


def _case(g: torch.Generator, batch: int, n: int, label: str, d: int = 5, d_k: int = 3, max_len: int = 6) -> Case:
    parameters = {f"w_{name}.weight": 0.5 * torch.randn(d_k, d, generator=g) for name in "qkv"}
    return Case(label, {"init": {"d_model": d, "d_k": d_k, "max_len": max_len}, "parameters": parameters,
                        "inputs": {"x": torch.randn(batch, n, d, generator=g)}},
                gradients=("x", "w_q.weight", "w_k.weight", "w_v.weight"), shape="(batch, token, d_k)")


def _low(g: torch.Generator) -> Case:
    """All scores lie around -180: one feature, the same in every token, pulls them down alike."""
    parameters = {f"w_{name}.weight": 0.5 * torch.randn(3, 5, generator=g) for name in "qkv"}
    parameters["w_q.weight"][0], parameters["w_k.weight"][0] = torch.eye(5)[0] * 16, torch.eye(5)[0] * -19.5
    x = torch.randn(2, 4, 5, generator=g)
    x[..., 0] = 1.0
    return Case("scores around minus 180", {"init": {"d_model": 5, "d_k": 3, "max_len": 6}, "parameters": parameters, "inputs": {"x": x}},
                gradients=("w_v.weight",), shape="(batch, token, d_k)")


BUG = Exercise(
    id="06.6", title="Find the bug: it still looks ahead", name="CausalAttention", kind="module", stars=2, minutes=10,
    signature="CausalAttention(d_model, d_k, max_len); forward(x) -> (batch, n, d_k)", oracle=_oracle, reference=_module("right"),
    draw=lambda seed: [_case(generator(seed), 2, 6, "2 sentences of 6 tokens, as many as there may be"),
                       _case(generator(seed + 1), 2, 4, "2 sentences of 4 tokens")],
    fixed=lambda: [_case(generator(5), 1, 1, "a single token"), _low(generator(8)),
                   _case(generator(6), 1, 8, "one sentence of 8 tokens, d_model = 4, d_k = 7, max_len = 9", 4, 7, 9)],
    parts={"values": 3}, forbidden=(FUSED_NAME, *(f"course_utils.models.attention.{name}" for name in (
        "attention", "scaled_dot_product_attention", "masked_softmax"))),
    twins=(
        Twin("still the handed-out bug", _module("bug"),
             "Print the sum of every row of the weights. Which tokens does the denominator of the softmax depend on?", untouched=True),
        Twin("past hidden, future shown", _module("anti-causal"),
             "A score is filled where the filling mask is True, but your mask is True for what should stay. The last row has nothing "
             "left."),
        Twin("inverted, NaN swept away", _module("swept"),
             "You hide the past and show the future. The NaN that you replaced by zeros was a sign of this."),
        Twin("upper triangle", _module("upper"),
             "Your queries see themselves and the future. Rows are queries: the first query should see only one key."),
        Twin("hidden scores set to nought", _module("zero"),
             "A score of 0 is an ordinary score: its exponential is 1. Hidden keys still take their share."),
        Twin("own position hidden", _module("strict"),
             "The diagonal is hidden too, so the first token may attend to nothing. A token sees itself."),
        Twin("own position hidden, NaN swept", _module("strict, swept"),
             "The diagonal is hidden too. The NaN in the first row showed this, but you replaced it by zeros."),
        Twin("scores times minus infinity", _module("times infinity"),
             "A negative score times minus infinity is plus infinity. Minus infinity has to replace a score, or be added to it."),
        Twin("softmax over the queries", _module("queries"),
             "The mask is right now, but your columns sum to 1. The weights of each query, a row, must sum to 1."),
        Twin("mask added as numbers", _module("added"),
             "Adding a boolean mask adds 1 where a key is visible. That forbids nothing."),
        Twin("columns made to sum to 1", _module("columns"),
             "You removed the future and rescaled, but along the queries. It is the rows that must sum to 1."),
        Twin("one position too many", _module("one ahead"),
             "Every token sees one token beyond itself. But this next token is exactly what it has to predict."),
        Twin("scaled by the token width", _module("token width"),
             "The mask is right now, but the scores are divided by the root of the width of x. You multiply queries and keys, not x."),
        Twin("scale lost", _module("no scale"), "The mask is right now, but the division by the root of the width is missing."),
        Twin("hidden scores set to -1", _module("minus one"),
             "Minus 1 is an ordinary score, larger than many others. Only minus infinity is below all of them."),
        Twin("hidden scores set to -10", _module("minus ten"),
             "The exponential of minus 10 is small but not 0, and a score may be lower than minus 10. Only minus infinity is below all "
             "scores."),
        Twin("fill not low enough", _module("minus a hundred"),
             "A visible score can be lower than your fill, and then the hidden keys win. Only minus infinity is below "
             "all scores."),
        Twin("mask removed", _module("none"), "There is no mask left: every token sees the whole sentence."),
    ),
)
