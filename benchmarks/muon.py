"""Muon for the matrices inside a model's blocks, AdamW for everything else, as one optimizer for ``fit``.

Source: Jordan et al., "Muon: an optimizer for hidden layers in neural networks", 2024, https://kellerjordan.github.io/posts/muon/
"""

from __future__ import annotations

from typing import Any

import torch

from course_utils.models.gpt import GPT


class Together:
    """Several optimizers as one. ``fit`` gives every group its own rate: ``lr * schedule(t) * group["ratio"]``."""

    def __init__(self, *optimizers: torch.optim.Optimizer) -> None:
        self.optimizers = optimizers
        self.param_groups = [group for optimizer in optimizers for group in optimizer.param_groups]

    def zero_grad(self) -> None:
        for optimizer in self.optimizers:
            optimizer.zero_grad()

    def step(self) -> None:
        for optimizer in self.optimizers:
            optimizer.step()

    def state_dict(self) -> dict[str, Any]:
        return {str(k): optimizer.state_dict() for k, optimizer in enumerate(self.optimizers)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for k, optimizer in enumerate(self.optimizers):
            optimizer.load_state_dict(state[str(k)])


def muon_and_adamw(model: GPT, lr: float, other: float, weight_decay: float = 0.1) -> Together:
    """Muon with rate ``lr`` for the matrices of ``model.blocks``, AdamW with rate ``other`` for tables, norms and biases."""
    matrices = [p for p in model.blocks.parameters() if p.ndim == 2]
    chosen = set(map(id, matrices))
    rest = [p for p in model.parameters() if id(p) not in chosen]
    muon = torch.optim.Muon(matrices, lr=lr, momentum=0.95, weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw")
    adamw = torch.optim.AdamW(rest, lr=other, betas=(0.9, 0.95), weight_decay=weight_decay, fused=True)
    for group in adamw.param_groups:
        group["ratio"] = other / lr
    return Together(muon, adamw)
