"""What an exercise is written with, in one import, and what the exercises of several chapters share."""

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from ..case import CALLABLES, Case, Registered, generator, refusal
from ..exercise import FunctionExercise, ModuleExercise, Prediction

__all__ = ["CALLABLES", "Case", "FunctionExercise", "ModuleExercise", "Prediction", "Registered", "generator", "refusal"]

fused = F.scaled_dot_product_attention  # kept here: these names may be forbidden while an answer runs
cross_entropy, functional_mha = F.cross_entropy, F.multi_head_attention_forward
FUSED_NAME = "torch.nn.functional.scaled_dot_product_attention"
FORBIDDEN_MHA = ("torch.nn.functional.multi_head_attention_forward", "torch.nn.MultiheadAttention.forward")
fused_layer_norm, fused_rms_norm = F.layer_norm, F.rms_norm
fused_batch_norm, fused_instance_norm, fused_group_norm = F.batch_norm, F.instance_norm, F.group_norm
LAYER_NORMS = ("torch.nn.functional.layer_norm", "torch.layer_norm", "torch.native_layer_norm")
RMS_NORMS = ("torch.nn.functional.rms_norm", "torch.rms_norm")
OTHER_NORMS = tuple(f"torch.nn.functional.{name}_norm" for name in ("batch", "instance", "group")) + (
    "torch.batch_norm",
    "torch.instance_norm",
    "torch.group_norm",
    "torch.native_batch_norm",
    "torch.native_group_norm",
)
OUR_RMS_NORM = "course_utils.models.norms.RMSNorm.forward"
IGNORED = -100  # the label that a loss leaves out


def randn(g: torch.Generator, *shape: int) -> Tensor:
    """Normal numbers from a case's own generator."""
    return torch.randn(*shape, generator=g)


def sizes(g: torch.Generator, count: int, low: int = 2, high: int = 8) -> list[int]:
    """Different whole numbers from ``low`` up to ``high`` - 1: the sizes of a case, no two alike."""
    return (torch.randperm(high - low, generator=g)[:count] + low).tolist()


def integers(g: torch.Generator, low: int, high: int, *shape: int) -> Tensor:
    """Whole numbers from ``low`` up to ``high`` - 1 from a case's own generator."""
    return torch.randint(low, high, shape, generator=g)


def rotated(x: Tensor, base: float = 10_000.0) -> Tensor:
    """Rotary positions in doubles: columns i and i + width/2 are one complex number, turned by position · base^(-2i/width)."""
    n, half = x.shape[-2], x.shape[-1] // 2
    angle = torch.outer(torch.arange(n).double(), base ** (-torch.arange(half).double() / half))
    z = torch.complex(x[..., :half].double(), x[..., half:].double()) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([z.real, z.imag], -1)


def arguments(answer: Callable[..., Any], *values: Any) -> dict[str, Any]:
    """Values by the names of the answer's parameters, in their order; those at the end may be left out."""
    return dict(zip(inspect.signature(answer).parameters, values, strict=False))
