"""The stand-ins for a masked-token head that exercise 09.5 hands to an answer."""

import torch
from torch import Tensor

from ...case import register

VOCAB = 13


@register
def toy_head(hidden: Tensor) -> Tensor:
    """Logits ``(rows, 13)`` for hidden states ``(rows, d)``; only rows, not a batch of sentences."""
    if hidden.dim() != 2:
        raise ValueError(f"the head takes (rows, d), got {tuple(hidden.shape)}")
    table = torch.sin(torch.arange(1.0, VOCAB * hidden.shape[1] + 1) ** 1.2).reshape(VOCAB, -1)
    return torch.tanh(hidden) @ table.T


@register
def head_for_five(hidden: Tensor) -> Tensor:
    """As ``toy_head``; refuses any number of rows but 5, the selected tokens of the case that hands it over."""
    if hidden.shape[0] != 5:
        raise ValueError(f"5 tokens are selected, but the head was given {tuple(hidden.shape)}")
    return toy_head(hidden)
