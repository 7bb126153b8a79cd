"""Exercise 07a.2: predict what LayerNorm keeps of a token, and what it lets through of a gradient. The oracle measures it."""

import torch
from torch import Tensor

from ..common import Case, Prediction, fused_layer_norm, generator, randn


def oracle() -> dict[str, float]:
    g = generator(4)
    x, weight = randn(g, 64).double() + 2, randn(g, 64).double()

    def norm(t: Tensor) -> Tensor:
        return fused_layer_norm(t, (64,), eps=0.0)

    slopes, steeper = (torch.autograd.functional.jacobian(norm, t) for t in (x, 3 * x))
    gradient = weight @ slopes
    numbers = {
        "length of the output": norm(x).norm(),
        "length of the output, input times 3": norm(3 * x).norm(),
        "rank of the matrix of slopes": torch.linalg.matrix_rank(slopes, rtol=1e-9),
        "sum of the gradient over the features": gradient.sum(),
        "gradient's size, input times 3": (weight @ steeper).norm() / gradient.norm(),
    }
    return {name: round(float(number), 9) for name, number in numbers.items()}


EXERCISE = Prediction(oracle=oracle, draw=lambda seed: [Case("your five numbers", {})], rtol=1e-3, atol=1e-3)
