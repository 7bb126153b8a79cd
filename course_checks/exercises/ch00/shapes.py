"""Exercise 00.2: shapes, predicted. The oracle reads them off tensors: two sentences, five tokens, eight features."""

import torch

from ..common import Case, Prediction


def oracle() -> dict[str, list[int]]:
    x, layer = torch.zeros(2, 5, 8), torch.nn.Linear(8, 3)
    results = {"x[0]": x[0], "x.mean(dim=1)": x.mean(dim=1), "layer(x)": layer(x), "x @ x.mT": x @ x.mT}
    return {name: list(result.shape) for name, result in results.items()}


EXERCISE = Prediction(oracle=oracle, draw=lambda seed: [Case("your four shapes", {})])
