"""Exercise 11b.9: a block of today's decoder from its parts. The oracle goes head by head and turns pairs as complex numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from course_utils.models.positions import rope

from ...exercise import Case, Exercise, Twin, generator
from ..common import fused, randn

Weights = dict[str, Tensor]


def _turned(x: Tensor) -> Tensor:
    """Columns i and i + width/2 as one complex number, turned by position · 10000^(-2i/width)."""
    n, width = x.shape
    half = width // 2
    angle = torch.arange(n).double()[:, None] * 10_000 ** (-2 * torch.arange(half).double() / width)
    z = torch.complex(x[:, :half], x[:, half:]) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([z.real, z.imag], 1)


def _oracle(x: Tensor, weights: Weights, num_heads: int, num_kv_heads: int) -> Tensor:
    w = {name: value.double() for name, value in weights.items()}
    d = x.shape[-1] // num_heads

    def norm(t: Tensor, scale: Tensor) -> Tensor:
        return torch.einsum("nd,d,n->nd", t, scale, 1 / (t.square().mean(1) + 1e-6).sqrt())

    rows = []
    for text in x.double():
        h, said = norm(text, w["norm_1"]), []
        for head in range(num_heads):
            kv = head // (num_heads // num_kv_heads)
            q = _turned(h @ w["w_q"][:, head * d: head * d + d])
            k, v = (h @ w[name][:, kv * d: kv * d + d] for name in ("w_k", "w_v"))
            scores = torch.exp(torch.einsum("id,jd->ij", q, _turned(k)) / d**0.5).tril()
            said.append(scores @ v / scores.sum(1, keepdim=True))
        text = text + torch.cat(said, 1) @ w["w_o"]
        h = norm(text, w["norm_2"])
        gate = h @ w["w_gate"]
        rows.append(text + (gate / (1 + torch.exp(-gate)) * (h @ w["w_up"])) @ w["w_down"])
    return torch.stack(rows).float()


def _block(x: Tensor, weights: Weights, num_heads: int, num_kv_heads: int, norm: str = "rms", heads: str = "right",
           turn: str = "halves", scores: str = "right", network: str = "right", way: str = "right") -> Tensor:
    w, d = weights, x.shape[-1] // num_heads

    def normed(t: Tensor, scale: Tensor) -> Tensor:
        if norm == "layer":
            return F.layer_norm(t, scale.shape, scale, eps=1e-6)
        if norm == "none":
            return t
        if norm == "variance":
            return t * torch.rsqrt(t.var(-1, keepdim=True) + 1e-6) * scale
        if norm == "length":
            return t / t.norm(dim=-1, keepdim=True) * scale
        unit = t * torch.rsqrt(t.square().mean(-1, keepdim=True) + 1e-6)
        return unit if norm == "no weight" else unit * scale

    def split(t: Tensor, count: int) -> Tensor:
        if heads == "view":
            return t.reshape(t.shape[0], count, t.shape[1], -1)
        return t.unflatten(-1, (count, -1)).transpose(1, 2)

    def turned(t: Tensor, what: str) -> Tensor:
        if turn == "none" or (turn == "queries only" and what == "k") or (turn == "keys only" and what == "q"):
            return t
        return rope(t, halves=turn != "pairs")

    h = normed(x, w["norm_2" if norm == "swapped" else "norm_1"])
    if turn == "before the heads":
        q, k = split(rope(h @ w["w_q"], halves=True), num_heads), split(rope(h @ w["w_k"], halves=True), num_kv_heads)
    else:
        q, k = turned(split(h @ w["w_q"], num_heads), "q"), turned(split(h @ w["w_k"], num_kv_heads), "k")
    v = split(h @ w["w_k" if way == "keys for values" else "w_v"], num_kv_heads)
    if turn == "values too":
        v = rope(v, halves=True)
    group = num_heads // num_kv_heads
    if heads == "keys in turns":
        k, v = k.repeat(1, group, 1, 1), v.repeat_interleave(group, 1)
    elif heads == "repeat":
        k, v = (t.repeat(1, group, 1, 1) for t in (k, v))
    else:
        k, v = (t.repeat_interleave(group, 1) for t in (k, v))
    if scores == "no root":
        q = q * d**0.5
    if scores == "width":
        q = q * (d / x.shape[-1]) ** 0.5
    said = fused(q, k, v, is_causal=scores != "all")
    said = said.transpose(1, 2).reshape(x.shape) if heads != "not merged" else said.reshape(x.shape)
    if way != "no output matrix":
        said = said @ (w["w_o"].T if way == "transposed" else w["w_o"])
    x = said if way == "no residual" else h + said if way == "from the norm" else x + said
    if way == "parallel":
        h = normed(x - said, w["norm_2"])
    elif way == "same norm":
        h = normed(x, w["norm_1"])
    elif way == "second bare":
        h = x
    else:
        h = normed(x, w["norm_1" if norm == "swapped" else "norm_2"])
    gate, up = h @ w["w_gate"], h @ w["w_up"]
    hidden = {"gelu": lambda: F.gelu(gate) * up, "swapped": lambda: gate * F.silu(up), "sigmoid": lambda: gate.sigmoid() * up,
              "no gate": lambda: F.silu(up), "added": lambda: F.silu(gate) + up, "linear": lambda: gate * up,
              "product": lambda: F.silu(gate * up), "relu": lambda: gate.relu() * up}.get(network, lambda: F.silu(gate) * up)()
    out = hidden @ w["w_down"]
    if way == "post":
        return normed(x + out, w["norm_2"])
    return out if way == "no second residual" else h + out if way == "second from the norm" else x + out


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(label: str, batch: int, n: int, heads: int, kv: int, d: int, d_ff: int, part: str) -> Case:
        width = heads * d
        sizes = {"w_q": (width, width), "w_k": (width, kv * d), "w_v": (width, kv * d), "w_o": (width, width), "w_gate": (width, d_ff),
                 "w_up": (width, d_ff), "w_down": (d_ff, width)}
        weights: dict[str, Any] = {name: randn(g, *shape) / shape[0] ** 0.5 * 1.3 for name, shape in sizes.items()}
        weights |= {name: 0.6 + 0.8 * torch.rand(width, generator=g) for name in ("norm_1", "norm_2")}
        x = 1.5 * randn(g, batch, n, width) + 0.4
        return Case(label, {"x": x, "weights": weights, "num_heads": heads, "num_kv_heads": kv}, part=part, gradients=("x",),
                    shape="(batch, n, d_model)")

    return [case("2 texts of 5 tokens, 2 heads, as many key heads", 2, 5, 2, 2, 4, 9, "as many"),
            case("3 texts of 7 tokens, 4 heads on 2 key heads", 3, 7, 4, 2, 6, 10, "shared"),
            case("2 texts of 4 tokens, 6 heads on 3 key heads", 2, 4, 6, 3, 4, 7, "shared"),
            case("1 text of 6 tokens, 3 heads on one", 1, 6, 3, 1, 4, 11, "shared"),
            case("a single token", 2, 1, 2, 1, 4, 5, "shared")]


BLOCK = Exercise(
    id="11b.9", title="Assemble the decoder of today", name="decoder_block", kind="function", stars=3, minutes=20,
    signature="decoder_block(x, weights, num_heads, num_kv_heads) -> x's shape", oracle=_oracle, reference=_block, draw=_draw,
    parts={"as many": 3, "shared": 2}, forbidden=("course_utils.models.grouped.GroupedQueryAttention.forward",
                                                  "course_utils.models.gpt.GPTBlock.forward"), rtol=1e-3, atol=1e-4,
    twins=(
        Twin("LayerNorm for RMSNorm", partial(_block, norm="layer"),
             "You subtract the mean. RMSNorm only divides by the root of the mean square."),
        Twin("variance for mean square", partial(_block, norm="variance"),
             "A variance is taken about the mean. RMSNorm does not subtract the mean: it divides by the root of the mean square."),
        Twin("norms left out", partial(_block, norm="none"), "Your branches read the stream itself. Each should read a normed copy of it."),
        Twin("length instead of root mean square", partial(_block, norm="length"),
             "You divide by the length of the vector, the root of a sum. RMSNorm divides by the root of a mean."),
        Twin("weight of the norm forgotten", partial(_block, norm="no weight"), "Each norm has a weight for every feature."),
        Twin("norms exchanged", partial(_block, norm="swapped"), "The first norm belongs to attention, the second to the gated layer."),
        Twin("first norm used twice", partial(_block, way="same norm"), "The gated layer has a norm of its own: the second weight."),
        Twin("second branch without norm", partial(_block, way="second bare"),
             "Your gated layer reads the stream itself. It should read a normed copy."),
        Twin("heads cut from rows", partial(_block, heads="view"),
             "Your heads mix tokens and features. Split the last axis into heads, then move the heads before the tokens."),
        Twin("heads not moved back", partial(_block, heads="not merged"),
             "Before the output matrix each token's heads have to stand side by side again: move the head axis back first."),
        Twin("key heads repeated in turns", partial(_block, heads="repeat"),
             "The first query heads share the first key head. Yours takes the key heads in turns."),
        Twin("keys alone repeated in turns", partial(_block, heads="keys in turns"),
             "You repeat keys and values in two different orders, so that a query head gets the values of another key head."),
        Twin("not rotated", partial(_block, turn="none"),
             "Your scores do not depend on where the tokens are. Rotate queries and keys. Rope expects the tokens on the last axis but "
             "one, so first move the heads before the tokens."),
        Twin("queries not rotated", partial(_block, turn="keys only"),
             "Only the keys are turned, so scores depend on the key's place and not on the distance. Turn the queries as well."),
        Twin("keys for values", partial(_block, way="keys for values"), "The values have a matrix of their own, w_v."),
        Twin("output matrix forgotten", partial(_block, way="no output matrix"),
             "What the heads say goes through w_o before it is added to the stream."),
        Twin("neighbouring columns paired", partial(_block, turn="pairs"),
             "You rotate neighbouring columns. Here column i is paired with the column half a head further on, see the docstring."),
        Twin("keys not rotated", partial(_block, turn="queries only"),
             "Only the queries are turned, so scores depend on the query's place and not on the distance. Turn the keys as well."),
        Twin("values rotated", partial(_block, turn="values too"), "Values are not rotated: positions only matter for the scores."),
        Twin("rotated before the heads are split", partial(_block, turn="before the heads"),
             "You rotate the whole width, so the heads turn at different speeds. Split into heads first."),
        Twin("later tokens visible", partial(_block, scores="all"), "Your tokens see later tokens. The mask has to be causal."),
        Twin("scores not divided", partial(_block, scores="no root"), "The scores are not divided by the root of a head's width."),
        Twin("divided by the root of the model's width", partial(_block, scores="width"),
             "The root is that of one head's width, not of the model's."),
        Twin("output matrix transposed", partial(_block, way="transposed"), "You transpose w_o. Multiply by each matrix as it is given."),
        Twin("attention replaces the stream", partial(_block, way="no residual"),
             "You replace the stream by the result of attention. Add the result to it."),
        Twin("stream replaced by its norm", partial(_block, way="from the norm"),
             "You add to the normed copy. Add to the stream itself, without a norm."),
        Twin("gated layer replaces the stream", partial(_block, way="no second residual"),
             "You return the gated layer's result alone. Add it to the stream as well."),
        Twin("second residual from the norm", partial(_block, way="second from the norm"),
             "At the end you add to the normed copy. Add to the stream itself."),
        Twin("both branches read the same", partial(_block, way="parallel"),
             "The gated layer reads the stream as it was before attention. It should read what attention has added to it."),
        Twin("norm at the end", partial(_block, way="post"), "The stream leaves the block without a norm."),
        Twin("GELU gate", partial(_block, network="gelu"), "The gate goes through SiLU, its value times its sigmoid."),
        Twin("gate and value exchanged", partial(_block, network="swapped"), "SiLU belongs to the gate; the other matrix stays linear."),
        Twin("sigmoid gate", partial(_block, network="sigmoid"), "SiLU is the value times its sigmoid; you use the sigmoid alone."),
        Twin("ReLU gate", partial(_block, network="relu"), "The gate goes through SiLU, its value times its sigmoid."),
        Twin("SiLU of the product", partial(_block, network="product"),
             "You multiply first and then apply SiLU. SiLU belongs to the gate alone; the other matrix stays linear."),
        Twin("gate left out", partial(_block, network="no gate"), "You do not use the gate's matrix at all."),
        Twin("gate added", partial(_block, network="added"), "A gate multiplies the other branch. Yours is added to it."),
        Twin("gate without SiLU", partial(_block, network="linear"), "Your gate is linear. It has to go through SiLU."),
    ),
)
