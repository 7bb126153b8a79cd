"""The loss of direct preference optimisation (Rafailov et al. 2023, section 4), which exercise 11b.6 rebuilds."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F


def dpo_loss(policy_chosen: Tensor, policy_rejected: Tensor, reference_chosen: Tensor, reference_rejected: Tensor, beta: float) -> Tensor:
    """Mean of ``-ln σ(β · (ln π/π_ref of the chosen - ln π/π_ref of the rejected))`` over pairs ``(batch,)`` (equation 7)."""
    if not beta > 0:
        raise ValueError(f"beta={beta} must be positive")
    gain = (policy_chosen - reference_chosen) - (policy_rejected - reference_rejected)
    return -F.logsigmoid(beta * gain).mean()
