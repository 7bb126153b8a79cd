"""Run an answer on a case and write down, as inert data, what happened.

This is the only module that executes a learner's code. It knows no oracle and no twin, so the same
function serves the notebook and a sandbox: an observation consists of plain tensors, numbers, strings, None, lists and
dicts of limited size, and nothing else crosses.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import inspect
import io
import linecache
import random
import sys
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from .exercise import CALLABLES, Registered
from .inert import float_tensors, inert, kind_of
from .limits import TimeIsUp
from .shortcuts import ForbiddenShortcut, Watchman, forbid

PRINTED = 2_000  # characters of an answer's output that are kept


class _Notepad(io.StringIO):
    """Keeps the first characters written to it and drops the rest: a printing loop must not eat the memory."""

    def write(self, text: str) -> int:
        room = PRINTED - self.tell()
        if room > 0:
            super().write(text[:room])
        return len(text)


@dataclass
class Surroundings:
    """What is kept while an answer runs: its printed text, and the forbidden names it called."""

    notes: _Notepad = field(default_factory=_Notepad)
    used: list[str] = field(default_factory=list)
    watchman: Watchman | None = None


@contextlib.contextmanager
def neutral_torch() -> Iterator[None]:
    """Float32 on the CPU with gradients, whatever the learner has set; and their settings back afterwards."""
    dtype = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.inference_mode(False), torch.enable_grad(), torch.autocast("cpu", enabled=False), torch.device("cpu"):
            yield
    finally:
        torch.set_default_dtype(dtype)


@contextlib.contextmanager
def surroundings(answer: Any, forbidden: tuple[str, ...] = ()) -> Iterator[Surroundings]:
    """Catch prints and warnings, forbid shortcuts, fix the random state; put everything back at the end.

    Entered in the thread that waits, not in the one that works: an answer that has to be abandoned must not keep
    the notebook's output and PyTorch's functions with it.
    """
    state = random.getstate()
    numpy = sys.modules.get("numpy")
    numpy_state = numpy.random.get_state() if numpy else None
    around = Surroundings()
    with (contextlib.redirect_stdout(around.notes), contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings(),
          torch.random.fork_rng(devices=[]), neutral_torch(), forbid(forbidden, _namespaces(answer), around.used) as watchman):
        warnings.simplefilter("ignore")
        torch.default_generator.manual_seed(0)
        around.watchman = watchman
        try:
            yield around
        finally:
            random.setstate(state)
            if numpy:
                numpy.random.set_state(numpy_state)


def _prepare(value: Any) -> Any:
    """A copy to hand over: same numbers, same strides, so that a non-contiguous case stays one."""
    if isinstance(value, torch.Tensor):
        if 0 in value.stride() and value.numel() > 1:
            return value.clone()
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype).copy_(value)
    if isinstance(value, Registered):
        return CALLABLES[value.name]
    if isinstance(value, dict):
        return {key: _prepare(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_prepare(item) for item in value]
    return copy.deepcopy(value)


def _equal(left: Any, right: Any) -> bool:
    """Whether an input is still what it was; NaN equals NaN only."""
    if isinstance(left, torch.Tensor):
        if not isinstance(right, torch.Tensor) or left.shape != right.shape or left.dtype != right.dtype:
            return False
        return torch.allclose(left.detach().double(), right.detach().double(), rtol=0, atol=0, equal_nan=True)
    if isinstance(left, dict):
        return isinstance(right, dict) and left.keys() == right.keys() and all(_equal(left[k], right[k]) for k in left)
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(_equal, left, right))
    return left is right or bool(left == right)


def _functions(answer: Any) -> list[Any]:
    """The Python functions an answer consists of: itself, the methods of a class, what a wrapper or a closure holds."""
    found, todo = [], [answer]
    while todo and len(found) < 50:
        item = todo.pop()
        if any(item is other for other in found):
            continue
        if isinstance(item, type):
            todo += [v for v in vars(item).values() if callable(v)]
        elif hasattr(item, "__code__"):
            found.append(item)
            held = [*inspect.getclosurevars(item).nonlocals.values(), *(item.__defaults__ or ())]
            todo += [v for v in held if callable(v) and hasattr(v, "__code__")]
            todo += [item.__wrapped__] if hasattr(item, "__wrapped__") else []
        elif hasattr(item, "func"):
            todo.append(item.func)  # functools.partial
        elif inspect.isfunction(vars(type(item)).get("__call__")):
            todo.append(vars(type(item))["__call__"])
    return found


def _namespaces(answer: Any) -> list[dict[str, Any]]:
    """The globals an answer looks names up in."""
    spaces = {id(f.__globals__): f.__globals__ for f in _functions(answer) if hasattr(f, "__globals__")}
    return list(spaces.values())


def own_line(error: BaseException, answer: Any) -> tuple[int | None, str]:
    """Number and text of the deepest line of the traceback that lies in the learner's own code."""
    files = {f.__code__.co_filename for f in _functions(answer)}
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename in files or "ipykernel" in frame.filename or "ipython-input" in frame.filename:
            return frame.lineno, linecache.getline(frame.filename, frame.lineno or 0).strip()[:200]
    return None, ""


def _hidden_name(error: BaseException, answer: Any) -> str:
    """A built-in or library name the learner has overwritten, when that explains the error."""
    if not isinstance(error, (TypeError, AttributeError)):
        return ""
    used = {name for f in _functions(answer) for name in f.__code__.co_names}
    for space in _namespaces(answer):
        for name in sorted(used & set(space)):
            if hasattr(builtins, name) and not callable(space[name]):
                return name
            if name in ("torch", "math", "nn", "F", "np") and not hasattr(space[name], "__name__"):
                return name
    return ""


def _describe(error: BaseException, answer: Any) -> dict[str, Any]:
    number, line = own_line(error, answer)
    try:
        message = str.__str__(str(error))[:500]
    except Exception:
        message = "(an error without a readable message)"
    return {"type": type(error).__name__, "message": message, "number": number, "line": line,
            "hidden": _hidden_name(error, answer), "classes": [c.__name__ for c in type(error).__mro__]}


def _build(answer: Any, args: dict[str, Any]) -> tuple[Any, dict[str, Any] | None]:
    """Construct a learner's module and load the case's parameters; returns it, or what stands in the way."""
    module = answer(**args["init"])
    wanted = args["parameters"]
    if not isinstance(module, torch.nn.Module):
        return None, {"problem": "not a module"}
    own = dict(module.named_parameters())
    if set(own) != set(wanted):
        return None, {"problem": "names", "missing": sorted(set(wanted) - set(own)), "extra": sorted(set(own) - set(wanted))}
    for name, tensor in wanted.items():
        if own[name].shape != tensor.shape:
            return None, {"problem": "sizes", "name": name, "got": str(tuple(own[name].shape)), "want": str(tuple(tensor.shape))}
    with torch.no_grad():
        for name, tensor in wanted.items():
            own[name].copy_(tensor)
    return module.eval() if args.get("mode") == "eval" else module, None


def _gradients(value: Any, leaves: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    tensors = [leaves.get(name) for name in names]
    if any(t is None for t in tensors):
        return dict.fromkeys(names)
    return {name: inert(grad) for name, grad in zip(names, backward(value, tensors), strict=True)}


def backward(value: Any, tensors: list[torch.Tensor]) -> tuple[torch.Tensor | None, ...]:
    """Gradients of all floating results together; None where nothing can be followed back."""
    outputs = [t for t in float_tensors(value) if t.requires_grad]
    if not outputs:
        return (None,) * len(tensors)
    directions = [cotangent(t.shape).to(t.dtype) for t in outputs]
    return torch.autograd.grad(outputs, tensors, directions, allow_unused=True)


def cotangent(shape: torch.Size) -> torch.Tensor:
    """A fixed, uneven direction for the backward pass: a plain sum would hide mistakes that cancel over a row."""
    steps = torch.arange(1, shape.numel() + 1, dtype=torch.float32)
    return torch.sin(steps * 1.7).reshape(shape)


def observe(kind: str, answer: Any, case_args: dict[str, Any], gradients: tuple[str, ...] = (),
            around: Surroundings | None = None) -> dict[str, Any]:
    """What ``answer`` does on one case, as inert data.

    ``kind`` is function, module or value. Keys of the result: ``status`` (ok, blank, raised, forbidden), ``type``, ``value``,
    ``module`` (why a module could not be used), ``gradients``, ``printed``, ``changed`` (inputs that were modified), ``error``.
    """
    around = around or Surroundings()
    around.notes.seek(0)
    around.notes.truncate()
    seen: dict[str, Any] = {"status": "ok", "type": "", "value": None, "module": None, "gradients": {}, "printed": "",
                            "changed": [], "error": None}
    if kind == "value":
        return {**seen, "type": kind_of(answer), "value": inert(answer)}
    args = {name: _prepare(value) for name, value in case_args.items()}
    inputs = args["inputs"] if kind == "module" else args
    leaves: dict[str, Any] = {}
    for name in gradients:
        if isinstance(inputs.get(name), torch.Tensor):
            leaves[name] = inputs[name].requires_grad_(True)
            inputs[name] = _prepare(leaves[name])  # not a leaf: an in-place change is then found by comparing, not by autograd
    handed = dict(inputs)
    before = {name: _prepare(v) for name, v in inputs.items() if isinstance(v, (torch.Tensor, list, dict))}
    try:
        with around.watchman or contextlib.nullcontext():
            if kind == "module":
                module, seen["module"] = _build(answer, args)
                if seen["module"] is None:
                    leaves.update(module.named_parameters())
                    value = module(**inputs)
            else:
                value = answer(**inputs)
            if seen["module"] is None:
                seen.update(type=kind_of(value), value=inert(value))
                if gradients:
                    seen["gradients"] = _gradients(value, leaves, gradients)
    except TimeIsUp:
        raise
    except ForbiddenShortcut:
        pass  # noted in around.used
    except BaseException as error:
        described = _describe(error, answer)
        blank = isinstance(error, NotImplementedError) and not described["message"]  # torch raises it too, with a message
        seen.update(status="blank" if blank else "raised", error=described)
    if around.used:
        seen.update(status="forbidden", error={"message": around.used[0]})
    seen["printed"] = around.notes.getvalue()
    seen["changed"] = [name for name, old in before.items() if not _equal(old, handed[name])]
    return seen
