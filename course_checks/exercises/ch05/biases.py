"""Exercise 05.6: predict what a bias can say. The oracle measures how the logarithms of the weights change."""

import torch
from torch import Tensor

from ..common import Case, Prediction, generator


def word(bias: Tensor, mask: Tensor, scores: Tensor) -> str:
    before, after = (torch.log_softmax(s.masked_fill(~mask, -torch.inf), -1) for s in (scores, scores + bias))
    change = after - before
    change = change - change[:, :1]  # key 0 is permitted in every row; a constant a row means nothing
    columns = [change[mask[:, key], key] for key in range(len(mask))]
    if all(c.abs().max() < 1e-9 for c in columns):
        return "nothing"
    return "keys" if all(c.max() - c.min() < 1e-9 for c in columns) else "neither"


def oracle() -> dict[str, str]:
    g, n = generator(4), 6
    scores = torch.randn(n, n, generator=g, dtype=torch.float64)
    j = torch.arange(n, dtype=torch.float64).expand(n, n)
    i, near = j.T, -(j.T - j).abs()
    by_offset = torch.randn(2 * n - 1, generator=g, dtype=torch.float64)[(j - i).long() + n - 1]
    everyone, past = torch.ones(n, n).bool(), torch.ones(n, n).tril().bool()
    return {
        "A": word(i, everyone, scores),
        "B": word(j, everyone, scores),
        "C": word(j - i, everyone, scores),
        "D": word(near, everyone, scores),
        "E": word(near, past, scores),
        "F": word(by_offset, past, scores),
    }


EXERCISE = Prediction(oracle=oracle, draw=lambda seed: [Case("your six words", {})], choices=("nothing", "keys", "neither"))
