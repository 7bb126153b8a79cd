"""What exercises 00b.5 and 00b.6 hand to an answer: functions of values, and makers of small models; nothing here tells what is right."""

from typing import Any

import torch
from torch import Tensor, nn

from ...case import CALLABLES, register


def _uneven(*shape: int) -> Tensor:
    """Fixed numbers between -0.5 and 0.5 that follow no simple order."""
    return torch.sin(torch.arange(1.0, torch.Size(shape).numel() + 1) ** 1.4).reshape(shape) / 2


class Scores(nn.Module):
    """One score for each class: a product and a bias. With ``mutes``, every second feature is off in training mode and the others are
    doubled: a dropout that always removes the same features."""

    def __init__(self, num_features: int, num_classes: int, mutes: bool = False):
        super().__init__()
        self.weight = nn.Parameter(_uneven(num_classes, num_features))
        self.bias = nn.Parameter(_uneven(num_classes + 1)[1:])
        self.mutes = mutes

    def forward(self, x: Tensor) -> Tensor:
        if self.mutes and self.training:
            x = x * (2.0 * (torch.arange(x.shape[-1]) % 2 == 0))
        return x @ self.weight.T + self.bias


@register
def four_features_three_classes() -> nn.Module:
    return Scores(4, 3)


@register
def three_features_five_classes() -> nn.Module:
    return Scores(3, 5)


@register
def other_in_training() -> nn.Module:
    return Scores(5, 4, mutes=True)


TRIED: dict[str, tuple[Any, str]] = {
    "a · b": (lambda a, b: a * b, "values"),
    "exp(a · b)": (lambda a, b: (a * b).exp(), "values"),
    "log(a + b)": (lambda a, b: (a + b).log(), "values"),
    "log(exp(a) · b) + b · c": (lambda a, b, c: (a.exp() * b).log() + b * c, "branches"),
    "a · b + a": (lambda a, b: a * b + a, "branches"),
    "a · a": (lambda a: a * a, "branches"),
    "p · p + p · b, where p = a + b": (lambda a, b: (lambda p: p * p + p * b)(a + b), "branches"),
    "surprise at the second of three scores": (lambda a, b, c, m: (a.exp() + b.exp() + c.exp()).log() + b * m, "branches"),
}
CALLABLES |= {name: function for name, (function, _) in TRIED.items()}
