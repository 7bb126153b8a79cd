"""Exercises 01.1 and 01.2: Gaussian weights and the average they make. Oracles are loops in double precision."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch
from torch import Tensor

from course_utils.models import kernels

from ...exercise import Case, Exercise, Twin, generator
from ..common import sizes

WEIGHTS_SHAPE = "(query, key)"


def _loop_weights(query: Tensor, keys: Tensor, bandwidth: float) -> Tensor:
    """Weights by two loops in double precision, each row shifted by its largest exponent."""
    rows = []
    for q in query.double().tolist():
        exponents = [-((q - k) ** 2) / (2 * bandwidth**2) for k in keys.double().tolist()]
        kernel = [math.exp(e - max(exponents)) for e in exponents]
        rows.append([value / sum(kernel) for value in kernel])
    return torch.tensor(rows, dtype=torch.float32)


def _weights(query: Tensor, keys: Tensor, bandwidth: float, half: float = 0.5, power: int = 2, width: int = 2,
             axis: int = -1, how: str = "right") -> Tensor:
    """One implementation whose switches make the usual mistakes."""
    distance = (query[:, None] - keys[None, :]).abs()
    score = -half * distance**power / bandwidth**width
    match how:
        case "raw":
            return score.exp()
        case "unsafe":
            return score.exp() / score.exp().sum(axis, keepdim=True)
        case "epsilon":
            return score.exp() / (score.exp().sum(axis, keepdim=True) + 1e-8)
        case "one sum":
            return score.exp() / score.exp().sum()
        case "twice":
            return torch.softmax(score.exp(), dim=axis)
    return torch.softmax(score, dim=axis)


def _draw_weights(seed: int) -> list[Case]:
    g = generator(seed)
    m, n = sizes(g, 2)
    query, keys = 3 * torch.rand(m, generator=g), 3 * torch.rand(n, generator=g)
    sigma = 0.4 + 0.4 * torch.rand((), generator=g).item()
    return [Case(f"{m} random queries, {n} random keys", {"query": query, "keys": keys, "bandwidth": sigma}, shape=WEIGHTS_SHAPE)]


def _fixed_weights() -> list[Case]:
    keys = torch.tensor([0.0, 1.0, 3.0])
    far = torch.tensor([0.8, 60.0])
    return [
        Case("a single key", {"query": torch.tensor([0.3, 2.0]), "keys": keys[:1], "bandwidth": 0.7}, shape=WEIGHTS_SHAPE),
        Case("5 queries, 2 keys, a wide kernel", {"query": torch.tensor([0.0, 0.9, 2.0, 2.5, 4.0]), "keys": torch.tensor([0.5, 2.2]),
             "bandwidth": 1.7}, shape=WEIGHTS_SHAPE),
        Case("one query near the keys, one 57 away from all of them", {"query": far, "keys": keys, "bandwidth": 0.5},
             part="far queries", shape=WEIGHTS_SHAPE),
        Case("bandwidth = 0", {"query": keys, "keys": keys, "bandwidth": 0.0}, part="bad input", rejects=ValueError,
             mentions=("0",)),
        Case("bandwidth = -0.5", {"query": keys, "keys": keys, "bandwidth": -0.5}, part="bad input", rejects=ValueError,
             mentions=("-0.5",)),
    ]


WEIGHTS = Exercise(
    id="01.1", title="Gaussian weights", name="gaussian_weights", kind="function", stars=1, minutes=8,
    signature="gaussian_weights(query, keys, bandwidth) -> (n, m)",
    oracle=_loop_weights, reference=kernels.gaussian_weights, draw=_draw_weights, fixed=_fixed_weights,
    parts={"values": 2, "far queries": 1, "bad input": 1}, forbidden=("course_utils.models.kernels.gaussian_weights",),
    twins=(
        Twin("not normalised", partial(_weights, how="raw"),
             "These are the kernel values themselves. Weights are their shares: each row must sum to 1."),
        Twin("normalised over the queries", partial(_weights, axis=0),
             "The columns sum to 1. A weight answers “how much of this prediction comes from that point?”, so the shares "
             "of one query, a row, must sum to 1."),
        Twin("bandwidth not squared", partial(_weights, width=1),
             "The exponent divides a squared distance by the bandwidth itself. Both must be squared, or the result "
             "depends on the unit in which x is measured."),
        Twin("divided by 2, then multiplied by bandwidth²", partial(_weights, width=-2),
             "Without brackets, Python divides by 2 and multiplies by the rest: a larger bandwidth makes your kernel narrower."),
        Twin("Laplace kernel", partial(_weights, half=1.0, power=1, width=1),
             "The exponential of the plain distance over the bandwidth has a spike at zero. The Gaussian squares both."),
        Twin("one sum for all rows", partial(_weights, how="one sum"),
             "You divide by the sum of the whole matrix. Each query has its own denominator: sum along its row and keep the axis."),
        Twin("softmax of the kernel values", partial(_weights, how="twice"),
             "The exponential is taken twice: a softmax wants the exponents, not the kernel values."),
        Twin("factor one half missing", partial(_weights, half=1.0),
             "The Gaussian has a 2 under the fraction. Without it the kernel is narrower than the bandwidth says."),
        Twin("distance not squared", partial(_weights, power=1),
             "An exponential of the plain distance is the Laplace kernel: it has a spike at zero. The Gaussian squares the distance."),
        Twin("sign of the exponent", partial(_weights, half=-0.5),
             "The weights grow with the distance: far points win. The exponent must be negative."),
        Twin("far queries give 0/0", partial(_weights, how="unsafe"),
             "Far from every key each kernel value rounds to zero, and zero divided by zero is NaN. Subtract the "
             "largest exponent of each row (not of the whole matrix) before you exponentiate: that changes nothing else, and "
             "a softmax does it for you."),
        Twin("far queries get no weight", partial(_weights, how="epsilon"),
             "The result is finite now, but far from every key the whole row is 0. Neither a small number added to the sum nor a NaN "
             "replaced afterwards makes such a row sum to 1: keep its kernel values away from zero in the first place."),
        Twin("the 2 is squared as well", partial(_weights, half=0.25),
             "Only the bandwidth is squared. The 2 in front of it stays outside the square."),
        Twin("bandwidth ignored", partial(_weights, width=0), "The result does not depend on the bandwidth you are given."),
    ),
)


def _numpy_prediction(query: Tensor, keys: Tensor, values: Tensor, bandwidth: float) -> Tensor:
    q, k, v = (t.double().numpy() for t in (query, keys, values))
    kernel = np.exp(-0.5 * ((q[:, None] - k[None, :]) / bandwidth) ** 2)
    return torch.from_numpy((kernel @ v) / kernel.sum(1)).float()


def _predict(query: Tensor, keys: Tensor, values: Tensor, bandwidth: float, how: str = "right") -> Tensor:
    weights = _weights(query, keys, bandwidth)
    raw = _weights(query, keys, bandwidth, how="raw")
    match how:
        case "no bandwidth":
            return _weights(query, keys, 1.0) @ values
        case "unsafe":
            return raw @ values / raw.sum(-1)
        case "epsilon":
            return raw @ values / (raw.sum(-1) + 1e-12)
        case "bandwidth not squared":
            return _weights(query, keys, bandwidth, width=1) @ values
        case "sorted":
            return _weights(query, keys.sort().values, bandwidth) @ values
        case "mean":
            return values.mean().expand(len(query)).clone()
        case "nearest":
            return values[weights.argmax(-1)]
        case "unnormalised":
            return raw @ values
        case "divided by n":
            return raw @ values / len(keys)
        case "columns":
            return _weights(query, keys, bandwidth, axis=0) @ values
        case "over values":
            return (raw @ values) / values.sum()
        case "keys averaged":
            return weights @ keys
        case "not summed":
            return weights * values
        case "summed over the queries":
            return (weights * values).sum(0)
        case "weights only":
            return weights
    return weights @ values


def _draw_prediction(seed: int) -> list[Case]:
    g = generator(seed)
    m, n = sizes(g, 2, 2, 9)
    query, keys = 3 * torch.rand(m, generator=g), 3 * torch.rand(n, generator=g)
    values = 2 + torch.randn(n, generator=g)
    sigma = 0.4 + 0.4 * torch.rand((), generator=g).item()
    args = {"query": query, "keys": keys, "values": values, "bandwidth": sigma}
    return [Case(f"{m} queries, {n} points", args, gradients=("values",), shape="(query,)")]


def _fixed_prediction() -> list[Case]:
    keys, values = torch.tensor([0.0, 1.0, 3.0]), torch.tensor([2.0, -1.0, 5.0])
    query = torch.tensor([0.3, 0.9, 1.4, 2.0, 3.0])

    def bad(label: str, keys: Tensor, values: Tensor, *mentions: str) -> Case:
        return Case(label, {"query": query, "keys": keys, "values": values, "bandwidth": 0.7}, part="bad input", rejects=ValueError,
                    mentions=mentions)

    return [
        Case("one query near the points, one 57 away from all of them", {"query": torch.tensor([0.8, 60.0]), "keys": keys,
             "values": values, "bandwidth": 0.5}, shape="(query,)"),
        Case("a single point", {"query": torch.tensor([0.3, 2.0]), "keys": keys[:1], "values": values[:1], "bandwidth": 0.7},
             shape="(query,)"),
        bad("3 keys but 2 values, asked at 5 places", keys, values[:2], "3", "2"),
        bad("3 keys but 7 values, asked at 5 places", keys, torch.arange(7.0), "3", "7"),
        bad("1 value for 3 keys, asked at 5 places", keys, values[:1], "3", "1"),
        bad("no points at all", keys[:0], values[:0]),
    ]


PREDICTION = Exercise(
    id="01.2", title="Attention pooling", name="nadaraya_watson", kind="function", stars=1, minutes=8,
    signature="nadaraya_watson(query, keys, values, bandwidth) -> (n,)",
    oracle=lambda query, keys, values, bandwidth: _loop_weights(query, keys, bandwidth) @ values,
    reference=kernels.nadaraya_watson, draw=_draw_prediction, fixed=_fixed_prediction,
    parts={"values": 2, "bad input": 1}, forbidden=("course_utils.models.kernels.nadaraya_watson",),
    twins=(
        Twin("far queries give 0/0", partial(_predict, how="unsafe"),
             "Far from every point each kernel value rounds to zero, and zero divided by zero is NaN. Weights as in 01.1 stay finite "
             "there."),
        Twin("far queries are predicted as 0", partial(_predict, how="epsilon"),
             "A small number added to the sum avoids the division by zero, but far from every point the sum is that number alone and "
             "the result is 0. A mean of the values must lie between the smallest and the largest value everywhere."),
        Twin("bandwidth ignored", partial(_predict, how="no bandwidth"), "The result does not depend on the bandwidth you are given."),
        Twin("bandwidth not squared", partial(_predict, how="bandwidth not squared"),
             "Your exponent divides a squared distance by the bandwidth itself. Both must be squared, or the result depends on the unit in "
             "which x is measured."),
        Twin("keys sorted, values not", partial(_predict, how="sorted"),
             "You put the keys into another order and leave the values where they were, so each key gets the value of "
             "another. The order of "
             "the points does not matter here: nothing has to be sorted."),
        Twin("plain mean", partial(_predict, how="mean"),
             "Every query gets the same number, the mean of all values. The weights must depend on the query."),
        Twin("nearest neighbour", partial(_predict, how="nearest"),
             "You take the one value whose weight is largest. Kernel regression blends all values, in proportion to their weights."),
        Twin("weights not normalised", partial(_predict, how="unnormalised"),
             "The kernel values are used as weights without dividing by their sum, so a query with many neighbours gets a large "
             "prediction only because of them."),
        Twin("divided by the number of points", partial(_predict, how="divided by n"),
             "The sum is divided by n. It must be divided by the sum of that query's kernel values, which differs from row to row."),
        Twin("columns sum to 1", partial(_predict, how="columns"),
             "The weights are normalised over the queries. Each prediction is an average, so the weights of one query must sum to 1."),
        Twin("divided by the sum of the values", partial(_predict, how="over values"),
             "The denominator is the sum of the kernel values only. The values themselves must not be divided out."),
        Twin("keys averaged instead of values", partial(_predict, how="keys averaged"),
             "You average the positions. The keys only decide the weights; the values are what is averaged."),
        Twin("summed over the queries", partial(_predict, how="summed over the queries"),
             "You get one number for each key. Sum over the keys, so that one number for each query is left."),
        Twin("weights returned", partial(_predict, how="weights only"),
             "You return the weights. The values still have to be mixed with them."),
        Twin("products not summed", partial(_predict, how="not summed"),
             "Each value is multiplied by its weight, but the products of one query still have to be added up."),
    ),
)
