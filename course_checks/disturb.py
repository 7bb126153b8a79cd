"""Which change of the input would make a wrong result right: an argument that is not used, one row used for all, two exchanged."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator
from typing import Any

import torch

from .case import Case
from .compare import same
from .exercise import Exercise

Change = tuple[str, str, dict[str, Any]]  # the mistake, the sentence, the changed arguments


def explained_by_an_input(exercise: Exercise, cases: list[Case], case: Case, got: Any, expected: Any) -> tuple[str, str] | None:
    """Mistake and sentence, when the oracle gives ``got`` for a changed input and ``expected`` for none of those changes."""
    if got is None or not exercise.runs:
        return None
    for mistake, sentence, args in _changes(exercise, cases, case):
        value = answer_to(exercise, args)
        if value is not None and alike(exercise, got, value) and not alike(exercise, expected, value):
            return mistake, sentence
    return None


def answer_to(exercise: Exercise, args: dict[str, Any]) -> Any:
    """The right result for arguments that somebody has changed; None where they are no input any more."""
    try:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            return exercise.oracle_on(args)
    except Exception:
        return None


def alike(exercise: Exercise, one: Any, two: Any) -> bool:
    plain = [list(item) if isinstance(item, tuple) else item for item in (one, two)]
    return same(exercise, *plain)


def _changes(exercise: Exercise, cases: list[Case], case: Case) -> Iterator[Change]:
    """Changed versions of a case's arguments, with what each would mean."""
    for group in exercise.groups:
        given = (case.args.get(group) or {}) if group else case.args
        others = [(c.args.get(group) or {}) if group else c.args for c in cases]
        for mistake, sentence, changed in _of_one_group(exercise, given, others):
            yield mistake, sentence, {**case.args, group: {**given, **changed}} if group else {**given, **changed}


def _of_one_group(exercise: Exercise, given: dict[str, Any], others: list[dict[str, Any]]) -> Iterator[Change]:
    optional = {name for name, parameter in _parameters(exercise.reference) if parameter.default is None}
    for name, value in given.items():
        if value is not None and name in optional:
            yield f"as if without `{name}`", f"Here your result is what comes without `{name}`: does it have any effect?", {name: None}
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            for other in dict.fromkeys(o[name] for o in others if isinstance(o.get(name), (int, float)) and o[name] != value):
                yield (
                    f"as if `{name}` were {other:g}",
                    f"Here `{name}` is {value:g}, and your result is the right one for {other:g}. Is "
                    "it counted wrongly, cut off, or a number written out?",
                    {name: other},
                )
        if isinstance(value, torch.Tensor) and value.dim() and len(value) > 1:
            first = value[:1].expand_as(value).clone()
            if not torch.equal(first, value):
                yield (
                    f"as if the rows of `{name}` were alike",
                    f"Here your result is the right one for a `{name}` with every row like its first one.",
                    {name: first},
                )
        if isinstance(value, torch.Tensor) and value.dtype is torch.bool:
            yield "mask turned round", f"Here your result is the right one for `{name}` with True and False exchanged.", {name: ~value}
    tensors = [(name, value) for name, value in given.items() if isinstance(value, torch.Tensor)]
    for (one, left), (two, right) in itertools.combinations(tensors, 2):
        if left.shape == right.shape and left.dtype == right.dtype:
            yield "two arguments exchanged", f"Your result is the right one with `{one}` and `{two}` exchanged.", {one: right, two: left}


def _parameters(reference: Any) -> list[tuple[str, inspect.Parameter]]:
    """The parameters of a function, or of a module's constructor and forward."""
    found: list[tuple[str, inspect.Parameter]] = []
    for function in [getattr(reference, name) for name in ("__init__", "forward")] if isinstance(reference, type) else [reference]:
        try:
            found += list(inspect.signature(function).parameters.items())
        except (TypeError, ValueError):
            continue
    return found
