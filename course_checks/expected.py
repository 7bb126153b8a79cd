"""What the oracle says of a case."""

from typing import Any

import torch

from .case import Case
from .exercise import Exercise
from .observe import backward


def expected_of(exercise: Exercise, case: Case) -> tuple[Any, dict[str, torch.Tensor | None]]:
    """The oracle's value and its gradients by ``case.gradients``. ValueError when it depends on none: the exercise has cut the graph."""
    args = dict(case.args)
    if not case.gradients:
        value = exercise.oracle(**args)
        return (exercise.effect(value, case) if exercise.effect else value), {}
    args, leaves = exercise.leaves(args, case.gradients)
    value = exercise.oracle(**args)
    grads = backward(value, [leaves[name] for name in case.gradients])
    if all(grad is None for grad in grads):
        raise ValueError(
            f"exercise {exercise.id}, case {case.label!r}: gradients by {', '.join(case.gradients)} are asked for, but the "
            "oracle's result depends on none of them in a way autograd can follow; compute it with tensors throughout"
        )
    return _detach(value), dict(zip(case.gradients, grads, strict=True))


def _detach(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, (tuple, list)):
        return [_detach(item) for item in value]
    return value
