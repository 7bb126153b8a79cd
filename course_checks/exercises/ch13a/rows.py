"""Exercise 13a.2: attention in blocks of keys. The oracle is softmax and logsumexp of whole rows in double precision."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(query: Tensor, key: Tensor, value: Tensor, size: int) -> tuple[Tensor, Tensor]:
    scores = query.double() @ key.double().T / math.sqrt(query.shape[1])
    return (torch.softmax(scores, 1) @ value.double()).float(), torch.logsumexp(scores, 1).float()


def _rows(query: Tensor, key: Tensor, value: Tensor, size: int, how: str = "right") -> tuple[Tensor, Tensor]:
    n, d = query.shape
    scale = {"no scale": 1.0, "scaled by d": 1 / d, "scaled twice": 1 / d, "d_v": value.shape[1] ** -0.5}.get(how, d**-0.5)
    top, total, mixed = torch.full((n,), -torch.inf), torch.zeros(n), torch.zeros(n, value.shape[1])
    pairs = list(zip(key.split(size), value.split(size), strict=True))
    if how == "short block dropped" and len(key) % size and len(pairs) > 1:
        pairs = pairs[:-1]
    if how == "first block":
        pairs = pairs[:1]
    if how == "last block":
        pairs = pairs[-1:]
    if how == "padded":
        pairs = [(torch.cat([k, k.new_zeros(size - len(k), d)]), torch.cat([v, v.new_zeros(size - len(v), v.shape[1])])) for k, v in pairs]
    if how == "first values":
        pairs = [(k, value[: len(k)]) for k, _ in pairs]
    if how == "from zero":
        top = torch.zeros(n)
    singles = []
    for k, v in pairs:
        scores = query @ k.T * scale
        higher = torch.maximum(top, scores.amax(1))
        if how == "one for the block":
            higher = torch.maximum(top, scores.amax().expand(n))
        if how == "first maximum" and singles:
            higher = top
        if how == "no maximum":
            higher = torch.zeros(n)
        if how == "block's maximum":
            higher = scores.amax(1)
        p, shrink = (scores - higher[:, None]).exp(), (top - higher).exp() if how != "no maximum" else torch.ones(n)
        if how in ("never rescaled",):
            shrink = torch.ones(n)
        singles.append((p / p.sum(1, keepdim=True)) @ v)
        total = (total if how == "sum not rescaled" else shrink * total) + p.sum(1)
        mixed = (mixed if how == "values not rescaled" else shrink[:, None] * mixed) + p @ v
        if how == "divided inside":
            mixed = mixed / total[:, None]
        top = higher
    output, lse = mixed / total[:, None], top + total.log()
    match how:
        case "not divided":
            output = mixed
        case "mean of blocks":
            output = torch.stack(singles).mean(0)
        case "sum of blocks":
            output = torch.stack(singles).sum(0)
        case "divided inside":
            output = mixed
        case "maximum":
            lse = top
        case "log of the sum":
            lse = total.log()
        case "sum added":
            lse = top + total
        case "through the exponential":
            lse = (total * top.exp()).log()
        case "negative":
            lse = -lse
        case "exponential":
            lse = lse.exp()
    return output, lse


def _reference(query: Tensor, key: Tensor, value: Tensor, size: int) -> tuple[Tensor, Tensor]:
    if size < 1:
        raise ValueError(f"size={size} must be at least 1")
    return _rows(query, key, value, size)


def _case(g: torch.Generator, n: int, m: int, d: int, d_v: int, size: int, part: str = "values", factor: float = 1.5, **more) -> Case:
    q, k, v = (factor * torch.randn(n, d, generator=g), torch.randn(m, d, generator=g), torch.randn(m, d_v, generator=g))
    return Case(f"{n} queries, {m} keys in blocks of {size}", {"query": q, "key": k, "value": v, "size": size}, part=part,
                shape="(n, d_v), (n,)", **more)


def _below(g: torch.Generator, n: int, m: int, d: int, d_v: int, size: int) -> Case:
    """Scores far below 0, in some rows farther than in others, and moderate differences within each row."""
    case = _case(g, n, m, d, d_v, size, "large")
    case.args["query"][:, 0], case.args["key"][:, 0] = 30 + 4 * torch.arange(n), -20.0
    return replace(case, label=case.label + ", scores far below 0")


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case(g, 5, 12, 3, 4, 4), _case(g, 7, 10, 6, 2, 4), _case(g, 4, 11, 5, 8, 3), _case(g, 9, 6, 2, 5, 2)]


def _fixed() -> list[Case]:
    g = generator(7)
    return [_case(g, 3, 5, 4, 2, 1, "edges"), _case(g, 3, 5, 4, 2, 9, "edges"), _case(g, 1, 1, 3, 2, 2, "edges"),
            _case(g, 4, 9, 5, 3, 4, "large", factor=120.0),
            _below(g, 5, 8, 4, 3, 3),
            *(_case(g, 3, 4, 2, 5, size, "refusal", rejects=ValueError, mentions=(str(size),)) for size in (0, -3))]


def _twin(name: str, how: str, hint: str) -> Twin:
    return Twin(name, partial(_rows, how=how), hint)


ROWS = Exercise(
    id="13a.2", title="Attention in blocks of keys", name="attention_in_blocks", kind="function", stars=3, minutes=20,
    signature="attention_in_blocks(query, key, value, size) -> output (n, d_v), log-sum-exp (n,)", oracle=_oracle, reference=_reference,
    draw=_draw, fixed=_fixed, parts={"values": 3, "edges": 1, "large": 1, "refusal": 1}, outputs=("output", "log-sum-exp"),
    forbidden=("torch.softmax", "torch.nn.functional.softmax", "torch.logsumexp", "torch.nn.functional.scaled_dot_product_attention"),
    twins=(
        _twin("old sums never rescaled", "never rescaled", "When a later block raises the maximum, what was added up before has to shrink. "
              "You leave it as it is."),
        _twin("values not rescaled", "values not rescaled", "The sum of exponentials shrinks with the maximum, but the sum weighted with "
              "the values does not."),
        _twin("sum not rescaled", "sum not rescaled", "The sum weighted with the values shrinks with the maximum, but the plain sum does "
              "not."),
        _twin("divided inside the loop", "divided inside", "You divide after every block. Divide once, when all blocks have been added."),
        _twin("never divided", "not divided", "Your output is the weighted sum. It still has to be divided by the sum of the "
              "exponentials."),
        _twin("mean of the blocks", "mean of blocks", "You take attention within each block and average. Blocks with larger scores must "
              "count more."),
        _twin("sum of the blocks", "sum of blocks", "You take attention within each block and add up. The weights of a row then sum to the "
              "number of blocks."),
        _twin("shorter block left out", "short block dropped", "You leave out the last block when it is shorter. Its keys count too."),
        _twin("first block only", "first block", "Only the keys of the first block reach your output."),
        _twin("last block only", "last block", "Only the keys of the last block reach your output: what was there before is overwritten."),
        _twin("no maximum subtracted", "no maximum", "Without subtracting a maximum the exponential overflows for large scores."),
        _twin("maximum for log-sum-exp", "maximum", "You return the largest score. The logarithm of the sum has to be added to it."),
        _twin("maximum forgotten in log-sum-exp", "log of the sum", "The sum was computed relative to the maximum, which has to be added "
              "to its logarithm."),
        _twin("sum without its logarithm", "sum added", "You add the sum itself to the maximum. Add its logarithm instead."),
        _twin("sum of exponentials", "exponential", "You return the sum of the exponentials, without the logarithm. It overflows."),
        _twin("logarithm taken too late", "through the exponential", "You take the exponential of the maximum first and the logarithm "
              "of the product afterwards. The exponential overflows or vanishes; its logarithm is simply the maximum."),
        _twin("sign of log-sum-exp", "negative", "Your log-sum-exp has the opposite sign: it grows where it should fall."),
        _twin("running maximum begins at 0", "from zero", "Your running maximum begins at 0. Where all scores are far below 0, their "
              "exponentials vanish and nothing is left to divide by."),
        _twin("maximum of the first block", "first maximum", "You subtract the maximum of the first block from all blocks. A later "
              "block may hold a much larger score, whose exponential overflows."),
        _twin("maximum of the latest block", "block's maximum", "You bring everything to the maximum of the latest block. It may be far "
              "below that of an earlier block, and then the old sums overflow."),
        _twin("one maximum for all rows", "one for the block", "You subtract one maximum from all rows of a block. In a row whose "
              "scores are far below it every exponential vanishes."),
        _twin("filled up with zeros", "padded", "You fill the last block up with zeros. Their scores are 0, so they get weight as if they "
              "were keys."),
        _twin("values of the first block", "first values", "You multiply the weights of each block by the values of the first block. Each "
              "key has its own value."),
        _twin("not scaled", "no scale", "Scores are divided by the root of the width of the queries; yours are not."),
        _twin("scaled by the width", "scaled by d", "You divide the scores by the width. Its root is asked for."),
        _twin("width of the values", "d_v", "You divide by the root of the width of the values. The dot product runs over the width of the "
              "queries."),
    ),
)
