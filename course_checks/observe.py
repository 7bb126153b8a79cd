"""Run an answer on a case and write down, as plain data, what happened.

This is the only module that executes a learner's code. It knows no oracle and no misconception, so the same functions serve the notebook
and a sandbox, and nothing but an :class:`.observation.Observation` crosses.
"""

import contextlib
import copy
import functools
import io
import random
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from .case import CALLABLES, Registered
from .kinds import KINDS, Function
from .limits import Abandoned, TimeIsUp, run_with_limit
from .observation import Error, Observation
from .own_code import describe, namespaces_of, own_line
from .plain_data import float_tensors, kind_of, plain_data
from .shortcuts import CallGuard, ForbiddenShortcut, forbid

Asked = list[tuple[dict[str, Any], tuple[str, ...]]]  # of every case: its arguments, and by which of them to differentiate
_multiply, _sum, _plain = torch.mul, torch.sum, torch._C.DisableTorchFunction  # kept here: an exercise may forbid the names
PRINTED = 2_000  # characters of an answer's output that are kept


class _FirstCharacters(io.StringIO):
    """Keeps the first characters written to it and drops the rest: a printing loop must not eat the memory."""

    def write(self, text: str) -> int:
        room = PRINTED - self.tell()
        if room > 0:
            super().write(text[:room])
        return len(text)


@dataclass
class Recorder:
    """What is kept while an answer runs: its printed text, and the forbidden names it called."""

    output: _FirstCharacters = field(default_factory=_FirstCharacters)
    used: list[str] = field(default_factory=list)
    guard: CallGuard | None = None


class TooLong(Exception):
    """An answer was stopped by the clock, in this line of its own code; or, ``abandoned``, it could not be stopped."""

    def __init__(self, number: int | None = None, line: str = "", abandoned: bool = False):
        super().__init__(number, line, abandoned)
        self.number, self.line, self.abandoned = number, line, abandoned


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
def recording(answer: Any, forbidden: tuple[str, ...] = ()) -> Iterator[Recorder]:
    """Catch prints and warnings, forbid shortcuts, fix the random state; put everything back at the end.

    Entered in the thread that waits, not in the one that works: an answer that has to be abandoned must not keep
    the notebook's output and PyTorch's functions with it.
    """
    state = random.getstate()
    numpy = sys.modules.get("numpy")
    numpy_state = numpy.random.get_state() if numpy else None
    recorder = Recorder()
    with (
        contextlib.redirect_stdout(recorder.output),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
        torch.random.fork_rng(devices=[]),
        neutral_torch(),
        forbid(forbidden, answer, namespaces_of(answer), recorder.used) as guard,
    ):
        warnings.simplefilter("ignore")
        torch.default_generator.manual_seed(0)
        recorder.guard = guard
        try:
            yield recorder
        finally:
            random.setstate(state)
            if numpy:
                numpy.random.set_state(numpy_state)


def prepare(value: Any) -> Any:
    """A copy to hand over: same numbers, same strides, so that a non-contiguous case stays one."""
    if isinstance(value, torch.Tensor):
        if 0 in value.stride() and value.numel() > 1:
            return value.clone()
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype).copy_(value)
    if isinstance(value, Registered):
        return CALLABLES[value.name]
    if isinstance(value, dict):
        return {key: prepare(item) for key, item in value.items()}
    if isinstance(value, list):
        return [prepare(item) for item in value]
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


def _counted(function: Any, name: str, calls: dict[str, int]) -> Any:
    """A function that notes in ``calls`` how often it is called."""

    @functools.wraps(function)
    def counting(*args: Any, **kwargs: Any) -> Any:
        calls[name] = calls.get(name, 0) + 1
        return function(*args, **kwargs)

    return counting


def _gradients(value: Any, leaves: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    if any(leaves.get(name) is None for name in names):
        return dict.fromkeys(names)
    groups = [leaves[name] if isinstance(leaves[name], tuple) else (leaves[name],) for name in names]  # a tuple: one matrix in parts
    grads = iter(backward(value, [tensor for group in groups for tensor in group]))
    found: dict[str, Any] = {}
    for name, group in zip(names, groups, strict=True):
        parts = [next(grads) for _ in group]
        rows = [torch.zeros_like(tensor) if part is None else part for part, tensor in zip(parts, group, strict=True)]
        found[name] = plain_data(parts[0] if len(parts) == 1 or not any(part is not None for part in parts) else torch.cat(rows))
    return found


def backward(value: Any, tensors: list[torch.Tensor]) -> tuple[torch.Tensor | None, ...]:
    """Gradients of all floating results together; None where nothing can be followed back."""
    outputs = [t for t in float_tensors(value) if t.requires_grad]
    if not outputs:
        return (None,) * len(tensors)
    with _plain():  # a sum for each result: for grad_outputs PyTorch would import all of sympy, half a second
        totals = [_sum(_multiply(t, cotangent(t.shape).to(t.dtype))) for t in outputs]
    return torch.autograd.grad(totals, tensors, allow_unused=True)


def cotangent(shape: torch.Size) -> torch.Tensor:
    """A fixed, uneven direction for the backward pass: a plain sum would hide mistakes that cancel over a row."""
    steps = torch.arange(1, shape.numel() + 1, dtype=torch.float32)
    return torch.sin(steps * 1.7).reshape(shape)


def observe(
    kind: str, answer: Any, case_args: dict[str, Any], gradients: tuple[str, ...] = (), recorder: Recorder | None = None
) -> Observation:
    """What ``answer`` does on one case, from a fixed random state, which it moves on; ``kind`` is a name in :data:`.kinds.KINDS`."""
    if kind == "value":
        return Observation(type=kind_of(answer), value=plain_data(answer))
    recorder = recorder or Recorder()
    recorder.output.seek(0)
    recorder.output.truncate()
    torch.default_generator.manual_seed(0)
    args = {name: prepare(value) for name, value in case_args.items()}
    inputs = KINDS[kind].inputs(args)
    calls: dict[str, int] = {}
    inputs.update({name: _counted(value, name, calls) for name, value in inputs.items() if isinstance(value, types.FunctionType)})
    leaves: dict[str, Any] = {}
    for name in gradients:
        if isinstance(inputs.get(name), torch.Tensor):
            leaves[name] = inputs[name].requires_grad_(True)
            inputs[name] = prepare(leaves[name])  # not a leaf: an in-place change is then found by comparing, not by autograd
    handed = dict(inputs)
    before = {name: prepare(v) for name, v in inputs.items() if isinstance(v, (torch.Tensor, list, dict))}
    seen: dict[str, Any] = {}
    try:
        with recorder.guard or contextlib.nullcontext():
            seen.update(_call(KINDS[kind], answer, args, inputs, leaves, gradients))
    except TimeIsUp:
        raise
    except ForbiddenShortcut:
        pass  # noted in recorder.used
    except BaseException as error:
        described = describe(error, answer)
        blank = isinstance(error, NotImplementedError) and not described.message  # torch raises it too, with a message
        seen.update(status="blank" if blank else "raised", error=described)
    if recorder.used:
        seen.update(status="forbidden", error=Error(message=recorder.used[0]))
    changed = tuple(name for name, old in before.items() if not _equal(old, handed[name]))
    return Observation(**seen, printed=recorder.output.getvalue(), changed=changed, calls=calls)


def _call(
    kind: Function, answer: Any, args: dict[str, Any], inputs: dict[str, Any], leaves: dict[str, Any], gradients: tuple[str, ...]
) -> dict[str, Any]:
    """Open the answer, load the case into it, call it: what an :class:`Observation` says of the result."""
    opened = kind.open(answer, args)
    if (start := kind.start(opened, args)) is not None:
        return {"type": "string", "value": start}
    if (problem := kind.problem(opened, args)) is not None:
        return {"module": problem, "value": _with_its_own_parameters(kind, opened, args, inputs)}
    leaves.update(kind.load(opened, args))
    value = kind.called(opened, args)(**inputs)
    seen = {"type": kind_of(value), "value": plain_data(value)}
    seen["attached"] = tuple(t.requires_grad for t in float_tensors(value))
    if gradients:
        seen["gradients"] = _gradients(value, leaves, gradients)
    return seen


def _with_its_own_parameters(kind: Function, module: Any, args: dict[str, Any], inputs: dict[str, Any]) -> Any:
    """What a module with the wrong parameters computes: it tells half a repair from none. None where it cannot run."""
    try:
        return plain_data(kind.called(module, args)(**inputs))
    except (TimeIsUp, ForbiddenShortcut):
        raise
    except Exception:
        return None


def observe_all(kind: str, answer: Any, cases: Asked, forbidden: tuple[str, ...], limit: float) -> list[Observation]:
    """Observe an answer on every case in ``limit`` seconds, else :class:`TooLong`; one that is blank or forbidden is not asked twice."""
    seen: list[Observation] = []

    def work(recorder: Recorder) -> None:
        for args, gradients in cases:
            seen.append(observe(kind, answer, args, gradients, recorder))
            if seen[0].status in ("blank", "forbidden"):
                break

    limited(work, answer, forbidden, limit)
    return seen


def limited(
    work: Callable[[Recorder], None], answer: Any, forbidden: tuple[str, ...], limit: float, since: Callable[[], float] | None = None
) -> None:
    """Run ``work`` with everything recorded; :class:`TooLong` when it takes more than ``limit`` seconds (from ``since()``)."""

    def inside() -> None:
        with neutral_torch():  # grad mode, autocast and default device belong to a thread
            work(recorder)

    try:
        with recording(answer, forbidden) as recorder:
            run_with_limit(inside, limit, since)
    except TimeIsUp as error:
        raise TooLong(*own_line(error, answer, stopped=True)) from None
    except Abandoned:
        raise TooLong(abandoned=True) from None
