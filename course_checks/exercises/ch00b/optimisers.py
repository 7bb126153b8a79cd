"""Exercise 00b.6: what the optimisers do, measured with PyTorch's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin

SGD, ADAM = "plain descent: same path if the loss is multiplied by 100", "Adam: same path if the loss is multiplied by 100"
MOMENTUM, CLIPPING = "momentum: moves although the gradient is 0", "clipping the norm: turns the step in another direction"
DECAY, FIRST = "AdamW: shrinks a weight whose gradient is 0", "Adam: first step longer where the gradient is larger"


def _path(make: Callable, gradients: Callable[[Tensor], Tensor], steps: int = 5, clip: float = 0.0) -> Tensor:
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
def _measured() -> dict[str, str]:
    def valley(w: Tensor) -> Tensor:
        return w * torch.tensor([0.2, 2.0])

    sgd, adam = partial(torch.optim.SGD, lr=1e-3), partial(torch.optim.Adam, lr=0.1)

    def same(make: Callable) -> bool:
        return torch.allclose(_path(make, valley), _path(make, lambda w: 100 * valley(w)), atol=1e-4)

    pushes = iter([torch.tensor([1.0, 1.0]), torch.zeros(2)])
    pushed = _path(partial(torch.optim.SGD, lr=0.1, momentum=0.9), lambda w: next(pushes), steps=2)
    free, clipped = (_path(sgd, valley, 1, clip).diff(dim=0)[0] for clip in (0.0, 0.1))
    turned = torch.nn.functional.cosine_similarity(free, clipped, dim=0) < 0.999
    decayed = _path(partial(torch.optim.AdamW, lr=0.1, weight_decay=0.1), lambda w: torch.zeros(2), 1)
    first = _path(adam, valley, 1).diff(dim=0)[0].abs()
    found = {SGD: same(sgd), ADAM: same(adam), MOMENTUM: not torch.equal(pushed[1], pushed[2]), CLIPPING: turned,
             DECAY: (decayed[1].abs() < decayed[0].abs()).all(), FIRST: not torch.isclose(first[0], first[1], rtol=1e-3)}
    return {key: "yes" if answer else "no" for key, answer in found.items()}


RIGHT = {SGD: "no", ADAM: "yes", MOMENTUM: "yes", CLIPPING: "no", DECAY: "yes", FIRST: "no"}  # to measure them takes seconds


def _with(*turned: str) -> dict[str, str]:
    """The right answers with some of them turned round."""
    return {key: {"yes": "no", "no": "yes"}[word] if key in turned else word for key, word in RIGHT.items()}


OPTIMISERS = Exercise(
    id="00b.6", title="Predict: what the optimisers do", name="prediction_of_optimisers", kind="value", stars=1, minutes=6,
    signature="prediction_of_optimisers: dict of 6 answers", choices=("yes", "no"),
    oracle=lambda: dict(_measured()), reference=_with(), draw=lambda seed: [Case("your six answers", {})],
    parts={"values": 3},
    twins=(
        Twin("Adam follows the size of the gradient", _with(ADAM, FIRST),
             "Adam divides the mean gradient by its usual size, so a factor of 100 cancels. In the first step, every "
             "weight moves by the learning rate."),
        Twin("Adam's path depends on the loss's scale", _with(ADAM),
             "Adam divides the mean gradient by its usual size. Multiply the loss by 100: what happens to the quotient?"),
        Twin("Adam steps further where it is steep", _with(FIRST),
             "In the first step, the mean of the gradients and their usual size both come from one gradient. What is their quotient?"),
        Twin("plain descent ignores the loss's scale", _with(SGD),
             "A plain step is the learning rate times the gradient, and the gradient of 100 times the loss is 100 times as large."),
        Twin("momentum stops with the gradient", _with(MOMENTUM),
             "Momentum keeps part of the last step. A ball that rolls onto level ground does not stop at once."),
        Twin("clipping cuts each entry", _with(CLIPPING),
             "The whole gradient is made shorter by one factor: its length changes, its direction does not."),
        Twin("decay needs a gradient", _with(DECAY),
             "AdamW takes the step of the gradient and also pulls every weight towards 0. A weight whose gradient is 0 only shrinks."),
        Twin("plain and Adam exchanged", _with(SGD, ADAM),
             "You have it the wrong way round. Which of the two divides by the usual size of the gradient?"),
        Twin("nothing moves without a gradient", _with(MOMENTUM, DECAY),
             "Two of these methods do more than follow the gradient of this step: one remembers earlier steps, "
             "the other pulls the weights towards 0."),
    ),
)
