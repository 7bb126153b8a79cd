"""Exercises 01.3 to 01.5: what the bandwidth does, the soft dictionary, leave-one-out."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from torch import Tensor

from course_utils.models import kernels

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn, sizes
from .weights import _loop_weights, _numpy_prediction

LIMITS_BLANK = {"bandwidth -> 0": None, "bandwidth -> infinity": None, "sum of a row": None, "sum of a column": None}


def _limits() -> dict[str, str]:
    """Measured, not remembered: three clearly separated points with values of different size."""
    keys, values = torch.tensor([0.0, 1.0, 2.5]), torch.tensor([1.0, 5.0, 3.0])
    query = torch.tensor([0.2, 1.9, 2.2])

    def name(bandwidth: float) -> str:
        got = _numpy_prediction(query, keys, values, bandwidth)
        near = values[(query[:, None] - keys).abs().argmin(-1)]
        table = {"nearest": near, "mean": values.mean().expand(3), "zero": torch.zeros(3)}
        return next(word for word, want in table.items() if torch.allclose(got, want, atol=1e-3))

    weights = _loop_weights(query, keys, 0.8)
    sums = {axis: "one" if torch.allclose(weights.sum(axis), torch.ones(3), atol=1e-5) else "not one" for axis in (0, 1)}
    return {"bandwidth -> 0": name(0.05), "bandwidth -> infinity": name(1e3), "sum of a row": sums[1], "sum of a column": sums[0]}


def _limits_with(**changes: str) -> dict[str, str]:
    keys = {"small": "bandwidth -> 0", "large": "bandwidth -> infinity", "row": "sum of a row", "column": "sum of a column"}
    return {**_limits(), **{keys[name]: word for name, word in changes.items()}}


LIMITS = Exercise(
    id="01.3", title="Predict: what the bandwidth does", name="prediction_of_limits", kind="value", stars=1, minutes=5,
    signature="prediction_of_limits: dict of 4 words", choices=("nearest", "mean", "zero", "one", "not one"),
    oracle=_limits, reference=_limits(), draw=lambda seed: [Case("your four words", {})],
    parts={"values": 2},
    twins=(
        Twin("the two limits swapped", _limits_with(small="mean", large="nearest"),
             "A narrow kernel uses only the nearest key; a wide one treats near and far keys alike."),
        Twin("a wide kernel gives zero", _limits_with(large="zero"),
             "All kernel values become equal, not small: dividing by their sum makes each weight 1/n."),
        Twin("a narrow kernel gives zero", _limits_with(small="zero"),
             "All kernel values become tiny, but they are divided by their sum, which is tiny too: the nearest key gets all the weight."),
        Twin("columns sum to one", _limits_with(row="not one", column="one"),
             "The denominator runs over the keys of one query. That fixes the sum of a row; nothing fixes the sum of a column."),
        Twin("rows and columns both sum to one", _limits_with(column="one"),
             "Only the rows are normalised. A key with many queries near it collects more than 1 in total."),
        Twin("a narrow kernel gives the mean", _limits_with(small="mean"),
             "A small bandwidth makes the differences between the distances larger, not smaller: the nearest key ends up with all the "
             "weight."),
        Twin("a wide kernel hears only the nearest", _limits_with(large="nearest"),
             "When the bandwidth is huge, every distance is small compared to it: all kernel values are equal, and each key gets the same "
             "share."),
        Twin("rows sum to anything", _limits_with(row="not one"),
             "The kernel values of a query are divided by their own sum. That fixes the sum of its row, whatever the bandwidth."),
    ),
)


def _dictionary_loop(query: Tensor, keys: Tensor, values: Tensor, temperature: float) -> Tensor:
    scores = query.double().numpy() @ keys.double().numpy().T / temperature
    kernel = np.exp(scores - scores.max(1, keepdims=True))
    return torch.from_numpy(kernel / kernel.sum(1, keepdims=True) @ values.double().numpy()).float()


def _dictionary(query: Tensor, keys: Tensor, values: Tensor, temperature: float, how: str = "right") -> Tensor:
    scores = query @ keys.T
    match how:
        case "times":
            return torch.softmax(scores * temperature, -1) @ values
        case "after":
            return torch.softmax(scores, -1) / temperature @ values
        case "as a bandwidth":
            return torch.softmax(scores / (2 * temperature**2), -1) @ values
        case "whole factor":
            return torch.softmax(scores * (1 // temperature), -1) @ values
        case "whole scores":
            return torch.softmax(scores // temperature, -1) @ values
        case "minus":
            return torch.softmax(-scores * temperature, -1) @ values
        case "one minus":
            return torch.softmax(scores * (1 - temperature), -1) @ values
        case "not below 1":
            return torch.softmax(scores / max(temperature, 1.0), -1) @ values
        case "hard below 1":
            return values[scores.argmax(-1)] if temperature < 1 else torch.softmax(scores / temperature, -1) @ values
        case "axis":
            return torch.softmax(scores / temperature, 0) @ values
        case "ignored":
            return torch.softmax(scores, -1) @ values
        case "hard":
            return values[scores.argmax(-1)]
        case "root T":
            return torch.softmax(scores / temperature**0.5, -1) @ values
        case "squared":
            return torch.softmax(scores / temperature**2, -1) @ values
        case "overflow":
            strength = torch.exp(scores / temperature)
            return strength / strength.sum(-1, keepdim=True) @ values
        case "root":
            return torch.softmax(scores / temperature / query.shape[-1] ** 0.5, -1) @ values
        case "shares":
            return torch.softmax(scores / temperature, -1)
    return torch.softmax(scores / temperature, -1) @ values


def _draw_dictionary(seed: int) -> list[Case]:
    g = generator(seed)
    m, n, d, d_v = sizes(g, 4)
    gap = 0.0  # between the best two keys of a query: frozen, only one of them may be left, whatever else is wrong with the answer
    while not 0.2 < gap < 0.4:
        query, keys = randn(g, m, d), randn(g, n, d)
        gap = (query @ keys.T).topk(2).values.diff().abs().min().item()
    args = {"query": query, "keys": keys, "values": randn(g, n, d_v),
            "temperature": 1.6 + torch.rand((), generator=g).item()}
    cold = {**args, "temperature": 0.35}
    frozen = {**args, "temperature": 0.004}
    return [Case(f"{m} queries, {n} entries, a warm dictionary", args, shape="(query, d_v)"),
            Case("the same at temperature 0.35", cold, shape="(query, d_v)"),
            Case("the same at temperature 0.004", frozen, part="cold", shape="(query, d_v)")]


DICTIONARY = Exercise(
    id="01.4", title="Find the bug: the soft dictionary", name="soft_lookup", kind="function", stars=2, minutes=8,
    signature="soft_lookup(query, keys, values, temperature) -> (n, d_v)",
    oracle=_dictionary_loop, reference=_dictionary, draw=_draw_dictionary, parts={"values": 2, "cold": 1},
    twins=(
        Twin("still the handed-out bug", partial(_dictionary, how="times"),
             "Compare a very cold lookup with a very warm one: which of the two should be the hard one?", untouched=True),
        Twin("temperature outside the softmax", partial(_dictionary, how="after"),
             "You divide the shares, the values or the result. Outside the softmax the temperature only makes the numbers smaller or "
             "larger. To change the shares themselves, it has to act on the scores."),
        Twin("temperature used like a bandwidth", partial(_dictionary, how="as a bandwidth"),
             "You divide by twice the square, as the Gaussian kernel does with its bandwidth. Scores are divided by the temperature "
             "itself."),
        Twin("reciprocal cut to a whole number", partial(_dictionary, how="whole factor"),
             "Your factor is cut to a whole number: above temperature 1 it is 0, and all keys get the same share. Keep the decimals."),
        Twin("scores cut to whole numbers", partial(_dictionary, how="whole scores"),
             "Every quotient is rounded down to a whole number, so scores that differ become equal. Keep the decimals."),
        Twin("a minus instead of a quotient", partial(_dictionary, how="minus"),
             "With the minus sign the best key gets the smallest share, at every temperature. Leave the sign of the scores as it is, "
             "and let the temperature divide them."),
        Twin("one minus the temperature as a factor", partial(_dictionary, how="one minus"),
             "Above temperature 1 your factor is negative, so the best key gets the smallest share. The factor is also never above "
             "1, so a cold lookup never becomes hard. The temperature divides the scores."),
        Twin("no temperature below 1", partial(_dictionary, how="not below 1"),
             "Every temperature below 1 gives you the result of temperature 1. But a lookup becomes hard only below 1, so the "
             "temperature must not be cut off there."),
        Twin("hard lookup below temperature 1", partial(_dictionary, how="hard below 1"),
             "You pick the best key as soon as the temperature is below 1. A cold lookup gets hard little by little: at 0.35 it still "
             "blends. The formula needs no special case for this."),
        Twin("softmax over the queries", partial(_dictionary, how="axis"),
             "Your softmax runs over the queries. Each query must divide its attention among the keys, so use the last axis."),
        Twin("temperature ignored", partial(_dictionary, how="ignored"), "The result does not depend on the temperature at all."),
        Twin("always the hard lookup", partial(_dictionary, how="hard"),
             "That is the limit of temperature zero. A soft dictionary blends, and only a cold one comes close to picking."),
        Twin("overflow at low temperature", partial(_dictionary, how="overflow"),
             "Scores divided by a small temperature are large, and their exponentials are too large for float32. Take the "
             "softmax in one step: it subtracts the largest score first."),
        Twin("also divided by the root of d", partial(_dictionary, how="root"),
             "That is the scaling of a later chapter. Here the temperature alone decides how sharp the lookup is."),
        Twin("shares returned", partial(_dictionary, how="shares"), "You return the shares. The values still have to be mixed with them."),
        Twin("root of the temperature", partial(_dictionary, how="root T"),
             "You take the root of the temperature first. The scores are divided by the temperature itself."),
        Twin("temperature squared", partial(_dictionary, how="squared"),
             "The bandwidth of a Gaussian is squared; the temperature of a softmax is not. It is bandwidth² that acts like a temperature."),
    ),
)


def _loo_loop(keys: Tensor, values: Tensor, bandwidth: float) -> Tensor:
    """Mean squared leave-one-out error: really leave each point out and predict it from the others."""
    total = 0.0
    for i in range(len(keys)):
        rest = [j for j in range(len(keys)) if j != i]
        total += (_loop_weights(keys[i : i + 1], keys[rest], bandwidth)[0] @ values[rest] - values[i]).item() ** 2
    return torch.tensor(total / len(keys))


def _loo(keys: Tensor, values: Tensor, bandwidth: float, how: str = "right") -> Tensor:
    score = -(1.0 if how == "no half" else 0.5) * (keys[:, None] - keys[None, :]) ** 2 / bandwidth**2
    diagonal = torch.eye(len(keys), dtype=torch.bool)
    if how == "duplicates":
        diagonal = score == 0
    if how == "inverted":
        diagonal = ~diagonal
    if how == "neighbours":
        diagonal = torch.ones_like(diagonal).tril(1).triu(-1)
    if how not in ("kept", "zero after", "kernel zeroed", "lonely at 0"):
        score = score.masked_fill(diagonal, {"finite": -10.0, "large finite": -1e9}.get(how, -torch.inf))
    weights = torch.softmax(score, 0 if how == "columns" else -1)
    if how == "zero after":
        weights = weights.masked_fill(diagonal, 0.0)
    if how in ("kernel zeroed", "lonely at 0"):
        kernel = score.exp().masked_fill(diagonal, 0.0)
        weights = kernel / kernel.sum(-1, keepdim=True)
    if how == "lonely at 0":
        weights = weights.nan_to_num(0.0)
    errors = weights @ values - (keys if how == "keys predicted" else values)
    match how:
        case "absolute":
            return errors.abs().mean()
        case "root":
            return errors.pow(2).mean().sqrt()
        case "sum":
            return errors.pow(2).sum()
        case "not averaged":
            return errors.pow(2)
        case "n - 1":
            return errors.pow(2).sum() / (len(keys) - 1)
    return errors.pow(2).mean()


def _draw_loo(seed: int) -> list[Case]:
    g = generator(seed)
    (n,) = sizes(g, 1, 6, 12)
    keys = 4 * (torch.randperm(n, generator=g) + 0.4 * torch.rand(n, generator=g)) / n  # no gaps: those are the cases of "far apart"
    values = torch.sin(keys) + 0.3 * torch.randn(n, generator=g)
    return [Case(f"{n} random points", {"keys": keys, "values": values, "bandwidth": 0.5 + 0.3 * torch.rand((), generator=g).item()})]


LOO = Exercise(
    id="01.5", title="Leave-one-out error", name="loo_error", kind="function", stars=2, minutes=12,
    signature="loo_error(keys, values, bandwidth) -> ()",
    oracle=_loo_loop, draw=_draw_loo, parts={"values": 3, "far apart": 1, "bad input": 1}, rtol=1e-3,
    reference=lambda keys, values, bandwidth: (kernels.leave_one_out(keys, values, bandwidth) - values).pow(2).mean(),
    fixed=lambda: [
        Case("two points", {"keys": torch.tensor([0.0, 1.0]), "values": torch.tensor([3.0, 5.0]), "bandwidth": 0.8}),
        Case("points far apart for the bandwidth", {"keys": torch.tensor([0.0, 1.0, 2.2, 3.6]),
             "values": torch.tensor([0.0, 5.0, 1.0, 4.0]),
             "bandwidth": 0.05}, part="far apart"),
        Case("a bandwidth of a millionth", {"keys": torch.tensor([0.0, 1.0, 2.2, 3.6]), "values": torch.tensor([0.0, 5.0, 1.0, 4.0]),
             "bandwidth": 1e-6}, part="far apart"),
        Case("two points at the same place", {"keys": torch.tensor([0.0, 1.0, 1.0, 2.2]), "values": torch.tensor([0.0, 5.0, 1.0, 4.0]),
             "bandwidth": 0.6}, part="far apart"),
        Case("one point: nothing is left to predict it from", {"keys": torch.tensor([1.0]), "values": torch.tensor([3.0]),
             "bandwidth": 0.8}, part="bad input", rejects=ValueError, mentions=("1",)),
        Case("no point at all", {"keys": torch.zeros(0), "values": torch.zeros(0), "bandwidth": 0.8}, part="bad input",
             rejects=ValueError, mentions=("0",)),
    ],
    twins=(
        Twin("the point predicts itself", partial(_loo, how="kept"),
             "Nothing is left out: a point at distance zero gives itself the largest weight, so the smallest bandwidth always "
             "wins. (A score of "
             "0 does not remove it either: the exponential of 0 is 1.)"),
        Twin("left out after normalising", partial(_loo, how="zero after"),
             "You remove the point's own weight at the end, so the rest of its row no longer sums to 1 and predictions shrink towards "
             "zero. Remove it before the shares are computed."),
        Twin("excluded with a finite score", partial(_loo, how="finite"),
             "A score of, say, -10 is small only while the others are larger. When all neighbours are far away, the "
             "point gets weight from itself again. Only minus infinity is below everything."),
        Twin("excluded with a large negative score", partial(_loo, how="large finite"),
             "However large the negative number, a narrow kernel makes scores that are below it. Then the point gets weight from "
             "itself again. Only minus infinity is below everything."),
        Twin("factor one half missing", partial(_loo, how="no half"),
             "The Gaussian has a 2 under the fraction. Without it the kernel is narrower than the bandwidth says."),
        Twin("every point at distance 0 excluded", partial(_loo, how="duplicates"),
             "Two measurements at the same place are two points. Leave out the point itself, by its number, and not every "
             "point at its place."),
        Twin("far points give 0/0", partial(_loo, how="kernel zeroed"),
             "When all neighbours are far away their kernel values round to zero, and you divide zero by zero. "
             "Exclude the point in the scores and let a softmax do the rest."),
        Twin("lonely points predicted as 0", partial(_loo, how="lonely at 0"),
             "A point that is far from all others is predicted as 0: the rest of its row had rounded to 0. "
             "Filling or avoiding the NaN only hides that. Exclude the point in the scores; then the softmax "
             "finds the nearest of the others."),
        Twin("compared with the keys", partial(_loo, how="keys predicted"),
             "You compare the predictions with the places of the points. Compare them with what was measured there, the values."),
        Twin("neighbours left out too", partial(_loo, how="neighbours"),
             "You also leave out the points that come just before and after in the list. Leave out only the point itself: the "
             "diagonal and nothing beside it."),
        Twin("only the point itself kept", partial(_loo, how="inverted"),
             "Your mask is the wrong way round: it removes all the others and keeps the point, so the error is 0."),
        Twin("normalised over the queries", partial(_loo, how="columns"),
             "Your columns sum to 1. Every prediction is an average, so each row must sum to 1."),
        Twin("divided by n - 1", partial(_loo, how="n - 1"),
             "There are n errors, one for each point, so their mean divides by n. Only each prediction uses n - 1 points."),
        Twin("root of the mean square", partial(_loo, how="root"),
             "That is the root mean squared error. The docstring asks for the mean of the squares, without the root."),
        Twin("absolute errors", partial(_loo, how="absolute"),
             "You average absolute errors; the docstring asks for squares."),
        Twin("sum instead of mean", partial(_loo, how="sum"),
             "The squares are added up but not divided by the number of points, so data sets of different size cannot be compared."),
        Twin("one error per point", partial(_loo, how="not averaged"),
             "You return the squared error of every point. Return one number, the mean of them."),
    ),
)
