"""Exercise 04.7: which starts keep two heads identical for ever. The oracle trains and looks."""

from __future__ import annotations

import math
from functools import cache

import torch
from torch import nn

from ...exercise import Case, Exercise, Twin, generator
from ..common import fused, randn

STARTS = {  # heads alike, blocks of W_O, dropout on the weights
    "heads equal, blocks of W_O equal": (True, "equal", 0.0),
    "heads equal, blocks of W_O random": (True, "random", 0.0),
    "heads equal, W_O all zero": (True, "zero", 0.0),
    "heads random, blocks of W_O equal": (False, "equal", 0.0),
    "all equal, dropout on the weights": (True, "equal", 0.2),
}


def _train(alike: bool, blocks: str, dropout: float, steps: int = 25) -> str:
    """Two heads trained for a few steps: are their projections still the same?"""
    g = generator(0)
    projections = [nn.Parameter(randn(g, 2, 6, 3) / math.sqrt(6)) for _ in range(3)]
    w_o = nn.Parameter(randn(g, 2, 3, 6) / math.sqrt(6))
    with torch.no_grad():
        if alike:
            for w in projections:
                w[1] = w[0]
        if blocks == "equal":
            w_o[1] = w_o[0]
        if blocks == "zero":
            w_o.zero_()
    x = randn(g, 16, 5, 6)
    for _ in range(steps):  # by hand: torch.optim would import PyTorch's compiler, three seconds in the middle of a check
        q, k, v = (x[:, None] @ w for w in projections)
        loss = ((fused(q, k, v, dropout_p=dropout) @ w_o).sum(1) - x.roll(1, 1)).pow(2).mean()
        loss.backward()
        with torch.no_grad():
            for w in (*projections, w_o):
                w -= 0.1 * w.grad
                w.grad = None
    gap = max((w[0] - w[1]).abs().max().item() for w in projections)
    return "identical for ever" if gap < 1e-6 else "different"


@cache
def _measured() -> tuple[tuple[str, str], ...]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return tuple((name, _train(*start)) for name, start in STARTS.items())


def _oracle() -> dict[str, str]:
    return dict(_measured())


_RIGHT = dict(zip(STARTS, ("identical for ever", "different", "identical for ever", "different", "different"), strict=True))
_EQUAL, _MIXED, _ZERO, _HEADS, _DROPOUT = STARTS

SYMMETRY = Exercise(
    id="04.7", title="Predict: twins for ever?", name="prediction_of_twins", kind="value", stars=2, minutes=6,
    signature="prediction_of_twins: dict of 5 words", oracle=_oracle, reference=_RIGHT, parts={"values": 2},
    choices=("identical for ever", "different"),
    draw=lambda seed: [Case("your five words", {})],
    twins=(
        Twin("equal heads always stay equal", {**_RIGHT, _MIXED: "identical for ever", _DROPOUT: "identical for ever"},
             "The gradient reaches a head through its own rows of the output projection. If those rows differ, so do the gradients. "
             "And does dropout remove the same weights in both heads?"),
        Twin("random W_O does not part them", {**_RIGHT, _MIXED: "identical for ever"},
             "The heads compute the same, but the gradient reaches each of them through its own rows of the output projection."),
        Twin("dropout overlooked", {**_RIGHT, _DROPOUT: "identical for ever"},
             "Dropout draws new random numbers for every head, so the two heads use different weights in the same step."),
        Twin("zero thought to part them", {**_RIGHT, _ZERO: "different"},
             "Rows of zeros are equal too. If the heads are equal, these rows also get equal gradients, and the symmetry stays."),
        Twin("different heads become equal", {**_RIGHT, _HEADS: "identical for ever"},
             "Symmetry is kept, not created: heads that start differently compute different things and get different gradients."),
        Twin("training always separates", dict.fromkeys(STARTS, "different"),
             "Write the gradient of both heads in the first case. Every factor in it is the same, so nothing makes them different."),
        Twin("equal twins drift apart", {**_RIGHT, _EQUAL: "different"},
             "Write the gradient of both heads: every factor in it is the same, so both take the same step, again and again."),
        Twin("only equal blocks count", {**_RIGHT, _HEADS: "identical for ever", _ZERO: "identical for ever",
                                         _DROPOUT: "identical for ever"},
             "Equal rows of the output projection are not enough: the heads themselves must be equal, and be treated equally in every "
             "step."),
    ),
)
