"""Exercise 04.6: the output as a sum, one term for each head."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator
from ..common import fused, randn, sizes


def _by_silencing(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, mask: Tensor | None = None) -> Tensor:
    """The concatenated form with every head but one set to zero, in turn."""
    heads = [fused((x @ q)[None], (x @ k)[None], (x @ v)[None], attn_mask=mask)[0] for q, k, v in zip(w_q, w_k, w_v, strict=True)]
    return torch.stack([torch.cat([head * float(i == j) for j, head in enumerate(heads)], dim=-1) @ w_o for i in range(len(heads))])


def _parts(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, mask: Tensor | None = None, how: str = "right") -> Tensor:
    h, _, d_k = w_q.shape
    d_v = w_v.shape[-1]
    q, k, v = x @ w_q, x @ w_k, x @ w_v  # (head, token, width)
    scale = {"d_v": d_v, "none": 1, "d_model": x.shape[-1]}.get(how, d_k)
    scores = q @ k.mT / math.sqrt(scale)
    if mask is not None and how == "added":
        scores = scores + mask
    elif mask is not None and how not in ("mask ignored", "multiplied"):
        scores = scores.masked_fill(mask if how == "inverted" else ~mask, {"zero": 0.0, "finite": -1e4}.get(how, -torch.inf))
    heads = torch.softmax(scores, -2 if how == "queries" else 0 if how == "over heads" else -1) @ v
    if mask is not None and how == "multiplied":
        heads = torch.softmax(scores, -1) * mask @ v
    blocks = w_o.reshape(h, d_v, -1)
    match how:
        case "dealt":
            blocks = w_o.reshape(d_v, h, -1).transpose(0, 1)
        case "first block":
            blocks = blocks[:1].expand(h, -1, -1)
        case "no w_o":
            return heads
        case "same weights":
            heads = torch.softmax(scores, -1).mean(0) @ v
    parts = heads @ blocks
    if how == "mean":
        return parts / h
    if how == "running":
        return parts.cumsum(0)
    return parts.sum(0) if how == "summed" else parts


def _arguments(g: torch.Generator, n: int = 5, d_model: int = 7, h: int = 3, d_k: int = 4, d_v: int = 2) -> dict[str, Tensor]:
    return {"x": randn(g, n, d_model), "w_q": 0.5 * randn(g, h, d_model, d_k), "w_k": 0.5 * randn(g, h, d_model, d_k),
            "w_v": 0.5 * randn(g, h, d_model, d_v), "w_o": randn(g, h * d_v, d_model)}


def _draw(seed: int) -> list[Case]:
    g, d_model = generator(seed), 11 + 2 * (seed % 2)  # a prime: never as wide as the heads together
    n, h, d_k, d_v = sizes(g, 4, 2, 8)
    n += 8 * (n == 2)  # with two tokens a mask leaves one
    args = _arguments(g, n, d_model, h, d_k, d_v)
    names, hidden = tuple(args), (torch.arange(n) % 3 != 1)[None]
    return [Case(f"{n} tokens, d_model = {d_model}, {h} heads, d_k = {d_k}, d_v = {d_v}", args, gradients=names,
                 shape="(head, token, d_model)"),
            Case("the same, every third token hidden by a mask (1, key)", {**args, "mask": hidden}, part="mask", gradients=names,
                 shape="(head, token, d_model)")]


def _edges() -> list[Case]:
    g = generator(4)
    def case(label: str, n: int, h: int, d_v: int) -> Case:
        return Case(label, {"x": randn(g, n, 7), "w_q": 0.5 * randn(g, h, 7, 4), "w_k": 0.5 * randn(g, h, 7, 4),
                            "w_v": 0.5 * randn(g, h, 7, d_v), "w_o": randn(g, h * d_v, 7)})
    causal = {**_arguments(g), "mask": torch.ones(5, 5).tril().bool()}
    steep = {**_arguments(g), "mask": torch.eye(5).bool()}
    steep["w_q"] = 1e5 * steep["w_q"]
    return [Case("scores of about a hundred thousand, each token sees itself alone", steep, part="mask", shape="(head, token, d_model)"),
            case("one head", 4, 1, 5), case("heads wider than the model", 3, 2, 8),
            Case("no token may look ahead", causal, part="mask", shape="(head, token, d_model)")]


PARTS = Exercise(
    id="04.6", title="What each head adds", name="head_contributions", kind="function", stars=2, minutes=12,
    signature="head_contributions(x, w_q, w_k, w_v, w_o, mask=None) -> (num_heads, n, d_model)", oracle=_by_silencing,
    reference=_parts, draw=_draw, fixed=_edges, parts={"values": 3, "mask": 1},
    twins=(
        Twin("rows of W_O dealt out", partial(_parts, how="dealt"),
             "Head 0 gets rows of the output projection that are not neighbours. Concatenation puts all features of head 0 first, so its "
             "rows are the first d_v rows."),
        Twin("the first block for every head", partial(_parts, how="first block"),
             "Every head has its own rows of the output projection; you use those of head 0 for all."),
        Twin("output projection left out", partial(_parts, how="no w_o"),
             "These are the heads before the output projection. What a head adds to the output has the width of the model."),
        Twin("already summed over the heads", partial(_parts, how="summed"),
             "That is the whole output. Keep the heads apart: one matrix for each of them."),
        Twin("divided by the number of heads", partial(_parts, how="mean"),
             "The contributions must add up to the output, not average to it."),
        Twin("running sums", partial(_parts, how="running"), "Your entry i adds up the heads 0 to i. Return each head alone."),
        Twin("scaled by d_v", partial(_parts, how="d_v"), "The dot product runs over the entries of a query, of which there are d_k."),
        Twin("scaled by d_model", partial(_parts, how="d_model"),
             "Inside a head the dot product runs over d_k entries, not over the width of the model."),
        Twin("not scaled", partial(_parts, how="none"), "Each head is scaled dot-product attention: its scores are divided by a root."),
        Twin("softmax over the queries", partial(_parts, how="queries"), "In every head the weights of one query sum to 1 over the keys."),
        Twin("softmax over the heads", partial(_parts, how="over heads"),
             "The heads compete with each other in your softmax. In each head, only the keys should compete."),
        Twin("heads share their weights", partial(_parts, how="same weights"),
             "You mix the values of every head with the average of all weights. Each head must use its own weights."),
        Twin("mask ignored", partial(_parts, how="mask ignored"), "The result is the same with and without the mask."),
        Twin("mask added to the scores", partial(_parts, how="added"),
             "Adding a boolean mask adds 1 where attention is permitted and 0 where it is not. That forbids nothing."),
        Twin("mask applied after the softmax", partial(_parts, how="multiplied"),
             "The forbidden weights are gone, but the others no longer sum to 1. The mask belongs to the scores."),
        Twin("masked scores set to 0", partial(_parts, how="zero"),
             "A score of 0 is an ordinary score; its exponential is 1. Only minus infinity gives the weight 0."),
        Twin("masked scores set to a number", partial(_parts, how="finite"),
             "However low the number, the permitted scores may be lower, and then the forbidden keys win. Only minus infinity is below "
             "everything."),
        Twin("mask inverted", partial(_parts, how="inverted"), "True means “may attend”, here as everywhere in the course."),
    ),
)
