"""A softmax in pieces: each piece leaves a small state, and states of pieces can be merged in any order.

The state of a piece of a row: the largest score m, the sum s of exp(score - m), the same sum o weighted with the values. A piece in
which nothing may be seen has m = -inf, s = 0, o = 0, and merging it changes nothing. Sources: the running sum, Milakov and Gimelshein
2018; with values, Rabe and Staats 2021.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class Part(NamedTuple):
    """What a piece of each row leaves: ``m`` and ``s`` ``(…, n)``, ``o`` ``(…, n, d_v)``; no ``n`` for a single row."""

    m: Tensor
    s: Tensor
    o: Tensor


def _shift(m: Tensor) -> Tensor:
    """What to subtract: m, and 0 where nothing has been seen, because -inf - (-inf) is not a number."""
    return m.masked_fill(m == -torch.inf, 0.0)


def part(scores: Tensor, values: Tensor) -> Part:
    """State of scores ``(…, n, m)``, -inf: not to be seen, and values ``(…, m, d_v)``, or of one row, ``(m,)``. ValueError without keys."""
    if not scores.shape[-1]:
        raise ValueError(f"a piece needs at least one key, got scores of shape {tuple(scores.shape)}")
    m = scores.amax(-1)
    p = (scores - _shift(m)[..., None]).exp_()
    return Part(m, p.sum(-1), p @ values)


def merge_states(a: Part, b: Part) -> Part:
    """State of two pieces together; the order does not matter."""
    m = torch.maximum(a.m, b.m)
    x, y = (a.m - _shift(m)).exp(), (b.m - _shift(m)).exp()  # 0 for a piece in which nothing was seen
    return Part(m, x * a.s + y * b.s, x[..., None] * a.o + y[..., None] * b.o)


def finish(a: Part) -> tuple[Tensor, Tensor]:
    """Output ``(…, n, d_v)`` and log-sum-exp ``(…, n)``; 0 and -inf for a row that has seen nothing."""
    return a.o / a.s.masked_fill(a.s == 0, 1.0)[..., None], a.m + a.s.log()
