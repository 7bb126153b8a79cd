"""Exercise 04.4: multi-head attention as a module. The oracle is PyTorch's own, with the same parameters."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from course_utils.models.attention import masked_softmax
from course_utils.models.multihead import head_dim, merge_heads, split_heads

from ...exercise import Case, Exercise, Twin, generator
from ..common import FORBIDDEN_MHA, functional_mha, randn, sizes


def _mha_oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    """``F.multi_head_attention_forward`` (tokens first, True = hidden); empty rows get the bias of w_o."""
    query = inputs["query"]
    key = query if inputs.get("key") is None else inputs["key"]
    value = key if inputs.get("value") is None else inputs["value"]
    heads, mask, empty = init["num_heads"], inputs.get("mask"), None
    if mask is not None:
        full = torch.zeros(query.shape[0], query.shape[1], key.shape[1], dtype=torch.bool) | mask
        empty = ~full.any(-1, keepdim=True)
        mask = ~(full | empty).repeat_interleave(heads, dim=0)
    bias = torch.cat([parameters[f"w_{name}.bias"] for name in "qkv"]) if init["bias"] else None
    out_bias = parameters["w_o.bias"] if init["bias"] else None
    output = functional_mha(
        query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1), query.shape[-1], heads, None, bias, None, None, False, 0.0,
        parameters["w_o.weight"], out_bias, need_weights=False, attn_mask=mask, use_separate_proj_weight=True,
        q_proj_weight=parameters["w_q.weight"], k_proj_weight=parameters["w_k.weight"], v_proj_weight=parameters["w_v.weight"])[0]
    output = output.transpose(0, 1)
    return output if empty is None else torch.where(empty, 0.0 if out_bias is None else out_bias, output)


class _MultiHead(nn.Module):
    """Multi-head attention with a switch for each usual mistake."""

    def __init__(self, d_model: int, num_heads: int, bias: bool = True, how: str = "right"):
        super().__init__()
        head_dim(d_model, num_heads)
        self.num_heads, self.how = num_heads, how
        bias = {"no bias": False, "always bias": True}.get(how, bias)
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_model, bias=bias) for _ in range(3))
        self.w_o = nn.Linear(d_model, d_model, bias=bias and how != "no bias at the end")

    def _split(self, x: Tensor) -> Tensor:
        if self.how == "straight in":
            return x.reshape(x.shape[0], self.num_heads, x.shape[1], -1)
        if self.how == "whole":
            return x[:, None]
        if self.how in ("dealt", "dealt in"):
            return x.unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2)
        return split_heads(x, self.num_heads)

    def _merge(self, x: Tensor) -> Tensor:
        if self.how == "straight out":
            return x.reshape(x.shape[0], x.shape[2], -1)
        if self.how == "dealt":
            return x.permute(0, 2, 3, 1).flatten(-2)
        return merge_heads(x)

    def forward(self, query: Tensor, key: Tensor | None = None, value: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        how = self.how
        if how == "only self":
            key = value = query
        key = query if key is None else key
        if how == "value from query" and value is None:
            value = query
        value = key if value is None or how == "value ignored" else value
        q, k, v = self._split(self.w_q(query)), self._split(self.w_k(key)), self._split(self.w_v(value))
        if how == "swapped":
            q, k = self._split(self.w_k(query)), self._split(self.w_q(key))
        if mask is not None and mask.dim() == 3 and how == "copies":
            mask = mask.repeat(self.num_heads, 1, 1).view(-1, self.num_heads, *mask.shape[-2:])
        if mask is not None and mask.dim() == 3 and how != "batch for heads":
            mask = mask[:, None]
        if how == "mask ignored":
            mask = None
        if mask is not None and how == "inverted":
            mask = ~mask
        width = {"d_model": query.shape[-1], "not scaled": 1, "heads": self.num_heads}.get(how, q.shape[-1])
        scores = q @ k.mT / math.sqrt(width)
        if how == "one head":
            scores = scores.mean(1, keepdim=True).expand_as(scores)
        if mask is not None and how in ("added", "zero", "multiplied", "finite", "1e9, empty rows 0", "1e9 and product"):
            empty, low = ~mask.any(-1, keepdim=True), scores.masked_fill(~mask, -1e9)
            scores = {"added": scores + mask, "zero": scores.masked_fill(~mask, 0.0), "multiplied": scores,
                      "finite": scores.masked_fill(~mask & ~empty, -1e4), "1e9, empty rows 0": low, "1e9 and product": low}[how]
            weights = torch.softmax(scores, -1)
            weights = weights * mask if how in ("multiplied", "1e9 and product") else weights
            weights = weights.masked_fill(empty, 0.0) if how in ("finite", "1e9, empty rows 0") else weights
        elif mask is not None and how in ("nan", "mean"):
            weights = torch.softmax(scores.masked_fill(~mask, -torch.inf if how == "nan" else -1e9), -1)
        elif how in ("over heads", "queries"):
            weights = torch.softmax(scores if mask is None else scores.masked_fill(~mask, -1e9), 1 if how == "over heads" else 2)
        else:
            weights = masked_softmax(scores, mask)
        if how == "shared weights":
            weights = weights.mean(1, keepdim=True)
        merged = self._merge(weights @ v)
        if how == "no w_o":
            return merged
        output = self.w_o(merged)
        if how == "emptied" and mask is not None:
            output = output * mask.any(-1, keepdim=True).squeeze(1 if mask.dim() == 4 else 0)
        return output


def _module(how: str) -> type[nn.Module]:
    return type("MultiHeadAttention", (_MultiHead,), {
        "__init__": lambda self, d_model, num_heads, bias=True: _MultiHead.__init__(self, d_model, num_heads, bias, how)})


def _parameters(g: torch.Generator, d: int, bias: bool) -> dict[str, Tensor]:
    found = {f"w_{name}.weight": 0.45 * randn(g, d, d) for name in "qkvo"}
    return found | ({f"w_{name}.bias": 0.5 * randn(g, d) for name in "qkvo"} if bias else {})


def _case(g: torch.Generator, label: str, part: str, query: Tensor, key: Tensor | None = None, value: Tensor | None = None,
          mask: Tensor | None = None, bias: bool = True, heads: int = 3) -> Case:
    parameters = _parameters(g, query.shape[-1], bias)
    inputs = {"query": query, "key": key, "value": value, "mask": mask}
    leaves = tuple(name for name, x in inputs.items() if x is not None and x.is_floating_point())
    return Case(label, {"init": {"d_model": query.shape[-1], "num_heads": heads, "bias": bias}, "parameters": parameters,
                        "inputs": inputs}, part=part, gradients=leaves + tuple(parameters), shape="(batch, query, d_model)")


def _some(g: torch.Generator, *shape: int) -> Tensor:
    mask = torch.rand(*shape, generator=g) < 0.5
    mask[..., 1] |= ~mask.any(-1)
    mask[..., 0] &= ~mask.all(-1)
    return mask


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    n, m = sizes(g, 2, 4, 9)
    heads, width = sizes(g, 2, 3, 6)
    d = heads * width
    x, memory, third = randn(g, 2, n, d), randn(g, 2, m, d), randn(g, 2, n, d)
    return [
        _case(g, f"self-attention: 2 sequences of {n} tokens, d_model = {d}, {heads} heads", "self", x, heads=heads),
        _case(g, "the same without bias", "self", x, bias=False, heads=heads),
        _case(g, f"{n} queries, {m} keys", "two sequences", x, memory, heads=heads),
        _case(g, f"{m} queries, keys from one sequence of {n}, values from another", "two sequences", memory, x, third, heads=heads),
        _case(g, "a mask (query, key)", "mask", x, memory, mask=_some(g, n, m), heads=heads),
        _case(g, "a mask (batch, query, key)", "mask", memory, x, mask=_some(g, 2, m, n), heads=heads),
        _case(g, "a mask (batch, 1, key)", "mask", x, memory, mask=_some(g, 2, 1, m), heads=heads),
        _case(g, "as many sequences as heads, a mask for each", "mask", randn(g, 3, 4, 6), randn(g, 3, 5, 6), mask=_some(g, 3, 4, 5)),
    ]


def _fixed() -> list[Case]:
    g, g_empty = generator(9), generator(10)
    empty = torch.ones(2, 5, 5).bool()
    empty[0, 2], empty[1, 0] = False, False
    bad = {"init": {"d_model": 30, "num_heads": 4, "bias": True}, "parameters": {}, "inputs": {"query": torch.ones(1, 2, 30)}}
    left_out = _case(g, "one sequence, nothing else handed over", "self", randn(g, 1, 4, 12))
    left_out.args["inputs"] = {"query": left_out.args["inputs"]["query"]}
    alone = torch.eye(4, 5).bool()
    return [
        left_out,
        _case(g, "sequences of one token", "self", randn(g, 2, 1, 12)),
        _case(g_empty, "queries that may attend to nothing", "empty row", randn(g_empty, 2, 5, 12), mask=empty),
        _case(g, "scores of about a hundred thousand, one key permitted", "mask", 1e5 * randn(g, 2, 4, 6), randn(g, 2, 5, 6), mask=alone),
        _case(g, "scores of about ten thousand million, of either sign, one key permitted", "mask", 3e5 * randn(g, 2, 4, 6),
              3e5 * randn(g, 2, 5, 6), randn(g, 2, 5, 6), mask=alone),
        _case(g, "one head", "self", randn(g, 3, 4, 5), heads=1),
        Case("the constructor with d_model = 30, num_heads = 4", bad, part="bad input", rejects=ValueError, mentions=("30", "4")),
    ]


MODULE = Exercise(
    id="04.4", title="Multi-head attention as a module", name="MultiHeadAttention", kind="module", stars=3, minutes=25,
    signature="MultiHeadAttention(d_model, num_heads, bias=True)(query, key=None, value=None, mask=None) -> (batch, n, d_model)",
    oracle=_mha_oracle, reference=_module("right"), draw=_draw, fixed=_fixed,
    forbidden=(*FORBIDDEN_MHA, "course_utils.models.multihead.MultiHeadAttention.forward"),
    parts={"self": 3, "two sequences": 2, "mask": 2, "empty row": 1, "bad input": 1},
    twins=(
        Twin("heads cut out by reshape alone", _module("straight in"),
             "The heads are made of tokens instead of features. Cut the feature axis first, then let heads and tokens change places."),
        Twin("heads not swapped back", _module("straight out"),
             "The way in is right. On the way out heads and tokens must change places again before you lay the heads side by side."),
        Twin("features dealt out like cards", _module("dealt"),
             "Each head takes features that are not neighbours. A loaded checkpoint expects neighbouring features in each head."),
        Twin("features dealt out on the way in", _module("dealt in"),
             "Cut the feature axis with the heads as the outer of the two new axes; the way out is right."),
        Twin("one wide head", _module("whole"),
             "There is only one attention here, as wide as the model. Cut queries, keys and values into heads before they meet."),
        Twin("scaled by d_model", _module("d_model"), "Inside a head the dot product runs over head_dim entries only."),
        Twin("scaled by the number of heads", _module("heads"),
             "The number of heads plays no part in the scores; the width of one head does."),
        Twin("not scaled", _module("not scaled"), "The scores of each head must be divided by the root of its width."),
        Twin("softmax over the heads", _module("over heads"),
             "With four axes the keys are the last one. Your softmax makes the heads compete with each other."),
        Twin("softmax over the queries", _module("queries"), "The weights of each query must sum to 1 over the keys, the last axis."),
        Twin("scores averaged over the heads", _module("one head"),
             "All heads mix with the same weights, so they are one head in several pieces."),
        Twin("weights averaged over the heads", _module("shared weights"),
             "You average the weights over the heads, so all heads look at the same places. Each head has weights of its own; only "
             "the outputs of the heads are joined."),
        Twin("output projection left out", _module("no w_o"), "You return the heads side by side. The layer w_o still has to mix them."),
        Twin("query and key projections swapped", _module("swapped"),
             "w_q makes the keys and w_k the queries. With random weights nobody notices, but a loaded checkpoint gives wrong results."),
        Twin("always self-attention", _module("only self"), "The keys that were passed are not used: the queries attend to themselves."),
        Twin("value ignored", _module("value ignored"), "Values that are passed on their own must be used; yours come from the keys."),
        Twin("values made from the queries", _module("value from query"),
             "If no values are passed, the keys are also the values, so that each weight belongs to its own key."),
        Twin("layers always with bias", _module("always bias"), "The argument that switches the bias off has no effect."),
        Twin("layers never with bias", _module("no bias"), "Four biases are missing: hand the argument on to the layers."),
        Twin("output projection without bias", _module("no bias at the end"),
             "The argument applies to all four layers, the output projection too."),
        Twin("mask ignored", _module("mask ignored"),
             "All rows, or only the empty ones, come out as if there were no mask. Hand the mask on, and give empty rows no weight."),
        Twin("mask inverted", _module("inverted"),
             "True means “may attend”, here as everywhere in the course. PyTorch's class does the opposite."),
        Twin("mask added to the scores", _module("added"),
             "Adding a boolean mask adds 1 where attention is permitted and 0 where it is not. That forbids nothing."),
        Twin("mask applied after the softmax", _module("multiplied"),
             "The forbidden weights are gone, but the others no longer sum to 1. The mask belongs to the scores."),
        Twin("masked scores set to 0", _module("zero"),
             "A score of 0 is an ordinary score; its exponential is 1. Only minus infinity gives the weight 0."),
        Twin("masked scores set to a number", _module("finite"),
             "However low the number, the permitted scores may be lower, and then the forbidden keys win. Only minus infinity is below "
             "everything."),
        Twin("a fill that is not low enough", _module("1e9, empty rows 0"),
             "Minus a thousand million looks lower than everything, but a permitted score can lie lower still, and then the forbidden keys "
             "win. Only minus infinity is below everything."),
        Twin("a low fill, then a product with the mask", _module("1e9 and product"),
             "A permitted score can lie below minus a thousand million. Then the softmax gives its weight to the forbidden keys, and the "
             "product with the mask leaves the row with nothing. Only minus infinity is below everything."),
        Twin("batch of the mask taken for heads", _module("batch for heads"),
             "The scores have four axes. Broadcasting aligns your mask from the right, so its batch axis is taken for the heads. "
             "Give the mask an axis for the heads."),
        Twin("copies of the mask in wrong order", _module("copies"),
             "You repeat the whole stack of masks and then cut it up, so sentences get masks of other sentences. With an "
             "axis of length 1 for the heads you need no copies at all."),
        Twin("empty row gives NaN", _module("nan"), "A query without any permitted key must get 0 from every head. Chapter 03 shows how."),
        Twin("empty row gives the mean", _module("mean"),
             "A query without any permitted key averages over forbidden values. It must get 0 from every head."),
        Twin("empty row emptied after w_o", _module("emptied"),
             "You set the row to 0 at the very end. Only the heads give 0: the output projection then adds its bias."),
    ),
)
