"""Exercise 00b.6: what the optimisers do, predicted. The oracle measures PyTorch's own."""

from collections.abc import Callable
from functools import cache, partial

import torch
from torch import Tensor

from ..common import Case, Prediction

RIGHT = {  # to measure them takes seconds
    "plain descent: same path if the loss is multiplied by 100": "no",
    "Adam: same path if the loss is multiplied by 100": "yes",
    "momentum: moves although the gradient is 0": "yes",
    "clipping the norm: turns the step in another direction": "no",
    "AdamW: shrinks a weight whose gradient is 0": "yes",
    "Adam: first step longer where the gradient is larger": "no",
}


def path(make: Callable, gradients: Callable[[Tensor], Tensor], steps: int = 5, clip: float = 0.0) -> Tensor:
    """Where two weights that start at (3, 1) are after each step, ``(steps + 1, 2)``."""
    w = torch.nn.Parameter(torch.tensor([3.0, 1.0]))
    optimizer, seen = make([w]), [w.detach().clone()]
    for _ in range(steps):
        w.grad = gradients(w.detach())
        if clip:
            torch.nn.utils.clip_grad_norm_([w], clip)
        optimizer.step()
        seen.append(w.detach().clone())
    return torch.stack(seen)


@cache
def measured() -> dict[str, str]:
    def valley(w: Tensor) -> Tensor:
        return w * torch.tensor([0.2, 2.0])

    def same(make: Callable) -> bool:
        return torch.allclose(path(make, valley), path(make, lambda w: 100 * valley(w)), atol=1e-4)

    sgd, adam = partial(torch.optim.SGD, lr=1e-3), partial(torch.optim.Adam, lr=0.1)
    pushes = iter([torch.tensor([1.0, 1.0]), torch.zeros(2)])
    pushed = path(partial(torch.optim.SGD, lr=0.1, momentum=0.9), lambda w: next(pushes), steps=2)
    free, clipped = (path(sgd, valley, 1, clip).diff(dim=0)[0] for clip in (0.0, 0.1))
    turned = torch.nn.functional.cosine_similarity(free, clipped, dim=0) < 0.999
    decayed = path(partial(torch.optim.AdamW, lr=0.1, weight_decay=0.1), lambda w: torch.zeros(2), 1)
    shrinks = (decayed[1].abs() < decayed[0].abs()).all()
    flat, steep = path(adam, valley, 1).diff(dim=0)[0].abs()
    found = same(sgd), same(adam), not torch.equal(pushed[1], pushed[2]), turned, shrinks, not torch.isclose(flat, steep, rtol=1e-3)
    return {statement: "yes" if true else "no" for statement, true in zip(RIGHT, found, strict=True)}


EXERCISE = Prediction(oracle=measured, reference=RIGHT, draw=lambda seed: [Case("your six answers", {})], choices=("yes", "no"))
