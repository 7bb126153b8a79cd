"""Learning rates over time, and the smoothed loss."""

import math
from collections.abc import Callable

from torch import Tensor
from torch.nn import functional as F


def noam(d_model: int, warmup: int = 4000) -> Callable[[int], float]:
    """Rate of step 1, 2, …: ``d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)``. Source: Vaswani et al. 2017, equation 3."""
    if d_model < 1 or warmup < 1:
        raise ValueError(f"d_model={d_model} and warmup={warmup} must be at least 1")
    return lambda step: d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def warmup_cosine(steps: int, warmup: int, floor: float = 0.1) -> Callable[[int], float]:
    """Factor of step 1, 2, …: up in a line to 1 at ``warmup``, then down half a cosine to ``floor`` at ``steps``."""
    if not 0 <= warmup < steps:
        raise ValueError(f"warmup={warmup} must be at least 0 and below steps={steps}")

    def factor(step: int) -> float:
        if step < warmup:
            return step / warmup
        part = min(1.0, (step - warmup) / (steps - warmup))
        return floor + (1 - floor) * (1 + math.cos(math.pi * part)) / 2

    return factor


def warmup_linear(steps: int, part: int = 10, floor: float = 0.02) -> Callable[[int], float]:
    """Factor of step 1, 2, …: up in a line during 1/``part`` of the steps, times a line down to ``floor``; at most ``1 - 1/part``."""
    if steps < 1 or part < 1:
        raise ValueError(f"steps={steps} and part={part} must be at least 1")
    return lambda step: min(1.0, part * step / steps) * max(floor, 1 - step / steps)


def token_loss(scores: Tensor, target: Tensor, smoothing: float = 0.0, pad_id: int = 0) -> Tensor:
    """Mean cross-entropy in nats of real tokens: scores ``(batch, n, vocab)``, target ids ``(batch, n)``; padding does not count.

    ``smoothing`` moves that share of the target to all words evenly (Szegedy et al. 2016, section 7).
    ValueError when every target is padding.
    """
    if scores.shape[:-1] != target.shape:
        raise ValueError(f"scores of shape {tuple(scores.shape)} do not fit targets of shape {tuple(target.shape)}")
    if not target.is_cuda and not (target != pad_id).any():
        raise ValueError("every target is padding: there is nothing to learn from")
    return F.cross_entropy(scores.flatten(0, -2), target.flatten(), ignore_index=pad_id, label_smoothing=smoothing)
