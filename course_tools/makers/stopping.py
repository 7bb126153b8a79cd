"""Training that ends when it no longer helps."""

import copy
from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from course_utils.training.loop import History, fit


def fit_until_best(
    module: nn.Module,
    loss: Callable[[], Tensor],
    steps: int,
    lr: float,
    label: str,
    *,
    validate: Callable[[], Tensor | float],
    schedule: Callable[[int], float],
    patience: int,
    every: int = 100,
    **options: Any,
) -> History:
    """As ``fit``, in stretches of ``every`` steps, at most ``steps`` in all; ``options`` must hold an optimizer.

    Ends after ``patience`` validations without a new minimum; the weights of the minimum, the later of two, are put back.
    ValueError for a patience below 1.
    """
    if patience < 1:
        raise ValueError(f"patience={patience} must be at least 1")
    history, best, weights = History(), (0, float("inf")), module.state_dict()
    while (done := len(history)) < steps and done < best[0] + patience * every:
        falling: dict[str, Any] = {"schedule": lambda step, done=done: schedule(done + step), "validate": validate, "every": every}
        part = fit(module, loss, min(every, steps - done), lr, label, **falling, **options)
        history.losses += part.losses
        history.validation.append((len(history), part.validation[-1][1]))
        if history.validation[-1][1] <= best[1]:
            best, weights = history.validation[-1], copy.deepcopy(module.state_dict())
    module.load_state_dict(weights)
    return history
