"""Exercise 04.7: which starts keep two heads identical for ever, predicted. The oracle trains and looks."""

from functools import cache

import torch
from torch import nn

from ..common import Case, Prediction, fused, generator, randn

STARTS = {  # heads alike, blocks of W_O, dropout on the weights
    "heads equal, blocks of W_O equal": (True, "equal", 0.0),
    "heads equal, blocks of W_O random": (True, "random", 0.0),
    "heads equal, W_O all zero": (True, "zero", 0.0),
    "heads random, blocks of W_O equal": (False, "equal", 0.0),
    "all equal, dropout on the weights": (True, "equal", 0.2),
}


def train(alike: bool, blocks: str, dropout: float, steps: int = 25) -> str:
    """Two heads trained for a few steps: are their projections still the same?"""
    g = generator(0)
    projections = [nn.Parameter(randn(g, 2, 6, 3) / 6**0.5) for _ in range(3)]
    w_o = nn.Parameter(randn(g, 2, 3, 6) / 6**0.5)
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
        gradients = torch.autograd.grad(loss, [*projections, w_o])
        with torch.no_grad():
            for w, gradient in zip((*projections, w_o), gradients, strict=True):
                w.sub_(0.1 * gradient)
    gap = max((w[0] - w[1]).abs().max().item() for w in projections)
    return "identical for ever" if gap < 1e-6 else "different"


@cache
def measured() -> dict[str, str]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return {name: train(*start) for name, start in STARTS.items()}


SAME, OTHER = WORDS = ("identical for ever", "different")
RIGHT = dict(zip(STARTS, (SAME, OTHER, SAME, OTHER, OTHER), strict=True))
EXERCISE = Prediction(oracle=measured, reference=RIGHT, draw=lambda seed: [Case("your five words", {})], choices=WORDS)
