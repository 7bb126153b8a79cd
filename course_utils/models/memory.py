"""Bytes that a computation keeps: what autograd saves for the backward pass, and the most that is alive at one time.

Both count storages, not tensors, so that a view costs nothing. Scratch memory inside a kernel is not seen. Units: bytes.
"""

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def saved_bytes(function: Callable[[], Any]) -> int:
    """Bytes of all storages that autograd saves while ``function()`` runs, its inputs included."""
    seen: dict[int, int] = {}
    keep = []  # an address may be used again once its tensor is gone

    def pack(x: Tensor) -> Tensor:
        storage = x.untyped_storage()
        seen[storage.data_ptr()] = storage.nbytes()
        keep.append(x)
        return x

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        result = function()
    del result
    return sum(seen.values())


class LiveBytes(TorchDispatchMode):
    """``with LiveBytes() as live: …``; ``live.peak`` is the most that was alive at once of all storages made inside."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self._known: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        given = {id(x.untyped_storage()) for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)}
        result = func(*args, **(kwargs or {}))
        for x in tree_leaves(result):
            if isinstance(x, Tensor):
                self._count(x.untyped_storage(), given)
        return result

    def _count(self, storage: torch.UntypedStorage, given: set[int]) -> None:
        name = id(storage)
        if name in self._known or name in given:
            return
        size = storage.nbytes()
        self._known.add(name)
        self.now += size
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self._gone, name, size)

    def _gone(self, name: int, size: int) -> None:
        self._known.discard(name)
        self.now -= size


def live_bytes(function: Callable[[], Any]) -> int:
    """The most bytes alive at once, of all that ``function()`` makes."""
    with LiveBytes() as live:
        result = function()
    del result
    return live.peak
