"""What an exercise is written with, in one import, and what the exercises of several chapters share."""

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from ..case import CALLABLES, Case, Registered, generator, refusal
from ..exercise import ClaimExercise, Exercise, FunctionExercise, ModuleExercise, Prediction

__all__ = ["CALLABLES", "Case", "ClaimExercise", "FunctionExercise", "ModuleExercise", "Prediction", "Registered", "generator", "refusal"]

fused = F.scaled_dot_product_attention  # kept here: these names may be forbidden while an answer runs
cross_entropy, functional_mha = F.cross_entropy, F.multi_head_attention_forward
FUSED_NAME = "torch.nn.functional.scaled_dot_product_attention"
FORBIDDEN_MHA = ("torch.nn.functional.multi_head_attention_forward", "torch.nn.MultiheadAttention.forward")
fused_layer_norm, fused_rms_norm = F.layer_norm, F.rms_norm
fused_batch_norm, fused_instance_norm, fused_group_norm = F.batch_norm, F.instance_norm, F.group_norm
LAYER_NORMS = ("torch.nn.functional.layer_norm", "torch.layer_norm", "torch.native_layer_norm")
RMS_NORMS = ("torch.nn.functional.rms_norm", "torch.rms_norm")
OTHER_NORMS = (
    *(f"torch.nn.functional.{name}_norm" for name in ("batch", "instance", "group")),
    *(f"torch.{name}_norm" for name in ("batch", "instance", "group", "native_batch", "native_group")),
)
OUR_RMS_NORM = "course_utils.models.norms.RMSNorm.forward"
IGNORED = -100  # the label that a loss leaves out


def in_order(package: str, names: str) -> tuple[Exercise, ...]:
    """The exercises of a chapter's modules, in the order of the chapter's text."""
    return tuple(import_module(f"{package}.{name}").EXERCISE for name in names.split())


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


def several_heads(init: dict, parameters: dict, inputs: dict) -> Tensor:
    """``F.multi_head_attention_forward`` (tokens first, True = hidden); empty rows get the bias of w_o."""
    query = inputs["query"]
    key = query if inputs.get("key") is None else inputs["key"]
    value = key if inputs.get("value") is None else inputs["value"]
    heads, mask, empty = init["num_heads"], inputs.get("mask"), None
    if mask is not None:
        full = torch.zeros(query.shape[0], query.shape[1], key.shape[1], dtype=torch.bool) | mask
        empty = ~full.any(-1, keepdim=True)
        mask = ~(full | empty).repeat_interleave(heads, dim=0)
    bias = torch.cat([parameters[f"w_{name}.bias"] for name in "qkv"]) if init.get("bias", True) else None
    w_o, b_o = parameters["w_o.weight"], parameters.get("w_o.bias")
    more = {f"{name}_proj_weight": parameters[f"w_{name}.weight"] for name in "qkv"}
    more |= {"use_separate_proj_weight": True, "need_weights": False, "attn_mask": mask}
    q, k, v = (x.transpose(0, 1) for x in (query, key, value))
    output = functional_mha(q, k, v, query.shape[-1], heads, None, bias, None, None, False, 0.0, w_o, b_o, **more)[0].transpose(0, 1)
    return output if empty is None else torch.where(empty, 0.0 if b_o is None else b_o, output)


def some_keys(g: torch.Generator, *shape: int, hidden: int = 0) -> Tensor:
    """A mask with a permitted and a forbidden key in every row; where all would be permitted, key ``hidden`` is not."""
    mask = torch.rand(*shape, generator=g) < 0.5
    mask[..., 1] |= ~mask.any(-1)
    mask[..., hidden] &= ~mask.all(-1)
    return mask
