"""Names that are forbidden while an answer runs: the very thing an exercise asks for."""

import importlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .limits import ANSWER

TORCH = torch.__file__.removesuffix("__init__.py")
BAR = os.path.join("tqdm", "_monitor.py")  # a progress bar starts a thread that watches it
# What would hide from the guard below what an answer calls: forbidden together with the names of an exercise.
HIDING = {
    "torch._C.DisableTorchFunction": "DisableTorchFunction",
    "torch._C.DisableTorchFunctionSubclass": "DisableTorchFunctionSubclass",
    "torch._C.ScriptFunction.__call__": "torch.jit",
    "torch._C.ScriptMethod.__call__": "torch.jit",
    "threading.Thread.start": "threading",
    "_thread.start_new_thread": "_thread",
}


class ForbiddenShortcut(BaseException):
    """An answer called what it was asked to build; not an ``Exception``, so that it cannot be swallowed by one."""


class CallGuard(TorchFunctionMode):
    """Sees every call of a torch function in its thread, by whatever name or closure it was reached."""

    def __init__(self, forbidden: dict[Any, str], used: list[str]):
        super().__init__()
        self.forbidden, self.used = forbidden, used

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name = self.forbidden.get(func)
        if name is not None:
            self.used.append(name)
            raise ForbiddenShortcut(name)
        return func(*args, **(kwargs or {}))


def _locate(dotted: str) -> tuple[Any, str]:
    """Owner and attribute of a dotted name: ``torch.Tensor.softmax`` -> (torch.Tensor, "softmax")."""
    parts = dotted.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            owner = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:-1]:
            owner = getattr(owner, part)
        return owner, parts[-1]
    raise ValueError(f"no module holds the forbidden name {dotted!r}")


class _BlockedClass:
    """Stands where a forbidden class was: to call it, to derive from it or to take a method of it is a shortcut."""

    _refuse: Callable[..., Any]

    def __init__(self, refuse: Callable[..., Any]):
        self._refuse = refuse

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        self._refuse()

    def __mro_entries__(self, bases: tuple) -> None:
        self._refuse()

    def __getattr__(self, name: str) -> None:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()


@contextmanager
def forbid(names: tuple[str, ...], answer: Any, namespaces: list[dict[str, Any]], used: list[str]) -> Iterator[CallGuard | None]:
    """Replace every name by a function that raises and notes the name in ``used``; put everything back at the end.

    An ``answer`` that was derived from a forbidden class is noted at once.

    ``namespaces`` are the globals the answer sees: a name imported there earlier
    (``from torch.nn.functional import softmax``) is replaced too. Yields a :class:`CallGuard` to be entered where the
    answer runs, for torch functions that were stowed away elsewhere; None when nothing is forbidden.
    """
    undo: list[tuple[Any, str, Any]] = []
    originals: dict[Any, str] = {}

    def blocked(name: str):
        def raiser(*args: Any, **kwargs: Any) -> None:
            used.append(name)
            raise ForbiddenShortcut(name)

        return raiser

    def hidden(name: str, original: Any):
        def only_for_others(*args: Any, **kwargs: Any) -> Any:
            caller = sys._getframe(1).f_code.co_filename
            if threading.current_thread().name != ANSWER or caller.startswith(TORCH) or caller.endswith(BAR):
                return original(*args, **kwargs)
            used.append(name)
            raise ForbiddenShortcut(name)

        return only_for_others

    try:
        for name in HIDING if names else ():
            owner, attribute = _locate(name)
            undo.append((owner, attribute, getattr(owner, attribute)))
            setattr(owner, attribute, hidden(name, getattr(owner, attribute)))
        for name in names:
            owner, attribute = _locate(name)
            original, raiser = getattr(owner, attribute), blocked(name)
            if isinstance(original, type):
                raiser = _BlockedClass(raiser)
                if isinstance(answer, type) and original in answer.__mro__:
                    used.append(name)
            originals[original] = name
            undo.append((owner, attribute, original))
            setattr(owner, attribute, raiser)
            for space in namespaces:
                for key, value in list(space.items()):
                    if value is original:
                        undo.append((space, key, original))
                        space[key] = raiser
            for spelling in (attribute, f"_{attribute}"):  # the same operation below the Python functions: torch.ops.aten.softmax
                if name.startswith("torch.") and hasattr(torch.ops.aten, spelling):
                    undo.append((torch.ops.aten, spelling, getattr(torch.ops.aten, spelling)))
                    setattr(torch.ops.aten, spelling, raiser)
        yield CallGuard(originals, used) if names else None
    finally:
        for owner, key, original in reversed(undo):
            if isinstance(owner, dict):
                owner[key] = original
            else:
                setattr(owner, key, original)
