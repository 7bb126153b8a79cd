"""Exercise 00b.4: slopes on a graph with a branch, read off a picture. The oracle is PyTorch's autograd."""

import torch

from ..common import Case, Prediction


def oracle() -> dict[str, int]:
    a, b = torch.tensor([3.0, 7.0], requires_grad=True)
    p = a * b
    s = p + a
    return {f"slope at {name}": int(slope) for name, slope in zip("spba", torch.autograd.grad(4 * s, (s, p, b, a)), strict=True)}


EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your four slopes", {})])
