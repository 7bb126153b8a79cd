"""Exercise 12a.8: ModernBERT's block. The oracle turns complex numbers and looks key by key, in double precision."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from course_utils.models.positions import rope

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn

Weights = dict[str, Tensor]


def _oracle(x: Tensor, weights: Weights, num_heads: int, reach: int | None, base: float) -> Tensor:
    w = {name: value.double() for name, value in weights.items()}
    x = x.double()
    n, d = x.shape[1:]
    width = d // num_heads
    angle = torch.arange(n)[:, None] * base ** (-2 * torch.arange(width // 2) / width).double()  # (n, width / 2)
    turn = torch.polar(torch.ones_like(angle), angle)

    def turned(part: Tensor) -> Tensor:
        z = torch.complex(part[..., : width // 2], part[..., width // 2:]) * turn
        return torch.cat([z.real, z.imag], -1)

    read, outputs = F.layer_norm(x, (d,), w["norm_1"]), []
    for head in range(num_heads):
        rows = [slice(part * d + head * width, part * d + (head + 1) * width) for part in range(3)]
        q, k, v = (read @ w["qkv"][place].T for place in rows)
        scores = torch.einsum("bid,bjd->bij", turned(q), turned(k)) / math.sqrt(width)
        for i in range(n):
            for j in range(n):
                if reach is not None and abs(i - j) > reach:
                    scores[:, i, j] = -torch.inf
        outputs.append(scores.softmax(-1) @ v)
    x = x + torch.cat(outputs, -1) @ w["out"].T
    gate, value = (F.layer_norm(x, (d,), w["norm_2"]) @ w["up"].T).chunk(2, -1)
    return (x + (gate * (1 + torch.erf(gate / math.sqrt(2))) / 2 * value) @ w["down"].T).float()


def _block(x: Tensor, weights: Weights, num_heads: int, reach: int | None, base: float, how: str = "right") -> Tensor:
    n, d = x.shape[1:]
    start = x
    names = {"norms exchanged": ("norm_2", "norm_1"), "first norm twice": ("norm_1", "norm_1")}.get(how, ("norm_1", "norm_2"))

    def norm(t: Tensor, name: str) -> Tensor:
        if how == "no mean subtracted":
            return t / (t.square().mean(-1, keepdim=True) + 1e-5).sqrt() * weights[name]
        return F.layer_norm(t, (d,), None if how == "norm weights forgotten" else weights[name])

    def split(t: Tensor) -> Tensor:
        if how == "heads cut wrongly":
            return t.reshape(len(t), num_heads, n, -1)
        return t.view(len(t), n, num_heads, -1).transpose(1, 2)

    def turn(t: Tensor) -> Tensor:
        return rope(t, base=10_000.0 if how == "base ignored" else base, halves=how != "neighbours paired")

    def attend(t: Tensor) -> Tensor:
        parts = (t @ weights["qkv"].T).chunk(3, -1)
        match how:
            case "keys first":
                parts = parts[1], parts[0], parts[2]
            case "values second":
                parts = parts[0], parts[2], parts[1]
            case "a head's three parts together":  # cut into heads first, then each head into three
                parts = tuple(p.flatten(2) for p in (t @ weights["qkv"].T).view(len(t), n, num_heads, 3, -1).unbind(3))
        if how == "turned before the heads":
            parts = turn(parts[0]), turn(parts[1]), parts[2]
        q, k, v = map(split, parts)
        if how == "queries and keys alike":
            k = q
        if how not in ("not turned", "turned before the heads"):
            q, k = turn(q), k if how == "queries alone turned" else turn(k)
        if how == "values turned":
            v = turn(v)
        scores = q @ k.mT / (1 if how == "not scaled" else d**0.5 if how == "scaled by d" else (d // num_heads) ** 0.5)
        place, late = torch.arange(n), scores
        distance = place[:, None] - place
        if reach is not None and how != "window ignored" and not (how == "reach 0 taken for none" and not reach):
            seen = distance.abs() < reach if how == "window too narrow" else distance.abs() <= reach
            seen = (distance >= 0) & (distance <= reach) if how == "left side only" else seen
            seen = distance.abs() <= reach // 2 if how == "reach halved" else ~seen if how == "mask inverted" else seen
            scores = scores.masked_fill(~seen, -1e9)
        elif how == "causal":
            scores = scores.masked_fill(distance < 0, -1e9)
        weight = scores.softmax(-2 if how == "softmax over queries" else -1)
        if how == "mask after the softmax":
            weight = late.softmax(-1) * (scores > -1e8)
        mixed = weight @ v
        mixed = (mixed if how == "heads left in front" else mixed.transpose(1, 2)).reshape(len(t), n, d)
        return mixed if how == "output matrix forgotten" else mixed @ weights["out"].T

    def feed(t: Tensor) -> Tensor:
        gate, value = (t @ weights["up"].T).chunk(2, -1)
        if how == "halves exchanged":
            gate, value = value, gate
        act = {"silu": F.silu, "relu": torch.relu, "sigmoid": torch.sigmoid}.get(how, F.gelu)
        hidden = {"both bent": lambda: F.gelu(gate) * F.gelu(value), "bent late": lambda: F.gelu(gate * value),
                  "added": lambda: F.gelu(gate) + value, "no gate": lambda: F.gelu(gate)}.get(how, lambda: act(gate) * value)()
        return hidden @ weights["down"].T

    if how == "norm last":
        x = norm(x + attend(x), names[0])
        return norm(x + feed(x), names[1])
    read = x if how == "first norm forgotten" else norm(x, names[0])
    kept = read if how in ("way around normalised", "first way around normalised") else x
    x = attend(read) + (0 if how == "first way around forgotten" else kept)
    if how != "second norm not computed":
        read = x if how == "second norm forgotten" else norm(start if how == "side by side" else x, names[1])
    kept = read if how in ("way around normalised", "second way around normalised") else x
    return feed(read) + (0 if how == "second way around forgotten" else kept)


def _case(g: torch.Generator, label: str, sizes: tuple[int, int, int, int], num_heads: int, reach: int | None, base: float,
          part: str = "values", size: float = 1.0) -> Case:
    batch, n, d, width = sizes
    weights = {"norm_1": 1 + 0.4 * randn(g, d), "norm_2": 1 + 0.4 * randn(g, d), "qkv": 0.3 * randn(g, 3 * d, d),
               "out": 0.4 * randn(g, d, d), "up": 0.3 * randn(g, 2 * width, d), "down": 0.4 * randn(g, d, width)}
    return Case(label, {"x": size * randn(g, batch, n, d) + 0.3, "weights": weights, "num_heads": num_heads, "reach": reach, "base": base},
                part=part, gradients=("x",), shape="(batch, n, d)")


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case(g, "2 texts of 9 tokens, 3 heads of 4, reach 2", (2, 9, 12, 10), 3, 2, 100.0),
            _case(g, "3 texts of 7 tokens, 2 heads of 6, reach 3", (3, 7, 12, 9), 2, 3, 40.0),
            _case(g, "no window, a large base", (2, 6, 8, 7), 2, None, 160_000.0, part="whole text")]


def _fixed() -> list[Case]:
    g = generator(5)
    return [_case(g, "one token", (1, 1, 8, 5), 2, 1, 50.0, part="edges"),
            _case(g, "reach 1, a text shorter than the window of others", (1, 4, 8, 6), 4, 1, 10.0, part="edges"),
            _case(g, "reach 0: a token sees itself alone", (2, 4, 8, 6), 2, 0, 30.0, part="edges"),
            _case(g, "a window wider than the text", (2, 5, 8, 6), 2, 9, 30.0, part="edges")]


MODERN = Exercise(
    id="12a.8", title="The block of today", name="modern_block", kind="function", stars=3, minutes=22,
    signature="modern_block(x, weights, num_heads, reach, base) -> x's shape", oracle=_oracle, reference=_block, draw=_draw, fixed=_fixed,
    parts={"values": 3, "whole text": 1, "edges": 1}, forbidden=("course_utils.models.zoo.modern.ModernBlock",),
    twins=(
        Twin("norm last", partial(_block, how="norm last"),
             "You normalise the sums, as BERT does. Here each branch reads a normalised copy, and the sum stays as it is."),
        Twin("first norm forgotten", partial(_block, how="first norm forgotten"),
             "Your attention reads the plain x. It should read a normed copy."),
        Twin("second norm forgotten", partial(_block, how="second norm forgotten"),
             "The gated network reads the plain sum. It should read a normed copy."),
        Twin("norms exchanged", partial(_block, how="norms exchanged"), "The weights of the two norms are exchanged."),
        Twin("first norm's weights twice", partial(_block, how="first norm twice"),
             "Both of your norms use the weights of the first. The second branch has its own."),
        Twin("norm weights forgotten", partial(_block, how="norm weights forgotten"),
             "The norms have weights, one number for each feature."),
        Twin("RMSNorm instead of LayerNorm", partial(_block, how="no mean subtracted"),
             "Your norm subtracts no mean. ModernBERT kept LayerNorm and dropped only its bias."),
        Twin("first way around forgotten", partial(_block, how="first way around forgotten"),
             "The way around attention is missing: its result should be added to x."),
        Twin("second way around forgotten", partial(_block, how="second way around forgotten"),
             "The way around the gated network is missing."),
        Twin("way around normalised", partial(_block, how="way around normalised"),
             "You add the normed copy. The way around carries x itself, untouched by any norm."),
        Twin("first way around normalised", partial(_block, how="first way around normalised"),
             "The way around attention carries the normed copy. It should carry x itself."),
        Twin("second way around normalised", partial(_block, how="second way around normalised"),
             "The way around the gated network carries the normed copy. It should carry the sum itself."),
        Twin("second norm not computed", partial(_block, how="second norm not computed"),
             "Your gated network reads the copy that was made for attention. It needs one of its own, made after the first sum."),
        Twin("side by side", partial(_block, how="side by side"),
             "Your gated network reads the block's input. It should read the first sum, to which attention has added its result."),
        Twin("not turned", partial(_block, how="not turned"),
             "Your scores do not depend on positions. Either you do not turn queries and keys, or you turn them while the heads are on "
             "the last but one axis. There rope expects the tokens."),
        Twin("keys before queries", partial(_block, how="keys first"),
             "Your queries and keys are exchanged: the first third of the rows makes the queries."),
        Twin("values before keys", partial(_block, how="values second"),
             "Your keys and values are exchanged: the second third of the rows makes the keys."),
        Twin("heads cut before the three parts", partial(_block, how="a head's three parts together"),
             "You give each head its queries, keys and values from neighbouring rows. Here all queries come first, of every head, then "
             "all keys, then all values."),
        Twin("queries alone turned", partial(_block, how="queries alone turned"),
             "You turn only the queries, so a score depends on the query's place. If you turn the keys too, it depends on the distance."),
        Twin("values turned", partial(_block, how="values turned"),
             "You turn the values, too. Only the scores should depend on positions."),
        Twin("turned before the heads", partial(_block, how="turned before the heads"),
             "You turn before the heads are cut apart. Then each head gets only some of the angles. Each head should have all of them."),
        Twin("neighbours paired", partial(_block, how="neighbours paired"),
             "You pair columns that are next to each other. Pair column i with column i + half of the head's width."),
        Twin("base ignored", partial(_block, how="base ignored"), "Your angles do not depend on the argument base."),
        Twin("window too narrow", partial(_block, how="window too narrow"), "A key exactly reach places away may be seen as well."),
        Twin("reach halved", partial(_block, how="reach halved"), "The reach holds for each side; you take it for both together."),
        Twin("left side only", partial(_block, how="left side only"), "This is an encoder: the window lies on both sides of a token."),
        Twin("causal", partial(_block, how="causal"),
             "Your tokens see only earlier tokens and themselves. Without a window every token sees all."),
        Twin("window ignored", partial(_block, how="window ignored"), "You do not use reach, so every token sees the whole text."),
        Twin("reach 0 taken for none", partial(_block, how="reach 0 taken for none"),
             "A reach of 0 is a window, too: each token sees itself alone. Only None opens the whole text."),
        Twin("mask inverted", partial(_block, how="mask inverted"),
             "Your tokens see what is far away and nothing else: the mask is inverted."),
        Twin("not scaled", partial(_block, how="not scaled"), "The scores are not divided by the root of the head's width."),
        Twin("scaled by d", partial(_block, how="scaled by d"), "You divide by the root of d. It is the root of the head's own width."),
        Twin("softmax over queries", partial(_block, how="softmax over queries"),
             "The weights of a query should add up to 1. Yours add up to 1 for each key."),
        Twin("heads not brought back", partial(_block, how="heads left in front"),
             "You join the heads while their axis is still in front of the tokens, which mixes tokens. Bring it back beside the "
             "features first."),
        Twin("mask after the softmax", partial(_block, how="mask after the softmax"),
             "You mask after the softmax, so the weights of a query add up to less than 1. Mask the scores."),
        Twin("heads cut wrongly", partial(_block, how="heads cut wrongly"),
             "You reshape straight to heads, which mixes tokens. First cut the features, then bring the heads to the front."),
        Twin("output matrix forgotten", partial(_block, how="output matrix forgotten"),
             "You return the heads' results as they are. They go through one more matrix."),
        Twin("SiLU instead of GELU", partial(_block, how="silu"), "Your gate is SwiGLU's. The Ge in GeGLU says which function bends it."),
        Twin("ReLU instead of GELU", partial(_block, how="relu"),
             "Your gate is bent by a ReLU. The Ge in GeGLU says which function it is."),
        Twin("sigmoid instead of GELU", partial(_block, how="sigmoid"),
             "Your gate is GLU's. The Ge in GeGLU says which function bends it."),
        Twin("halves exchanged", partial(_block, how="halves exchanged"), "The first half of the rows makes the gate. You bend the other."),
        Twin("both halves bent", partial(_block, how="both bent"), "Only the gate is bent; the value stays linear."),
        Twin("product bent", partial(_block, how="bent late"), "You bend the product. Bend the gate before it multiplies the value."),
        Twin("halves added", partial(_block, how="added"), "A gate multiplies. Your two halves are added."),
        Twin("value forgotten", partial(_block, how="no gate"), "The second half of the rows is not used. The gate has to multiply it."),
    ),
)
