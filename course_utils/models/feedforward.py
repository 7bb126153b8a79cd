"""The same small network for every token. Sources: Vaswani et al. 2017, equation 2; gated variants, Shazeer 2020, equations 5 and 6."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
    "gelu_sigmoid": lambda x: x * torch.sigmoid(1.702 * x),
    "silu": F.silu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "identity": lambda x: x,
}


def find_activation(name: str) -> Callable[[Tensor], Tensor]:
    """The function of this name; ValueError, with the names there are, for another."""
    if name not in ACTIVATIONS:
        raise ValueError(f"activation={name!r} is unknown; choose one of {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name]


class FeedForward(nn.Module):
    """``w_2(activation(w_1(x)))``, ``(…, d_model)`` -> ``(…, d_model)`` through a hidden layer of ``d_ff``, which has the dropout."""

    def __init__(self, d_model: int, d_ff: int, activation: str = "relu", dropout: float = 0.0, bias: bool = True):
        super().__init__()
        self.activation = find_activation(activation)
        self.w_1 = nn.Linear(d_model, d_ff, bias=bias)
        self.w_2 = nn.Linear(d_ff, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        return self.w_2(self.dropout(self.activation(self.w_1(x))))


class GatedFeedForward(nn.Module):
    """``w_2(activation(gate(x)) · value(x))``; ``"silu"`` makes it SwiGLU. One product makes gate and value together."""

    def __init__(self, d_model: int, width: int, activation: str = "silu", dropout: float = 0.0, bias: bool = False):
        super().__init__()
        self.activation = find_activation(activation)
        self.w_1 = nn.Linear(d_model, 2 * width, bias=bias)  # rows: gate, then value
        self.w_2 = nn.Linear(width, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        gate, value = self.w_1(x).chunk(2, dim=-1)
        return self.w_2(self.dropout(self.activation(gate) * value))


def swiglu(x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor) -> Tensor:
    """The gated layer as a function of its matrices, ``(…, d_model)`` -> the same (Shazeer 2020, arXiv:2002.05202)."""
    return (F.silu(x @ w_gate) * (x @ w_up)) @ w_down


def gated_width(d_ff: int, multiple: int = 1) -> int:
    """Width at which three matrices hold what two of ``d_ff`` hold: two thirds of it, rounded up to a multiple."""
    if d_ff < 1 or multiple < 1:
        raise ValueError(f"d_ff={d_ff} and multiple={multiple} must be at least 1")
    return -(-2 * d_ff // (3 * multiple)) * multiple
