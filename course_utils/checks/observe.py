"""Run an answer on a case and write down, as inert data, what happened.

This is the only module that executes a learner's code. It knows no oracle and no twin, so the same
function serves the notebook and a sandbox: an observation consists of tensors, numbers, strings, None, lists and
dicts, and nothing else crosses.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import io
import linecache
import numbers
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import torch

from .exercise import CALLABLES, Case, Registered
from .shortcuts import ForbiddenShortcut, forbid

PRINTED = 2_000  # characters of an answer's output that are kept


class _Notepad(io.StringIO):
    """Keeps the first characters written to it and drops the rest: a printing loop must not eat the memory."""

    def write(self, text: str) -> int:
        room = PRINTED - self.tell()
        if room > 0:
            super().write(text[:room])
        return len(text)


def inert(value: Any, depth: int = 0) -> Any:
    """A copy of ``value`` made of tensors, numbers, strings, None, lists and dicts."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().clone()
    if value is None or isinstance(value, (bool, str, bytes, int, float)):
        return value
    if type(value).__module__ == "numpy":
        return torch.as_tensor(value.copy()) if getattr(value, "shape", ()) else value.item()
    if depth < 4 and isinstance(value, (list, tuple)):
        return [inert(item, depth + 1) for item in value]
    if depth < 4 and isinstance(value, dict):
        return {str(key): inert(item, depth + 1) for key, item in value.items()}
    return {"object": kind_of(value)}


def kind_of(value: Any) -> str:
    """The type in a learner's words: ``tensor``, ``NumPy array``, ``tuple of 2`` …"""
    if isinstance(value, torch.Tensor):
        return "tensor"
    if value is None:
        return "None"
    if type(value).__module__ == "numpy":
        return "NumPy array" if getattr(value, "shape", ()) else "number"
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__} of {len(value)}"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, numbers.Number):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, type):
        return f"class {value.__name__}"
    if callable(value) and hasattr(value, "__name__"):
        return f"function {value.__name__}"
    return type(value).__name__


def _prepare(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.clone()  # clone() keeps the strides, so a non-contiguous case stays one
    if isinstance(value, Registered):
        return CALLABLES[value.name]
    return copy.deepcopy(value)


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, torch.Tensor):
        same = isinstance(right, torch.Tensor) and left.shape == right.shape and left.dtype == right.dtype
        return same and torch.equal(torch.nan_to_num(left.double()), torch.nan_to_num(right.double()))
    return left is right or left == right


def _namespaces(answer: Any) -> list[dict[str, Any]]:
    """The globals an answer looks names up in (a class: those of its methods)."""
    functions = [answer] if hasattr(answer, "__globals__") else []
    if isinstance(answer, type):
        functions = [item for item in vars(answer).values() if hasattr(item, "__globals__")]
    spaces = {id(f.__globals__): f.__globals__ for f in functions}
    return list(spaces.values())


def _own_line(error: BaseException, answer: Any) -> tuple[int | None, str]:
    """Number and text of the deepest line of the traceback that lies in the learner's own code."""
    files = set()
    for item in [answer, *(vars(answer).values() if isinstance(answer, type) else ())]:
        code = getattr(item, "__code__", None)
        if code is not None:
            files.add(code.co_filename)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename in files or "ipykernel" in frame.filename or "ipython-input" in frame.filename:
            return frame.lineno, linecache.getline(frame.filename, frame.lineno or 0).strip()
    return None, ""


def _hidden_builtin(error: BaseException, answer: Any) -> str:
    """A built-in or library name the learner has overwritten, when that explains the error."""
    if not isinstance(error, (TypeError, AttributeError)):
        return ""
    functions = [answer, *(vars(answer).values() if isinstance(answer, type) else ())]
    used = {name for f in functions if hasattr(f, "__code__") for name in f.__code__.co_names}
    for space in _namespaces(answer):
        for name in sorted(used & set(space)):
            value = space[name]
            if hasattr(builtins, name) and not callable(value):
                return name
            if name in ("torch", "math", "nn", "F", "np") and not hasattr(value, "__name__"):
                return name
    return ""


def _call(kind: str, answer: Any, args: dict[str, Any]) -> tuple[Any, dict[str, torch.Tensor]]:
    """Use the answer as its kind asks; returns the value and the tensors one may differentiate by."""
    if kind == "value":
        return answer, {}
    if kind == "function":
        return answer(**args), args
    module = answer(**args["init"])
    own = dict(module.named_parameters()) if isinstance(module, torch.nn.Module) else {}
    wanted = args["parameters"]
    problem = None
    if not isinstance(module, torch.nn.Module):
        problem = {"problem": "not a module"}
    elif set(own) != set(wanted):
        problem = {"problem": "names", "missing": sorted(set(wanted) - set(own)), "extra": sorted(set(own) - set(wanted))}
    else:
        sizes = {name: [list(own[name].shape), list(wanted[name].shape)] for name in own}
        wrong = {name: pair for name, pair in sizes.items() if pair[0] != pair[1]}
        problem = {"problem": "sizes", "sizes": wrong} if wrong else None
    if problem:
        return {"module": problem}, {}
    with torch.no_grad():
        for name, tensor in wanted.items():
            own[name].copy_(tensor)
    return module(**args["inputs"]), {**args["inputs"], **own}


def first_tensor(value: Any) -> torch.Tensor | None:
    """The first floating tensor in a result: the one a gradient is taken of."""
    if isinstance(value, torch.Tensor):
        return value if value.is_floating_point() else None
    if isinstance(value, (list, tuple)):
        return next((t for t in map(first_tensor, value) if t is not None), None)
    return None


def cotangent(shape: torch.Size) -> torch.Tensor:
    """A fixed, uneven direction for the backward pass: a plain sum would hide mistakes that cancel over a row."""
    steps = torch.arange(1, shape.numel() + 1, dtype=torch.float32)
    return torch.sin(steps * 1.7).reshape(shape)


def _gradients(value: Any, leaves: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    output = first_tensor(value)
    tensors = [leaves.get(name) for name in names]
    if output is None or not output.requires_grad or any(t is None for t in tensors):
        return dict.fromkeys(names)
    grads = torch.autograd.grad(output, tensors, cotangent(output.shape).to(output.dtype), allow_unused=True)
    return {name: inert(grad) for name, grad in zip(names, grads, strict=True)}


def observe(kind: str, answer: Any, case: Case, forbidden: tuple[str, ...] = ()) -> dict[str, Any]:
    """What ``answer`` does on ``case``, as inert data.

    Keys: ``status`` (ok, blank, raised, forbidden), ``type``, ``value``, ``gradients``, ``printed``, ``changed``
    (names of inputs that were modified), ``error`` (type, message, number and text of the line, hidden).
    """
    args = {name: _prepare(value) for name, value in case.args.items()}
    inputs = args["inputs"] if kind == "module" else args
    for name in case.gradients:
        if isinstance(inputs.get(name), torch.Tensor):
            inputs[name].requires_grad_(True)
    before = {name: _prepare(v) for name, v in inputs.items() if isinstance(v, (torch.Tensor, list, dict))}
    seen: dict[str, Any] = {"status": "ok", "type": "", "value": None, "gradients": {}, "printed": "", "changed": [],
                            "error": None}
    notes = _Notepad()
    with (contextlib.redirect_stdout(notes), contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings(),
          forbid(forbidden, _namespaces(answer)) as used):
        warnings.simplefilter("ignore")
        try:
            value, leaves = _call(kind, answer, args)
            seen.update(type=kind_of(value), value=inert(value))
            if case.gradients:
                seen["gradients"] = _gradients(value, leaves, case.gradients)
        except ForbiddenShortcut as error:
            seen.update(status="forbidden", error={"message": str(error)})
        except Exception as error:
            if isinstance(error, NotImplementedError) and not str(error):  # torch raises it too, with a message
                seen["status"] = "blank"
                return seen
            number, line = _own_line(error, answer)
            seen.update(status="raised", error={
                "type": type(error).__name__, "message": str(error)[:500], "number": number, "line": line,
                "hidden": _hidden_builtin(error, answer), "classes": [c.__name__ for c in type(error).__mro__]})
    if used:
        seen.update(status="forbidden", error={"message": used[0]})
    seen["printed"] = notes.getvalue()
    seen["changed"] = [name for name, old in before.items() if not _equal(old, inputs[name])]
    return seen


def observe_all(kind: str, answer: Any, cases: list[Case], forbidden: tuple[str, ...] = (),
                enough: Callable[[dict], bool] | None = None) -> list[dict[str, Any]]:
    """Observe every case, stopping early where ``enough(observation)`` says so (a blank answer, say)."""
    seen = []
    for case in cases:
        seen.append(observe(kind, answer, case, forbidden))
        if enough is not None and enough(seen[-1]):
            break
    return seen
