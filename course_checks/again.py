"""Call an answer again, to find what is kept between calls and what is left to chance. Like ``observe``, it runs a learner's code."""

import contextlib
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from .kinds import KINDS
from .limits import TimeIsUp
from .observation import Again, Observation
from .observe import Asked, Recorder, limited, observe, prepare
from .own_code import describe
from .plain_data import plain_data
from .shortcuts import ForbiddenShortcut

MOST_AGAIN = 4  # cases, alike but for their inputs, that are called again


def observe_again(
    kind: str, answer: Any, cases: Asked, forbidden: tuple[str, ...], limit: float, seen: list[Observation], changed: bool = True
) -> list[Observation]:
    """What was ``seen`` by :func:`observe_all`, with what later calls did differently on the same cases, and on ``changed`` ones."""
    seen = list(seen)
    if KINDS[kind].again and len(seen) == len(cases):
        limited(lambda recorder: _call_again(kind, answer, cases, seen, recorder, changed), answer, forbidden, limit)
    return seen


def _same_again(left: Any, right: Any) -> bool:
    """Whether two plain results are one, but for rounding."""
    if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
        return left.shape == right.shape and torch.allclose(left.double(), right.double(), rtol=1e-5, atol=1e-6, equal_nan=True)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same_again, left, right))
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-6, abs_tol=1e-9) or left != left and right != right
    return type(left) is type(right) and (left == right)


def _call_again(kind: str, answer: Any, cases: Asked, seen: list[Observation], recorder: Recorder, changed: bool) -> None:
    """Call an answer on the cases that fit it, one after the other, then on the first again; what differs is noted in ``seen``."""
    sort, arguments = KINDS[kind], [args for args, _ in cases]
    groups: dict[str, list[int]] = {}
    for i, observation in enumerate(seen):
        if observation.status == "ok" and observation.module is None and arguments[i].get("inputs", {}) is not None:
            groups.setdefault(sort.likeness(arguments[i]), []).append(i)
    for indices in groups.values():
        opened, first, indices = None, indices[0], indices[:MOST_AGAIN]
        order = [first, *indices[:2], *indices[1:]] if sort.repeats_first else indices
        turns = [*((i, False) for i in [*order, first]), *([(first, True)] if sort.fixed_mode(arguments) else [])]
        for i, evaluated in turns:
            args = {name: prepare(value) for name, value in arguments[i].items()} | ({"mode": "eval"} if evaluated else {})
            try:
                with recorder.guard or contextlib.nullcontext():
                    opened = sort.open(answer, args) if opened is None else opened
                    sort.load(opened, args)
                    later = _another_call(sort.called(opened, args), sort.inputs(arguments[i]), seen[i].value)
            except (TimeIsUp, ForbiddenShortcut):
                raise
            except Exception as error:
                later = {"error": describe(error, answer)}
            if later and seen[i].again is None:
                seen[i] = replace(seen[i], again=Again(**later, evaluated=evaluated))
    if groups and changed:
        _change_inputs(kind, answer, cases, seen, next(iter(groups.values())), recorder)


def _another_call(called: Any, given: dict[str, Any], before: Any) -> dict[str, Any]:
    """What a later call does differently from the one ``before``; empty when nothing. Several random states are tried."""
    values: list[Any] = []
    for seed in (1, 0, 1, 0):
        torch.default_generator.manual_seed(seed)
        values.append(plain_data(called(**{name: prepare(value) for name, value in given.items()})))
        if _same_again(values[-1], before):
            break
    other = [value for value in values if not _same_again(value, before)]
    # each state of the random numbers has a result of its own, again and again
    drawn = len(values) == 4 and all(_same_again(values[k], values[k + 2]) for k in (0, 1))
    random = len(values) == 2 or drawn and not _same_again(*values[:2])
    return {"value": other[0], "random": random} if other else {}


def _change_inputs(kind: str, answer: Any, cases: Asked, seen: list[Observation], indices: list[int], recorder: Recorder) -> None:
    """Note at the first of some cases which inputs can be changed without any effect there and in the next ones."""
    left: dict[str, None] | None = None
    for i in indices[:MOST_AGAIN]:
        asked = [(name, args) for name, args in changes(kind, cases, i) if left is None or name in left]
        others = [(name, observe(kind, answer, args, (), recorder)) for name, args in asked]
        moved = {name for name, other in others if other.status == "ok" and not _same_again(other.value, seen[i].value)}
        left = dict.fromkeys(name for name, other in others if other.status == "ok") if left is None else left
        left = {name: None for name in left if name not in moved}
    if all(_finite(seen[i].value) for i in indices):  # where all is NaN nothing moves
        seen[indices[0]] = replace(seen[indices[0]], ignored=tuple(left or ()))


def _finite(value: Any) -> bool:
    """Whether all numbers of a plain result are finite."""
    if isinstance(value, list):
        return all(map(_finite, value))
    return not isinstance(value, (float, torch.Tensor)) or bool(torch.as_tensor(value).isfinite().all())


def changes(kind: str, cases: Asked, index: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """The arguments of a case with one of them changed, in up to two ways each, and its name, one after the other."""
    args = cases[index][0]
    for group in KINDS[kind].groups:
        given = args[group] if group else args
        others = [(case.get(group) or {}) if group else case for case, _ in cases]
        for name, value in given.items():
            for other in _others(value, [other.get(name) for other in others]):
                yield name, {**args, group: {**given, name: other}} if group else {**args, name: other}


def _others(value: Any, elsewhere: list[Any]) -> list[Any]:
    """Up to two other values for an argument; numbers come from the other cases where they can."""
    if isinstance(value, torch.Tensor):
        if value.numel() < 2:
            return []
        uneven = torch.linspace(-1, 1, value.numel()).reshape(value.shape)
        if value.dtype is torch.bool:
            return [~value]
        return [1.3 * value + uneven, uneven] if value.is_floating_point() else [value.roll(1, -1), (value + 1) % (value.max() + 1)]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, (int, float)):
        return [*dict.fromkeys(other for other in elsewhere if type(other) is type(value) and other != value)][:2] or [value + 1]
    return [value[::-1]] if isinstance(value, list) else []
