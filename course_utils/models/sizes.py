"""How many parameters a model has, without the memory for them: modules whose tensors are shapes alone.

``torch.device("meta")`` does that too, but there a draw of normal numbers loads PyTorch's compiler and sympy: 800 modules, 2 s.
(So does arithmetic; this is for building and counting alone.)
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode


class _NothingDrawn(TorchFunctionMode):
    """Initialisers leave their tensor as it is; a table that is computed from ``arange`` is small and stays real."""

    def __torch_function__(self, func: Callable, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") in ("normal_", "uniform_", "trunc_normal_"):  # methods, and those of nn.init
            return args[0] if args else kwargs["tensor"]
        return func(*args, **({"device": "cpu"} | kwargs if func is torch.arange else kwargs))


@contextmanager
def shapes_only() -> Iterator[None]:
    """``with shapes_only(): model = GPT(GPT2["xl"])`` takes no memory: its tensors have shapes and no numbers."""
    with torch.device("meta"), _NothingDrawn():
        yield


def count(module: nn.Module) -> int:
    """Numbers that a module learns; a shared one counts once."""
    return sum(p.numel() for p in module.parameters())
