"""Call an answer again, to find what is kept between calls and what is left to chance. Like ``observe``, it runs a learner's code."""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace
from typing import Any

import torch

from .limits import TimeIsUp
from .observation import Again, Observation
from .observe import Recorder, limited, load, prepare
from .own_code import describe
from .plain_data import plain_data
from .shortcuts import ForbiddenShortcut

MOST_AGAIN = 4  # cases, alike but for their inputs, that are called again


def observe_again(kind: str, answer: Any, cases: list[tuple[dict[str, Any], tuple[str, ...]]], forbidden: tuple[str, ...],
                  limit: float, seen: list[Observation]) -> list[Observation]:
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


def _call_again(kind: str, answer: Any, cases: list[tuple[dict[str, Any], tuple[str, ...]]], seen: list[Observation],
                recorder: Recorder) -> None:
    """Call functions, and modules that fit several cases, on those cases one after the other, then on the first once more.

    What comes out differently than in the first, separate call is noted in ``seen``.
    """
    groups: dict[str, list[int]] = {}
    for i, observation in enumerate(seen):
        if observation.status == "ok" and observation.module is None:
            args = cases[i][0]
            key = f"{args['init']} {[(name, tuple(t.shape)) for name, t in args['parameters'].items()]}" if kind == "module" else ""
            groups.setdefault(key, []).append(i)
    for indices in groups.values():
        function, indices = answer, indices[:MOST_AGAIN]
        order = indices[:1] + indices[:2] + indices[1:] if kind == "module" else indices  # the first two twice in a row
        for i in [*order, indices[0]]:
            args = {name: prepare(value) for name, value in cases[i][0].items()}
            later: dict[str, Any] = {}
            try:
                with recorder.guard or contextlib.nullcontext():
                    if kind == "module":
                        function = answer(**args["init"]) if function is answer else function
                        load(function, args)
                    for seed in (1, 0):
                        torch.default_generator.manual_seed(seed)
                        inputs = {name: prepare(v) for name, v in (cases[i][0]["inputs"] if kind == "module" else cases[i][0]).items()}
                        value = plain_data(function(**inputs))
                        if _same_again(value, seen[i].value):
                            later.update(random=seed == 0)
                            break
                        later.setdefault("value", value)
            except (TimeIsUp, ForbiddenShortcut):
                raise
            except Exception as error:
                later.update(error=describe(error, answer))
            if ("value" in later or "error" in later) and seen[i].again is None:
                seen[i] = replace(seen[i], again=Again(**later))
