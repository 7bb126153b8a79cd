"""A mixture of experts: many feed-forward networks, of which each token uses a few.

Sources: Shazeer et al. 2017; the loss that spreads the tokens, Fedus et al. 2021 (Switch Transformer), equations 4 to 6;
weights that are normalised over the chosen experts, Jiang et al. 2024 (Mixtral), section 2.1.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn


class MixtureOfExperts(nn.Module):
    """``(…, d_model)`` -> the same shape: every token goes through its ``active`` best experts, weighted by the router.

    ``expert()`` makes one network. After a forward pass ``share`` ``(num_experts,)`` holds the part of the choices that fell on each
    expert and ``balance`` the loss that is 1 when all get the same and grows to ``num_experts`` when one gets everything.
    """

    def __init__(self, d_model: int, num_experts: int, active: int, expert: Callable[[], nn.Module]):
        super().__init__()
        if not 0 < active <= num_experts:
            raise ValueError(f"active={active} experts of num_experts={num_experts}: need at least one, and no more than there are")
        self.active = active
        self.router = nn.Linear(d_model, num_experts, bias=False)
        self.experts = nn.ModuleList(expert() for _ in range(num_experts))
        self.balance, self.share = torch.zeros(()), torch.zeros(num_experts)

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.reshape(-1, x.shape[-1])
        probabilities = self.router(tokens).softmax(-1)  # (tokens, num_experts)
        weights, chosen = probabilities.topk(self.active)  # (tokens, active) twice
        weights = weights / weights.sum(-1, keepdim=True)
        output = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            rows, place = (chosen == number).nonzero(as_tuple=True)
            if len(rows):
                output = output.index_add(0, rows, weights[rows, place, None] * expert(tokens[rows]))
        self.share = torch.bincount(chosen.flatten(), minlength=len(self.experts)) / chosen.numel()
        self.balance = len(self.experts) * (self.share * probabilities.mean(0)).sum()
        return output.view(x.shape)
