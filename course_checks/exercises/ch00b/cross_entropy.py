"""Exercise 00b.3: the mean surprise, from logits. The oracle is a log-sum-exp in NumPy, or PyTorch's loss for a gradient."""

import numpy as np
import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, integers, randn, sizes
from ..common import cross_entropy as library_cross_entropy


def cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    rows = torch.arange(len(target))
    surprise = torch.logsumexp(logits, dim=1) - logits[rows, target]
    return surprise.mean()


def oracle(logits: Tensor, target: Tensor) -> Tensor:
    if logits.requires_grad:  # through NumPy no gradient flows
        return library_cross_entropy(logits.double(), target).float()
    scores = logits.double().numpy()
    total = np.logaddexp.reduce(scores, axis=1)
    return torch.tensor(float(np.mean(total - scores[np.arange(len(scores)), target.numpy()])))


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    n, k = sizes(g, 2, 3, 9)
    target = integers(g, 0, k, n)
    return [
        Case(f"{n} words, {k} languages", {"logits": 1.5 * randn(g, n, k), "target": target}, gradients=("logits",)),
        Case("logits in the hundreds", {"logits": 300 * randn(g, n, k), "target": target}, "large logits"),
        Case("the same, far above 0", {"logits": 500 + 2 * randn(g, n, k), "target": target}, "large logits"),
    ]


def fixed() -> list[Case]:
    sure = {"logits": torch.tensor([[0.0, 200.0], [0.0, -200.0]]), "target": torch.tensor([0, 0])}
    return [
        Case("a single word", {"logits": torch.tensor([[1.0, -2.0, 0.5]]), "target": torch.tensor([2])}),
        Case("all logits equal", {"logits": torch.full((3, 4), 2.5), "target": torch.tensor([0, 3, 3])}),
        Case("sure, and wrong", sure, "large logits", gradients=("logits",)),
    ]


NAMES = """nn.functional.cross_entropy nn.functional.nll_loss nn.functional.log_softmax log_softmax Tensor.log_softmax
    special.log_softmax nn.CrossEntropyLoss nn.NLLLoss nn.LogSoftmax"""
FORBIDDEN = tuple(f"torch.{name}" for name in NAMES.split())
EXERCISE = FunctionExercise(right=cross_entropy, oracle=oracle, draw=draw, fixed=fixed, forbidden=FORBIDDEN)
