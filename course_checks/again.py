"""Call an answer again, to find what is kept between calls and what is left to chance. Like ``observe``, it runs a learner's code."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from .limits import TimeIsUp
from .observation import Again, Observation
from .observe import Recorder, limited, load, observe, prepare
from .own_code import describe
from .plain_data import plain_data
from .shortcuts import ForbiddenShortcut

MOST_AGAIN = 4  # cases, alike but for their inputs, that are called again


def observe_again(
    kind: str,
    answer: Any,
    cases: list[tuple[dict[str, Any], tuple[str, ...]]],
    forbidden: tuple[str, ...],
    limit: float,
    seen: list[Observation],
) -> list[Observation]:
    """What was ``seen`` by :func:`observe_all`, with what later calls on the same cases did differently."""
    seen = list(seen)
    if kind != "value" and len(seen) == len(cases):
        limited(lambda recorder: _call_again(kind, answer, cases, seen, recorder), answer, forbidden, limit)
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


def _call_again(
    kind: str, answer: Any, cases: list[tuple[dict[str, Any], tuple[str, ...]]], seen: list[Observation], recorder: Recorder
) -> None:
    """Call functions, and modules that fit several cases, on those cases one after the other, then on the first once more.

    What comes out differently than in the first, separate call is noted in ``seen``.
    """
    groups: dict[str, list[int]] = {}
    for i, observation in enumerate(seen):
        if observation.status == "ok" and observation.module is None and cases[i][0].get("inputs", {}) is not None:
            args = cases[i][0]
            key = f"{args['init']} {[(name, tuple(t.shape)) for name, t in args['parameters'].items()]}" if kind == "module" else ""
            groups.setdefault(key, []).append(i)
    for indices in groups.values():
        function, indices = answer, indices[:MOST_AGAIN]
        order = indices[:1] + indices[:2] + indices[1:] if kind == "module" else indices  # the first two twice in a row
        once = kind == "module" and not any("mode" in args for args, _ in cases)  # then both modes must do the same
        for i, evaluated in [*((i, False) for i in [*order, indices[0]]), *([(indices[0], True)] if once else [])]:
            args = {name: prepare(value) for name, value in cases[i][0].items()} | ({"mode": "eval"} if evaluated else {})
            later: dict[str, Any] = {"evaluated": evaluated}
            try:
                with recorder.guard or contextlib.nullcontext():
                    if kind == "module":
                        function = answer(**args["init"]) if function is answer else function
                        load(function, args)
                    given, values = (cases[i][0]["inputs"] if kind == "module" else cases[i][0]), []
                    for seed in (1, 0, 1, 0):
                        torch.default_generator.manual_seed(seed)
                        values.append(plain_data(function(**{name: prepare(v) for name, v in given.items()})))
                        if _same_again(values[-1], seen[i].value):
                            break
                        later.setdefault("value", values[-1])
                    # each state of the random numbers has a result of its own, again and again
                    drawn = len(values) == 4 and all(_same_again(values[k], values[k + 2]) for k in (0, 1))
                    later.update(random=len(values) == 2 or drawn and not _same_again(*values[:2]))
            except (TimeIsUp, ForbiddenShortcut):
                raise
            except Exception as error:
                later.update(error=describe(error, answer))
            if ("value" in later or "error" in later) and seen[i].again is None:
                seen[i] = replace(seen[i], again=Again(**later))
    first = next((indices[0] for indices in groups.values()), None)
    if first is not None:
        others = [(name, observe(kind, answer, args, (), recorder)) for name, args in changes(kind, cases, first)]
        moved = {name for name, other in others if other.status == "ok" and not _same_again(other.value, seen[first].value)}
        ran = dict.fromkeys(name for name, other in others if other.status == "ok")
        seen[first] = replace(seen[first], ignored=tuple(name for name in ran if name not in moved))


def changes(kind: str, cases: list[tuple[dict[str, Any], tuple[str, ...]]], index: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """The arguments of a case with one of them changed, in up to two ways each, and its name, one after the other."""
    args = cases[index][0]
    for group in ("inputs", "parameters") if kind == "module" else ("",):
        given = args[group] if group else args
        others = [(case.get(group) or {}) if group else case for case, _ in cases]
        for name, value in given.items():
            if isinstance(value, torch.Tensor) and value.numel() > 1:
                uneven = torch.linspace(-1, 1, value.numel()).reshape(value.shape)
                new = (
                    [~value]
                    if value.dtype is torch.bool
                    else [1.3 * value + uneven, uneven]
                    if value.is_floating_point()
                    else [value.roll(1, -1)]
                )
            elif isinstance(value, bool):
                new = [not value]
            elif isinstance(value, (int, float)):
                new = [other[name] for other in others if type(other.get(name)) is type(value) and other[name] != value]
                new = [*dict.fromkeys(new)][:2] or [value + 1]
            elif isinstance(value, list):
                new = [value[::-1]]
            else:
                continue
            for other in new:
                yield name, {**args, group: {**given, name: other}} if group else {**args, name: other}
