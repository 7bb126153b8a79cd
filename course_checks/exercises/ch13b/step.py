"""Exercise 13b.2: one step of causal linear attention. The oracle sums with Python's numbers."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn, sizes

State = tuple[Tensor, Tensor, Tensor]


def _oracle(written: Tensor, counted: Tensor, query: Tensor, key: Tensor, value: Tensor) -> State:
    s, z, q, k, v = (x.double().tolist() for x in (written, counted, query, key, value))
    q, k = ([x + 1 if x > 0 else math.exp(x) for x in raw] for raw in (q, k))
    s = [[old + a * b for old, b in zip(row, v, strict=True)] for row, a in zip(s, k, strict=True)]
    z = [old + a for old, a in zip(z, k, strict=True)]
    below = math.fsum(a * b for a, b in zip(q, z, strict=True))
    output = [math.fsum(a * row[j] for a, row in zip(q, s, strict=True)) / below for j in range(len(v))]
    return torch.tensor(output), torch.tensor(s), torch.tensor(z)


def _step(written: Tensor, counted: Tensor, query: Tensor, key: Tensor, value: Tensor, how: str = "right") -> State:
    def feature(x: Tensor) -> Tensor:
        match how:
            case "raw":
                return x
            case "relu":
                return x.relu()
            case "elu alone":
                return F.elu(x)
            case "relu and 1":
                return x.relu() + 1
            case "softmax":
                return x.softmax(-1)
            case "exponential":
                return x.exp()
            case "one inside":
                return F.elu(x + 1)
        return F.elu(x) + 1

    q = query if how == "raw query" else feature(query)
    k = key if how == "raw key" else feature(key)
    v = feature(value) if how == "feature of the value" else value
    new = torch.outer(v, k) if how == "transposed" else k * v if how == "no outer product" else torch.outer(k, v)
    match how:
        case "overwritten":
            after, count = new, counted + k
        case "count overwritten":
            after, count = written + new, k
        case "both overwritten":
            after, count = new, k
        case "decay":
            after, count = 0.9 * written + new, 0.9 * counted + k
        case "delta":
            after, count = written + torch.outer(k, v - k @ written), counted + k
        case "mean":
            after, count = (written + new) / 2, (counted + k) / 2
        case "one for each":
            after, count = written + new, counted + 1
        case "query counted":
            after, count = written + new, counted + q
        case "key not counted":
            after, count = written + new, counted
        case "value plain":
            after, count = written + v, counted + k
        case _:
            after, count = written + new, counted + k
    asking = k if how == "key asks" else q
    seen, below = written if how in ("early", "early above") else after, counted if how in ("early", "early below") else count
    output = ((seen @ asking) if how == "wrong axis" else (asking @ seen)) / (asking @ below)
    match how:
        case "not divided":
            output = asking @ seen
        case "root":
            output = output / math.sqrt(len(query))
        case "sum of the query":
            output = (asking @ seen) / asking.sum()
        case "sum of the count":
            output = (asking @ seen) / below.sum()
        case "rows divided":
            output = asking @ (seen / below[:, None])
        case "softmax of the query":
            output = asking.softmax(-1) @ seen
        case "old state returned":
            return output, written, counted
    return output, after, count


def _case(g: torch.Generator, tokens: int, d: int, d_v: int, part: str = "values", factor: float = 1.0) -> Case:
    k, v = F.elu(randn(g, tokens, d)) + 1, randn(g, tokens, d_v)
    return Case(f"d = {d}, d_v = {d_v}, {tokens} tokens before", {
        "written": k.mT @ v, "counted": k.sum(0), "query": factor * randn(g, d), "key": factor * randn(g, d), "value": randn(g, d_v)},
        part=part, shape="(d_v,), (d, d_v), (d,)")


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case(g, *sizes(g, 3, 3, 9)) for _ in range(3)]


def _fixed() -> list[Case]:
    g = generator(32)
    large = _case(g, 5, 4, 3, "edges", factor=30.0)
    for name in ("query", "key"):
        large.args[name][0] = 20.0  # one feature at least is far from 0
    return [_case(g, 0, 5, 3, "first token"), _case(g, 0, 3, 6, "first token"), _case(g, 4, 5, 5, "edges"), _case(g, 3, 1, 4, "edges"),
            _case(g, 3, 6, 1, "edges"), large]


def _twin(name: str, how: str, hint: str) -> Twin:
    return Twin(name, partial(_step, how=how), hint)


STEP = Exercise(
    id="13b.2", title="One token of linear attention", name="linear_step", kind="function", stars=2, minutes=12,
    signature="linear_step(written, counted, query, key, value) -> output (d_v,), written (d, d_v), counted (d,)", oracle=_oracle,
    reference=_step, draw=_draw, fixed=_fixed, parts={"values": 3, "first token": 1, "edges": 1},
    outputs=("output", "written", "counted"), forbidden=("course_utils.models.linear_attention.step",),
    twins=(
        _twin("reads before it writes", "early", "You read from the old state, so the token does not see itself. Write first, then "
              "read."),
        _twin("own value not read", "early above", "You count the new token, but read from the old matrix. Both need the new token."),
        _twin("own weight not counted", "early below", "You read the new token, but divide by the old count. Both need the new token."),
        _twin("not divided", "not divided", "Your output is the weighted sum. It still has to be divided by the sum of the weights."),
        _twin("each token counts one", "one for each", "You count each token as one. It has to be counted with the feature of its key."),
        _twin("query counted", "query counted", "You add the feature of the query to the count. Add the feature of the key."),
        _twin("new key not counted", "key not counted", "The count has to grow with every token, by the feature of its key."),
        _twin("no features", "raw", "You use query and key as they are. Their dot products can be negative; features are positive."),
        _twin("query without its feature", "raw query", "The key gets its feature, and the query does not. Both need it."),
        _twin("key without its feature", "raw key", "The query gets its feature, and the key does not. Both need it."),
        _twin("feature of the value", "feature of the value", "You take the feature of the value too. Values are written as they are."),
        _twin("relu as feature", "relu", "You cut negative numbers off at 0. The feature asked for stays positive and goes slowly to 0."),
        _twin("relu plus one", "relu and 1", "Your feature is 1 for every negative number. The one asked for falls from 1 towards 0."),
        _twin("one not added", "elu alone", "Your features reach down to -1. Add 1, so that they are positive."),
        _twin("softmax as feature", "softmax", "You take a softmax over the numbers of a query or key. The feature is taken of each number "
              "alone."),
        _twin("exponential as feature", "exponential", "You take the exponential. Above 0 the feature asked for grows along a straight "
              "line."),
        _twin("outer product transposed", "transposed", "Your outer product has values as rows. The matrix has one row for each number of "
              "the key."),
        _twin("value written everywhere", "value plain", "You add the same value to every row. The feature of the key says how much of it "
              "goes to each row."),
        _twin("matrix overwritten", "overwritten", "Your matrix holds the new token alone. What was written before has to stay in it."),
        _twin("count overwritten", "count overwritten", "Your count holds the new token alone. What was counted before has to stay in "
              "it."),
        _twin("all of the past overwritten", "both overwritten", "Your state holds the new token alone. The past has to stay in it."),
        _twin("past fades", "decay", "You let the past fade a little with every token. Here everything that was written stays as it is."),
        _twin("old value erased", "delta", "You write what the matrix does not know yet, as the delta rule does. Here the value itself is "
              "added."),
        _twin("state halved", "mean", "You take the mean of the old state and the new token. They are added up."),
        _twin("divided by a root", "root", "You divide by the root of the width. The division by the count is all that is needed."),
        _twin("divided by the query's sum", "sum of the query", "You divide by the sum of the query's feature. What counts is the query's "
              "feature times the count."),
        _twin("divided by the whole count", "sum of the count", "You divide by the sum of the count. It has to be read with the query, "
              "just like the matrix."),
        _twin("each row divided by itself", "rows divided", "You divide each row of the matrix by its own count before you read. The query "
              "reads both first, and then one number divides the other."),
        _twin("softmax for the denominator", "softmax of the query", "You make the query's features sum to one. What has to sum to one are "
              "the weights of the tokens."),
        _twin("one added inside", "one inside", "You add 1 before you take elu, so features can be negative. Add 1 after elu."),
        _twin("no outer product", "no outer product", "You multiply key and value number by number. Each number of the key has to meet "
              "each number of the value."),
        _twin("read from the wrong side", "wrong axis",
             "The query's features belong to the rows of the matrix, so multiply with the query on the left."),
        _twin("key asks", "key asks", "You read with the feature of the key. The key is for writing, and the query is for reading."),
        _twin("old state returned", "old state returned", "The output is right, but you return the old state. The next token needs "
              "the new one."),
    ),
)
