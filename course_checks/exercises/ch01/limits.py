"""Exercise 01.3: what the bandwidth does, predicted. The oracle measures it on three points with different values."""

import torch

from ..common import Case, Prediction
from .gaussian_weights import oracle as loop_weights


def oracle() -> dict[str, str]:
    keys, values = torch.tensor([0.0, 1.0, 2.5]), torch.tensor([1.0, 5.0, 3.0])
    query = torch.tensor([0.2, 1.9, 2.2])

    def word(bandwidth: float) -> str:
        got = loop_weights(query, keys, bandwidth) @ values
        near = values[(query[:, None] - keys).abs().argmin(-1)]
        table = {"nearest": near, "mean": values.mean().expand(3), "zero": torch.zeros(3)}
        return next(name for name, want in table.items() if torch.allclose(got, want, atol=1e-3))

    weights = loop_weights(query, keys, 0.8)
    column, row = ("one" if torch.allclose(weights.sum(axis), torch.ones(3), atol=1e-5) else "not one" for axis in (0, 1))
    return {"bandwidth -> 0": word(0.05), "bandwidth -> infinity": word(1e3), "sum of a row": row, "sum of a column": column}


EXERCISE = Prediction(oracle=oracle, draw=lambda seed: [Case("your four words", {})], choices=("nearest", "mean", "zero", "one", "not one"))
