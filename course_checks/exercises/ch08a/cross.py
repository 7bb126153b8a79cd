"""Exercise 08a.1: attention from the target to the source. The oracle is PyTorch's fused kernel."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from course_utils.models.attention import masked_softmax

from ...exercise import Case, Exercise, Twin, generator
from ..common import fused, integers, randn


def _oracle(y: Tensor, memory: Tensor, source: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> tuple[Tensor, Tensor]:
    real = (source != 0)[:, None].expand(len(y), y.shape[1], source.shape[1])
    empty = ~real.any(-1, keepdim=True)
    query, key = y @ w_q, memory @ w_k

    def mix(value: Tensor) -> Tensor:
        return fused(query[:, None], key[:, None], value[:, None], attn_mask=(real | empty)[:, None])[:, 0].masked_fill(empty, 0.0)

    return mix(memory @ w_v), mix(torch.eye(memory.shape[1]).expand(len(y), -1, -1))  # the weights: what mixes unit vectors


def _cross(y: Tensor, memory: Tensor, source: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, how: str = "right") -> tuple[Tensor, ...]:
    asking, asked, giving = {
        "encoder asks": (memory, y, y), "values from the decoder": (memory, memory, y),
        "memory unread": (y, y, y), "source alone": (memory, memory, memory)}.get(how, (y, memory, memory))
    query, key, value = asking @ w_q, asked @ w_k, giving @ w_v
    mask: Tensor | None = (source != 0)[:, None]
    match how:
        case "mask ignored" | "encoder asks" | "values from the decoder" | "memory unread":
            mask = None
        case "inverted":
            mask = ~mask
        case "pads behind":
            mask = (torch.arange(source.shape[1]) < (source != 0).sum(1, keepdim=True))[:, None]
        case "one mask":
            mask = mask[:1]
        case "causal":
            mask = mask & torch.ones(y.shape[1], memory.shape[1], dtype=torch.bool).tril()
    width = {"unscaled": 1.0, "d_model": y.shape[-1], "squared": key.shape[-1] ** 2}.get(how, key.shape[-1])
    scores = query @ key.mT / math.sqrt(width)
    if how == "masked late":
        weights = torch.softmax(scores, -1) * mask
    elif how == "nan":
        weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), -1)
    elif how == "no policy":
        weights = torch.softmax(scores.masked_fill(~mask, -1e9), -1)
    elif how == "over queries":
        weights = torch.softmax(scores.masked_fill(~mask, -1e9), -2)
    elif how == "multiplied":
        weights = torch.softmax(scores * mask, -1)
    elif how == "scaled late":
        weights = masked_softmax(query @ key.mT, mask) / math.sqrt(width)
    else:
        weights = masked_softmax(scores, mask)
    output = weights @ (memory if how == "tokens mixed" else value)
    return output, weights


def _args(g: torch.Generator, batch: int, n: int, m: int, pads: list[int], d: int = 6, d_k: int = 4, d_v: int = 5) -> dict:
    source = integers(g, 1, 20, batch, m)
    for row, count in zip(source, pads, strict=True):
        row[m - count:] = 0
    return {"y": randn(g, batch, n, d), "memory": randn(g, batch, m, d), "source": source, "w_q": 0.6 * randn(g, d, d_k),
            "w_k": 0.6 * randn(g, d, d_k), "w_v": 0.6 * randn(g, d, d_v)}


EVERYTHING = ("y", "memory", "w_q", "w_k", "w_v")
SHAPE = "(batch, n, d_v)"


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        Case("2 sentences, 3 target and 7 source tokens, no pads", _args(g, 2, 3, 7, [0, 0]), gradients=EVERYTHING, shape=SHAPE),
        Case("more target than source tokens, 7 and 3", _args(g, 2, 7, 3, [0, 0]), gradients=EVERYTHING, shape=SHAPE),
        Case("2, 0 and 4 pads at the end of the sources", _args(g, 3, 4, 8, [2, 0, 4]), part="padding", gradients=EVERYTHING, shape=SHAPE)]


def _fixed() -> list[Case]:
    g = generator(5)
    inner = _args(g, 2, 3, 7, [1, 0])
    inner["source"][1, 2] = 0
    return [Case("one target token, one source token", _args(g, 1, 1, 1, [0]), gradients=EVERYTHING, shape=SHAPE),
            Case("one sentence, d = 5, d_k = 7, d_v = 3", _args(g, 1, 4, 6, [2], 5, 7, 3), part="padding", shape=SHAPE),
            Case("a pad in the middle", inner, part="padding", gradients=EVERYTHING, shape=SHAPE),
            Case("the second source is all padding", _args(g, 2, 3, 4, [1, 4]), part="empty source", gradients=EVERYTHING, shape=SHAPE)]


CROSS = Exercise(
    id="08a.1", title="Cross-attention", name="cross_attention", kind="function", stars=2, minutes=12,
    signature="cross_attention(y, memory, source, w_q, w_k, w_v) -> output (batch, n, d_v), weights (batch, n, m)",
    oracle=_oracle, reference=_cross, draw=_draw, fixed=_fixed, parts={"values": 2, "padding": 1, "empty source": 1},
    forbidden=("torch.nn.functional.scaled_dot_product_attention", "course_utils.models.attention.scaled_dot_product_attention"),
    outputs=("output", "weights"),
    twins=(
        Twin("pads taken to stand behind", partial(_cross, how="pads behind"),
             "You count the real tokens and open as many places from the front. A pad may be in the middle: test each place by itself."),
        Twin("the encoder asks, the decoder answers", partial(_cross, how="encoder asks"),
             "The output must have one row for each target token, so the queries come from the target."),
        Twin("values from the decoder", partial(_cross, how="values from the decoder"),
             "Your values come from the target. The weights have a column for each source token, so there must be a value for each "
             "source token."),
        Twin("the memory is never read", partial(_cross, how="memory unread"),
             "All three projections read the target: that is self-attention. Keys and values should come from the memory."),
        Twin("the target is never read", partial(_cross, how="source alone"),
             "All three projections read the source, which the encoder has done already. The queries must come from the target."),
        Twin("padding of the source ignored", partial(_cross, how="mask ignored"),
             "Pads of the source receive weight. Their ids are 0: hide those keys."),
        Twin("mask inverted", partial(_cross, how="inverted"), "True means “may attend”; a real token is one whose id is not 0."),
        Twin("first sentence's mask for all", partial(_cross, how="one mask"),
             "Each sentence of the batch has padding of its own; keep the batch axis of the mask."),
        Twin("a causal mask on the source", partial(_cross, how="causal"),
             "The whole source is known before the first target token is written. So none of it has to be hidden as future."),
        Twin("masked after the softmax", partial(_cross, how="masked late"),
             "You mask after the softmax, so the weights no longer sum to 1. Hide the scores before it."),
        Twin("pads keep a score of 0", partial(_cross, how="multiplied"),
             "Your product or your fill leaves the score of a pad at 0 or close to it, and the exponential of 0 is 1. Which score becomes "
             "a weight of 0?"),
        Twin("scaled after the softmax", partial(_cross, how="scaled late"),
             "You divide after the softmax, so the weights no longer sum to 1. Divide the scores before it."),
        Twin("an empty source gives the mean", partial(_cross, how="no policy"),
             "Where every source token is a pad, weights and output must be 0, as agreed in chapter 03."),
        Twin("an empty source gives NaN", partial(_cross, how="nan"),
             "If every score of a row is minus infinity, the softmax gives 0/0. Keep such a row out of it, as in chapter 03."),
        Twin("softmax over the target", partial(_cross, how="over queries"),
             "Your softmax runs over the target. A row of the weights belongs to one target token and sums to 1."),
        Twin("not scaled", partial(_cross, how="unscaled"), "The scores are not divided by the root of d_k."),
        Twin("scaled by d_k", partial(_cross, how="squared"), "You divide the scores by d_k; the square root is missing."),
        Twin("scaled by the width of the tokens", partial(_cross, how="d_model"),
             "The dot product runs over the d_k entries of projected queries, not over the width of y."),
        Twin("memory mixed instead of values", partial(_cross, how="tokens mixed"),
             "The weights mix the memory itself. They should mix its values, after the third projection."),
    ),
)
