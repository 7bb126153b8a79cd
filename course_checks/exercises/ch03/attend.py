"""Exercise 03.2: scaled dot-product attention. The oracle is the fused kernel."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from course_utils.models import attention as reference

from ...exercise import Case, Exercise, Twin, generator
from ..common import FUSED_NAME, fused, randn, sizes


def _attention_oracle(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Output by the fused kernel, weights by the same kernel fed with one-hot values; empty rows by hand."""
    one_hot = torch.eye(key.shape[-2]).expand(*key.shape[:-1], -1)
    if mask is None:
        return fused(query, key, value), fused(query, key, one_hot)
    empty = ~mask.any(-1, keepdim=True)
    return tuple(fused(query, key, v, attn_mask=mask | empty).masked_fill(empty, 0.0) for v in (value, one_hot))


def _attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, how: str = "right") -> tuple[Tensor, Tensor]:
    scale = {"none": 1.0, "d_k": query.shape[-1], "d_v": math.sqrt(value.shape[-1]),
             "keys": math.sqrt(key.shape[-2])}.get(how, math.sqrt(query.shape[-1]))
    scores = query @ key.mT / scale
    if how == "after softmax scaled":
        weights = torch.softmax(query @ key.mT, -1) / scale
        return weights @ value, weights
    if mask is not None and how != "ignored":
        keep = ~mask if how == "inverted" else mask
        empty = ~keep.any(-1, keepdim=True)
        if how == "zero score":
            scores = scores.masked_fill(~keep, 0.0)
        elif how == "added":
            scores = scores + keep
        elif how == "swept":
            scores = scores + torch.zeros(keep.shape).masked_fill(~keep, -torch.inf)
        elif how == "nan":
            scores = scores.masked_fill(~keep, -torch.inf)
        elif how in ("1e9", "1e9, empty rows 0", "1e9 and product"):
            scores = scores.masked_fill(~keep, -1e9)
        elif how == "finite":
            scores = scores.masked_fill(~keep & ~empty, -100.0)
        elif how != "after":
            scores = scores.masked_fill(~keep & ~empty, -torch.inf)
    if how == "no softmax":
        return scores @ value, scores
    if how == "unsafe":
        weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
        return weights @ value, weights
    weights = torch.softmax(scores, dim={"queries": -2, "axis 1": 1}.get(how, -1))
    if how == "swept":
        weights = weights.nan_to_num()
    if mask is not None and how in ("after", "1e9 and product"):
        weights = weights * mask
    if mask is not None and how not in ("ignored", "zero score", "added", "swept", "nan", "1e9", "after", "only output", "kept"):
        weights = weights.masked_fill(empty, 0.0)
    output = weights @ value
    if mask is not None and how == "only output":
        output = output.masked_fill(empty, 0.0)
    return output, weights


def _draw_attention(seed: int) -> list[Case]:
    g = generator(seed)
    n, m, d, d_v = sizes(g, 4, 3, 9)
    args = {"query": randn(g, 2, n, d), "key": randn(g, 2, m, d), "value": randn(g, 2, m, d_v)}
    mask = torch.rand(2, n, m, generator=g) < 0.5
    mask[..., 1] |= ~mask.any(-1)  # at least one permitted key in each row ...
    mask[..., -1] &= ~mask.all(-1)  # ... and at least one forbidden
    return [
        Case(f"2 × {n} queries, {m} keys, width {d}", args, gradients=("query", "key", "value"), shape="(batch, query, d_v)"),
        Case("the same with a random mask", {**args, "mask": mask}, part="mask", gradients=("query", "key", "value"),
             shape="(batch, query, d_v)"),
        Case("a mask of shape (query, key) for the whole batch", {**args, "mask": mask[0]}, part="mask", shape="(batch, query, d_v)"),
        Case("2 × 3 heads with a mask of shape (batch, 1, 1, key)", {"query": randn(g, 2, 3, 4, 7), "key": randn(g, 2, 3, 5, 7),
             "value": randn(g, 2, 3, 5, 6), "mask": torch.tensor([[1, 1, 0, 1, 0], [0, 1, 1, 1, 1]]).bool()[:, None, None]},
             part="mask", shape="(batch, head, query, d_v)")]


def _fixed_attention() -> list[Case]:
    g = generator(7)
    args = {"query": randn(g, 3, 6), "key": randn(g, 4, 6), "value": randn(g, 4, 5)}
    mask = torch.tensor([[True, True, False, True], [False] * 4, [True, False, False, False]])
    steep = {"query": 60 * randn(g, 2, 3, 6), "key": randn(g, 2, 7, 6), "value": randn(g, 2, 7, 4)}
    scores = steep["query"] @ steep["key"].mT
    lowest = scores <= scores.kthvalue(2, dim=-1, keepdim=True).values
    far = {**steep, "query": 1e3 * steep["query"], "mask": lowest}
    low = {"query": torch.full((2, 3, 6), 3e5), "key": -3e5 * (1 + torch.rand(2, 4, 6, generator=g)), "value": randn(g, 2, 4, 5)}

    def bad(label: str, *mentions: str, **more: Tensor) -> Case:
        return Case(label, {**args, **more}, part="bad input", rejects=ValueError, mentions=mentions)

    return [
        Case("a batch of one, one query", {"query": randn(g, 1, 1, 3), "key": randn(g, 1, 4, 3), "value": randn(g, 1, 4, 2)},
             shape="(batch, query, d_v)"),
        Case("scores 60 times as large", steep, shape="(batch, query, d_v)"),
        Case("row 1 may attend to nothing", {**args, "mask": mask}, part="empty row", gradients=("query", "key", "value"),
             shape="(query, d_v)"),
        Case("scores 60 times as large, only the two lowest keys permitted", {**steep, "mask": lowest}, part="mask",
             shape="(batch, query, d_v)"),
        Case("scores 60,000 times as large, only the two lowest keys permitted", far, part="mask", shape="(batch, query, d_v)"),
        Case("each query permits one key, with a score below minus 100 thousand million", {**low, "mask": torch.eye(3, 4).bool()},
             part="mask", shape="(batch, query, d_v)"),
        Case("a single key: it gets all the weight", {**args, "key": args["key"][:1], "value": args["value"][:1]}),
        bad("queries of width 6, keys of width 4", "6", "4", key=torch.ones(4, 4)),
        bad("queries of width 6, keys of width 8", "6", "8", key=torch.ones(4, 8)),
        bad("queries of width 6, keys of width 1", "6", "1", key=torch.ones(4, 1)),
        bad("queries of width 1, keys of width 6", "1", "6", query=torch.ones(3, 1)),
        bad("4 keys but 3 values", "4", "3", value=torch.ones(3, 5)),
        bad("4 keys but 7 values", "4", "7", value=torch.ones(7, 5)),
    ]


ATTENTION = Exercise(
    id="03.2", title="Scaled dot-product attention", name="scaled_dot_product_attention", kind="function", stars=2, minutes=15,
    signature="scaled_dot_product_attention(query, key, value, mask=None) -> output, weights",
    oracle=_attention_oracle, reference=reference.scaled_dot_product_attention, draw=_draw_attention, fixed=_fixed_attention,
    parts={"values": 3, "mask": 2, "empty row": 1, "bad input": 1}, outputs=("output", "weights"),
    forbidden=(FUSED_NAME, "course_utils.models.attention.attention", "course_utils.models.attention.scaled_dot_product_attention"),
    twins=(
        Twin("not scaled", partial(_attend, how="none"),
             "The softmax sees scores that grow with the width of the vectors. Divide them by the square root of d_k first."),
        Twin("scaled by d_k", partial(_attend, how="d_k"),
             "Dividing by d_k shrinks the scores too far and the weights turn almost uniform. It is the standard deviation "
             "that must become 1."),
        Twin("scaled by the root of d_v", partial(_attend, how="d_v"),
             "The dot product adds up d_k terms. The width of the values plays no part in the scores."),
        Twin("scaled by the number of keys", partial(_attend, how="keys"),
             "The dot product runs over the entries of a query. The number of keys plays no part in the scale."),
        Twin("empty rows keep their weights", partial(_attend, how="kept"),
             "A row that may attend to nothing comes out like a row without a mask. Its weights, and so its output, should be 0."),
        Twin("exponentials out of range", partial(_attend, how="unsafe"),
             "Exponentials of large scores are too large for float32. A softmax in one step subtracts the largest score of each row "
             "first."),
        Twin("masked scores set to a number", partial(_attend, how="finite"),
             "A score of, say, -100 is small only while the others are larger. Where the permitted scores are lower still, the forbidden "
             "keys win. Only minus infinity is below everything."),
        Twin("softmax over axis 1", partial(_attend, how="axis 1"),
             "Axis 1 is the keys only when there is no batch. Count from the end: the keys are the last axis of the scores."),
        Twin("softmax over the queries", partial(_attend, how="queries"),
             "Your columns sum to 1. Each query divides its attention among the keys, the last axis of the scores."),
        Twin("scaled after the softmax", partial(_attend, how="after softmax scaled"),
             "The division comes too late: the weights no longer sum to 1 and the softmax was already saturated. Scale the scores."),
        Twin("no softmax", partial(_attend, how="no softmax"),
             "You mix the values by the raw scores, which can be negative and have any sum. Take their softmax."),
        Twin("mask ignored", partial(_attend, how="ignored"), "The result is the same with and without the mask."),
        Twin("mask inverted", partial(_attend, how="inverted"),
             "You hide what may be seen and show what may not. In this course True means “may attend”."),
        Twin("mask applied after the softmax", partial(_attend, how="after"),
             "The forbidden weights are gone, but the softmax still counted them, so the rows no longer sum to 1. "
             "Mask the scores."),
        Twin("masked scores set to 0", partial(_attend, how="zero score"),
             "A score of 0 is an ordinary score; its exponential is 1. Only minus infinity gives the weight 0."),
        Twin("mask added to the scores", partial(_attend, how="added"),
             "Adding a boolean mask adds 1 where attention is permitted and 0 where it is not. That forbids nothing."),
        Twin("empty row gives NaN", partial(_attend, how="nan"),
             "A row without a permitted key leads to 0/0, in the softmax or in a division after it. Find such rows, keep them out of the "
             "softmax, and set their weights to 0."),
        Twin("NaN swept away afterwards", partial(_attend, how="swept"),
             "You repair the NaN after the softmax, but in the backward pass the gradient still goes through 0/0. Keep empty rows out of "
             "the softmax in the first place."),
        Twin("only the output set to 0", partial(_attend, how="only output"),
             "The output of an empty row is 0, as it should be, but its weights are not: the second result must be 0 there too."),
        Twin("a fill that is not low enough", partial(_attend, how="1e9, empty rows 0"),
             "Minus a thousand million looks lower than everything, but a permitted score can lie lower still, and then the forbidden keys "
             "win. Only minus infinity is below everything."),
        Twin("a low fill, then a product with the mask", partial(_attend, how="1e9 and product"),
             "A permitted score can lie below minus a thousand million. Then the softmax gives its weight to the forbidden keys, and the "
             "product with the mask leaves the row with nothing. Only minus infinity is below everything."),
        Twin("empty row gives the mean", partial(_attend, how="1e9"),
             "With a large negative number instead of minus infinity, a row with nothing to attend to gets equal weights, and "
             "forbidden values leak into the output. In this course, its weights and its output are 0."),
    ),
)
