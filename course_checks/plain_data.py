"""Turn whatever an answer returns into plain data: nothing with behaviour of its own gets past this module."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import torch

_plainly = torch._C.DisableTorchFunctionSubclass  # kept here: an exercise may forbid the name
ELEMENTS = 1_000_000  # of a tensor
CHARACTERS = 10_000  # of a string
ITEMS = 1_000  # of a list or dict
DTYPES = tuple(getattr(torch, name) for name in "float16 bfloat16 float32 float64 bool uint8 int8 int16 int32 int64".split())


def plain_data(value: Any, depth: int = 0) -> Any:
    """A copy made of plain tensors, numbers, strings, None, lists and dicts; what is none, or too large: ``{"object": its kind}``."""
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if value is None or value is True or value is False:
        return value
    if isinstance(value, int):
        number = int.__int__(value)
        return number if abs(number) < 2**63 else {"object": "a number too large"}
    if isinstance(value, float):
        return float.__float__(value)
    if type(value) in (Fraction, Decimal):
        return float(value)
    if isinstance(value, str):
        return str.__str__(value)[:CHARACTERS]
    if isinstance(value, bytes):
        return bytes(bytearray(value[:CHARACTERS]))
    array = _numpy(value)
    if array is not None:
        return array
    if depth < 4 and isinstance(value, (list, tuple)) and len(value) <= ITEMS:
        return [plain_data(item, depth + 1) for item in value]
    if depth < 4 and isinstance(value, dict) and len(value) <= ITEMS:
        return {str(key)[:200]: plain_data(item, depth + 1) for key, item in value.items()}
    return {"object": kind_of(value)}


def _tensor(value: torch.Tensor) -> Any:
    with _plainly():
        if value.layout is not torch.strided or value.is_nested or value.device.type == "meta" or value.dtype not in DTYPES:
            return {"object": f"{str(value.dtype).removeprefix('torch.')} tensor of an unusual kind"}
        plain = value.as_subclass(torch.Tensor).detach()
        if plain.numel() > ELEMENTS:
            return {"object": f"tensor of shape {tuple(plain.shape)}: far too large"}
        return plain.cpu().clone(memory_format=torch.contiguous_format)


def _numpy(value: Any) -> Any:
    import numpy as np

    if isinstance(value, np.generic):
        return plain_data(value.item(), 4)
    if not isinstance(value, np.ndarray):
        return None
    try:
        return _tensor(torch.from_numpy(np.array(value, subok=False)))
    except (TypeError, ValueError):
        return {"object": "NumPy array of things that are not numbers"}


def float_tensors(value: Any) -> list[torch.Tensor]:
    """The floating tensors in a result: those a gradient is taken of."""
    if isinstance(value, torch.Tensor):
        return [value] if value.is_floating_point() else []
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in float_tensors(item)]
    return []


def kind_of(value: Any) -> str:
    """The type in a learner's words: ``tensor``, ``NumPy array``, ``tuple of 2`` …"""
    module, name = type(value).__module__, type(value).__name__
    if isinstance(value, torch.Tensor):
        return "tensor"
    if value is None:
        return "None"
    if module == "numpy":
        return "NumPy array" if name == "ndarray" else "number"
    if isinstance(value, (tuple, list)):
        return f"{'tuple' if isinstance(value, tuple) else 'list'} of {len(value)}"
    for kinds, words in (((bool,), "bool"), ((int, float, Fraction, Decimal), "number"), ((str,), "string")):
        if isinstance(value, kinds):
            return words
    if isinstance(value, type):
        return f"class {value.__name__}"
    if callable(value) and isinstance(getattr(value, "__name__", None), str):
        return f"function {value.__name__}"
    return name
