"""What an exercise forbids is blocked below Python, too. Runs inside the sandbox, after the cells and before the answer is observed.

The guard of a notebook's check sees what Python calls in one thread. Here PyTorch's own kernels refuse, in every thread and under every
name, and the course's functions refuse wherever they were stowed. It is done in the process that runs the submission: it deters.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

import torch

from course_checks.limits import ANSWER
from course_checks.shortcuts import ForbiddenShortcut, _locate

# Operations below the one that is forbidden, which do the same; "…*" stands for every ending.
BELOW = {
    "scaled_dot_product_attention": ("_scaled_dot_product_*", "_triton_scaled_dot_*"),
    "cdist": ("_cdist_forward", "_euclidean_dist"),
    "cross_entropy": ("cross_entropy_loss",),
    "rms_norm": ("_fused_rms_norm",),
    "layer_norm": ("native_layer_norm",),
    "batch_norm": ("native_batch_norm", "_batch_norm_*", "_native_batch_norm_*"),
    "group_norm": ("native_group_norm",),
}
OBSERVERS = ("course_checks", "course_tools.")  # how the names of the modules begin that observe an answer
_library, _operations = torch.library.Library, torch._C._dispatch_get_all_op_names  # kept here: a cell may change them
_caught: list[str] = []
_libraries: list[Any] = []  # what they register ends with them
_main = 0  # the thread that waits for the answer


def refuse(name: str) -> None:
    """Note that a forbidden name was used, and stop whoever used it; and who waits for the answer, if another thread works for it."""
    _caught.append(name)
    if threading.current_thread().name != ANSWER:
        signal.pthread_kill(_main, signal.SIGUSR1)
    raise ForbiddenShortcut(name)


def block(forbidden: tuple[str, ...]) -> list[str]:
    """Block everything that is forbidden, until the process ends; the list in which is noted what was used all the same."""
    global _main
    _main = threading.get_ident()
    signal.signal(signal.SIGUSR1, _end)
    for name in forbidden:
        if name.startswith("torch."):
            _block_operation(name)
        else:
            _block_function(name)
    return _caught


def _end(number: int, frame: Any) -> None:
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # once
    raise ForbiddenShortcut("in another thread")


def _block_operation(name: str) -> None:
    last = name.rpartition(".")[2]
    wanted = (last, f"_{last}", *BELOW.get(last, ()))
    for full in _operations():
        namespace, _, operation = full.partition("::")
        base = operation.partition(".")[0]
        named = any(base.startswith(word[:-1]) if word.endswith("*") else base == word for word in wanted)
        if namespace != "aten" or base.endswith("_backward") or not named:
            continue
        for key in ("CPU", "AutogradCPU"):
            library = _library("aten", "IMPL", key)
            with contextlib.suppress(RuntimeError):  # one that nobody can replace
                library.impl(operation, lambda *args, **kwargs: refuse(name), allow_override=True)
            _libraries.append(library)


def _block_function(name: str) -> None:
    owner, attribute = _locate(name)
    function = getattr(owner, attribute, None)
    if isinstance(function, types.FunctionType) and not function.__code__.co_freevars:
        space: dict[str, Any] = {}
        exec(f"def blocked(*args, **kwargs):\n    from {__name__} import refuse\n    refuse({name!r})\n", space)
        function.__code__, function.__defaults__, function.__kwdefaults__ = space["blocked"].__code__, None, None


def remembered() -> Callable[[], None]:
    """Remember the modules that observe an answer as they are; what is returned puts them back, whatever a cell has made of them."""
    modules = [
        (module, dict(vars(module))) for name, module in list(sys.modules.items()) if name.startswith(OBSERVERS) and module is not None
    ]
    classes = [
        (value, dict(vars(value)))
        for _, space in modules
        for value in space.values()
        if isinstance(value, type) and value.__module__.startswith(OBSERVERS)
    ]
    spaces = [space for _, space in modules] + [space for _, space in classes]
    functions = {
        id(f): (f, f.__code__, f.__defaults__, f.__kwdefaults__)
        for space in spaces
        for value in space.values()
        if isinstance(f := getattr(value, "__func__", value), types.FunctionType) and str(f.__module__).startswith(OBSERVERS)
    }

    def put_back() -> None:
        for module, space in modules:
            vars(module).update(space)
        for owner, space in classes:
            for name, value in space.items():
                if isinstance(value, (types.FunctionType, classmethod, staticmethod, property)) and vars(owner).get(name) is not value:
                    setattr(owner, name, value)
        for function, code, defaults, keywords in functions.values():
            function.__code__, function.__defaults__, function.__kwdefaults__ = code, defaults, keywords

    return put_back
