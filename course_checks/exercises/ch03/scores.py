"""Exercises 03.1, 03.3 and 03.4: scores, their size, and the gradient through the softmax."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from course_utils.models import attention as reference

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn, sizes


def _einsum_scores(query: Tensor, key: Tensor) -> Tensor:
    return torch.einsum("...id,...jd->...ij", query, key) * query.shape[-1] ** -0.5


def _scores(query: Tensor, key: Tensor, how: str = "right") -> Tensor:
    width = query.shape[-1]
    match how:
        case "none":
            return query @ key.mT
        case "d_k":
            return query @ key.mT / width
        case "times":
            return query @ key.mT * math.sqrt(width)
        case "count":
            return query @ key.mT / math.sqrt(key.shape[-2])
        case "swapped":
            return key @ query.mT / math.sqrt(width)
        case "cosine":
            return F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).mT
        case "all axes":
            return query @ key.permute(*range(key.dim() - 1, -1, -1)) / math.sqrt(width)
        case "softmax":
            return torch.softmax(query @ key.mT / math.sqrt(width), -1)
        case "queries":
            return query @ key.mT / math.sqrt(query.shape[-2])
        case "rounded":
            return query @ key.mT / int(math.sqrt(width))
        case "reshaped":
            return query @ key.reshape(*key.shape[:-2], width, key.shape[-2]) / math.sqrt(width)
    return query @ key.mT / math.sqrt(width)


def _safe_scores(query: Tensor, key: Tensor) -> Tensor:
    reference.check_widths(query, key, key)
    return _scores(query, key)


def _draw_scores(seed: int) -> list[Case]:
    g = generator(seed)
    batch, n, m, d = sizes(g, 4, 2, 9)
    d = {4: 10}.get(d, d)  # a width whose root is whole would hide a rounded one
    flat = {"query": randn(g, n, d), "key": randn(g, m, d)}
    many = {"query": randn(g, batch, n, d), "key": randn(g, batch, m, d)}
    return [Case(f"{n} queries and {m} keys of width {d}", flat, gradients=("query", "key"), shape="(query, key)"),
            Case(f"a batch of {batch} such sequences", many, part="batches", gradients=("query", "key"), shape="(batch, query, key)")]


def _fixed_scores() -> list[Case]:
    g = generator(4)

    def bad(left: int, right: int) -> Case:
        return Case(f"queries of width {left}, keys of width {right}", {"query": torch.ones(3, left), "key": torch.ones(4, right)},
                    part="bad input", rejects=ValueError, mentions=(str(left), str(right)))

    return [Case("5 queries and 2 keys", {"query": randn(g, 5, 3), "key": randn(g, 2, 3)}, shape="(query, key)"),
            Case("one query, 6 keys of width 2", {"query": randn(g, 1, 2), "key": randn(g, 6, 2)}, shape="(query, key)"),
            Case("a batch of one", {"query": randn(g, 1, 4, 3), "key": randn(g, 1, 2, 3)}, part="batches", shape="(batch, query, key)"),
            Case("2 sequences with 3 heads", {"query": randn(g, 2, 3, 5, 7), "key": randn(g, 2, 3, 4, 7)}, part="batches",
                 shape="(batch, head, query, key)"),
            bad(5, 6), bad(7, 2), bad(1, 6), bad(6, 1)]


SCORES = Exercise(
    id="03.1", title="Scores", name="attention_scores", kind="function", stars=1, minutes=6,
    signature="attention_scores(query, key) -> (..., n, m)",
    oracle=_einsum_scores, reference=_safe_scores, draw=_draw_scores, parts={"values": 2, "batches": 1, "bad input": 1},
    fixed=_fixed_scores,
    twins=(
        Twin("not scaled", partial(_scores, how="none"),
             "The products are right, their size is not: without the division the scores grow with the width of the vectors."),
        Twin("scaled by d_k", partial(_scores, how="d_k"),
             "You divide by d_k. But d_k is the variance of the scores. Divide by their standard deviation."),
        Twin("multiplied instead of divided", partial(_scores, how="times"),
             "The scaling makes the scores larger; it is meant to shrink them."),
        Twin("scaled by the number of keys", partial(_scores, how="count"),
             "You divide by the root of the number of keys. It is the width of the vectors that matters."),
        Twin("scaled by the number of queries", partial(_scores, how="queries"),
             "You divide by the root of the number of queries. It is the width of the vectors that matters."),
        Twin("root rounded to a whole number", partial(_scores, how="rounded"),
             "The square root was cut to a whole number. Keep it as it is."),
        Twin("reshaped instead of transposed", partial(_scores, how="reshaped"),
             "A reshape pours the same numbers into other rows; the shape is right and the entries are not. Swap two axes instead."),
        Twin("query and key swapped", partial(_scores, how="swapped"),
             "Entry [i, j] must belong to query i and key j. Yours belongs to key i and query j: rows and columns have changed places."),
        Twin("cosine similarity", partial(_scores, how="cosine"),
             "You divide by the length of each vector. Attention divides all scores by one constant, so the lengths still count."),
        Twin("all axes reversed", partial(_scores, how="all axes"),
             "`.T` reverses every axis, the batch too. Swap the last two axes only."),
        Twin("softmax already applied", partial(_scores, how="softmax"), "These are weights. The scores are what goes into the softmax."),
    ),
)


_KEYS = ("variance of q·k", "std of q·k", "std of q·k / sqrt(d_k)", "std of q·k / d_k")


def _spread(d_k: int = 64) -> dict[str, float]:
    """Independent entries of mean 0 and variance 1: variances of the products add up."""
    return dict(zip(_KEYS, (float(d_k), math.sqrt(d_k), 1.0, 1 / math.sqrt(d_k)), strict=True))


def _guess(*numbers: float) -> dict[str, float]:
    return dict(zip(_KEYS, numbers, strict=True))


SPREAD = Exercise(
    id="03.3", title="Predict: how large is a dot product?", name="prediction_of_spread", kind="value", stars=1, minutes=6,
    signature="prediction_of_spread: dict of 4 numbers, for d_k = 64", oracle=_spread, reference=_spread(), rtol=0.05,
    draw=lambda seed: [Case("your four numbers for d_k = 64", {})], parts={"values": 2},
    twins=(
        Twin("variance and standard deviation mixed up", _guess(8, 64, 1, 1 / 8),
             "The variances of the 64 independent terms add up, and each is 1. The standard deviation is the root of that sum."),
        Twin("standard deviations added up", _guess(4096, 64, 8, 1),
             "64 terms of spread 1 do not give a spread of 64: positive and negative terms cancel. It is the variances that add up."),
        Twin("standard deviation equal to the variance", _guess(64, 64, 8, 1),
             "The standard deviation is the root of the variance. They agree only at 1."),
        Twin("a number squared, not a product", _guess(128, 128**0.5, 2**0.5, 2**0.5 / 8),
             "That is the variance of a sum of 64 squares. In q·k the two factors of a term are independent of each other."),
        Twin("the size does not grow", _guess(1, 1, 1 / 8, 1 / 64),
             "A sum of 64 independent terms is not as small as one of them. Write the dot product as a sum and add the variances."),
        Twin("d_k normalises the spread", _guess(64, 8, 8, 1),
             "Dividing by a number divides the standard deviation by that number, so 8 becomes 1 when you divide by 8."),
        Twin("dividing by d_k leaves the spread of one term", _guess(64, 8, 1, 1),
             "8 divided by 64 is well below 1: the scores would hardly differ from each other."),
        Twin("variance divided by the root", _guess(64, 8, 8, 1 / 8),
             "Dividing by the root of d_k divides the standard deviation by 8, and the variance by 64."),
        Twin("the sum taken for one of its terms", _guess(1, 1, 1, 1 / 8),
             "1 is the variance of a single product. A dot product adds up 64 products, and the variances of independent terms add up "
             "too."),
        Twin("variance 2 in every term", _guess(128, 8, 1, 1 / 8),
             "With 128, each of the 64 terms would have the variance 2. A term is the product of two independent factors with mean 0, so "
             "their variances are multiplied: 1 times 1."),
        Twin("spread of one term divided by d_k", _guess(64, 8, 1, 1 / 64),
             "You divide the spread of a single term, 1, by d_k. Divide the spread of the whole dot product instead: it is "
             "larger."),
        Twin("root taken twice", _guess(64, 8**0.5, 1, 1 / 8),
             "You took the root once too often: the standard deviation is the root of the variance, and not the root of that root."),
        Twin("mean taken for the spread", _guess(0, 0, 1, 1 / 8),
             "It is the mean that is 0, because positive and negative values cancel. The variance averages squares, which cannot cancel."),
    ),
)


def _jacobian_oracle(p: Tensor) -> Tensor:
    return torch.autograd.functional.jacobian(lambda s: torch.softmax(s, -1), p.log())


def _jacobian(p: Tensor, diagonal: float = 1.0, outer: float = -1.0, how: str = "") -> Tensor:
    if how == "everywhere":
        return (p * (1 - p)).expand(len(p), -1).clone()
    if how == "diagonal only":
        return torch.diag(p * (1 - p))
    if how == "own and other":
        return p[:, None] * (1 - p)[None, :]
    if how == "again":
        return _jacobian(torch.softmax(p, -1))
    if how == "plus beside the diagonal":
        return torch.diag(p * (1 - p)) + p[:, None] * p[None, :] * (1 - torch.eye(len(p)))
    if how == "number":
        return torch.diag(p) - p @ p
    if how == "vector":
        return p * (1 - p)
    if how == "identity":
        return torch.eye(len(p)) - p[:, None] * p[None, :]
    return diagonal * torch.diag(p) + outer * p[:, None] * p[None, :]


def _draw_jacobian(seed: int) -> list[Case]:
    g = generator(seed)
    (n,) = sizes(g, 1, 3, 8)
    return [Case(f"{n} random weights", {"p": torch.softmax(randn(g, n), -1)}, shape="(weight, score)")]


JACOBIAN = Exercise(
    id="03.4", title="How a softmax reacts", name="softmax_jacobian", kind="function", stars=2, minutes=10,
    signature="softmax_jacobian(p) -> (n, n)", oracle=_jacobian_oracle, reference=_jacobian, parts={"values": 3},
    draw=_draw_jacobian,
    fixed=lambda: [Case("two equal weights", {"p": torch.tensor([0.5, 0.5])}, shape="(weight, score)"),
                   Case("three weights, two of them equal", {"p": torch.tensor([0.25, 0.5, 0.25])}, shape="(weight, score)"),
                   Case("a single weight", {"p": torch.ones(1)}, shape="(weight, score)")],
    forbidden=("torch.autograd.functional.jacobian", "torch.func.jacrev", "torch.func.jacfwd"),
    twins=(
        Twin("diagonal only", partial(_jacobian, how="diagonal only"),
             "Raising one score lowers all other weights, because the weights have a fixed sum. The entries off the diagonal are not 0."),
        Twin("own term only", partial(_jacobian, outer=0.0),
             "That would be the derivative if the denominator did not depend on the scores. It does."),
        Twin("one number for each weight", partial(_jacobian, how="vector"),
             "You return how each weight reacts to its own score: n numbers. But every weight reacts to every score: n times n numbers."),
        Twin("one number for all products", partial(_jacobian, how="number"),
             "The product of two vectors is a single number here, the sum of the squares, and you subtract it from every entry. Each pair "
             "of weights needs its own product: a matrix of them."),
        Twin("other weights rise too", partial(_jacobian, how="plus beside the diagonal"),
             "Beside the diagonal the sign is wrong: raising one score takes weight away from all the others."),
        Twin("one formula for all pairs", partial(_jacobian, how="own and other"),
             "A weight's own score and the score of another need different formulas: only its own score is in the numerator too."),
        Twin("softmax applied again", partial(_jacobian, how="again"),
             "The input already contains weights. You apply another softmax, which makes them flatter."),
        Twin("sign flipped", partial(_jacobian, diagonal=-1.0, outer=1.0),
             "Raising a score raises its own weight: the diagonal must be positive."),
        Twin("product added", partial(_jacobian, outer=1.0),
             "The weights sum to 1 whatever the scores are, so every column of the Jacobian sums to 0. Yours does not."),
        Twin("every score taken for its own", partial(_jacobian, how="everywhere"),
             "You use the derivative with respect to the weight's own score everywhere. For the other scores it is negative."),
        Twin("identity instead of diag(p)", partial(_jacobian, how="identity"),
             "The quotient rule leaves the weight itself on the diagonal, not 1."),
        Twin("product only", partial(_jacobian, diagonal=0.0), "The diagonal misses the term that comes from the numerator."),
    ),
)
