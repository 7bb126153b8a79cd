"""Whether an answer is the course's own text, compiled again: nobody loses a mark by it, but the report says so."""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import types
from functools import cache
from typing import Any

import course_utils
from course_checks.exercise import Exercise
from course_checks.lookup import find

from .likeness import likeness, share
from .package_copy import OPEN_PACKAGES

SMALLEST, SAME = 25, 0.85  # instructions of a version that can be told from others; how much of it stands in a copy
# Of 503 right answers in other words none shares more than 0.64 with a version that lies inside the sandbox.


def is_copy(own: list[int], exercise: Exercise) -> bool:
    """Whether most of a version that submissions can import stands in what was handed in."""
    return any(share(own, theirs) >= SAME for theirs in _versions(exercise.id))


@cache
def _versions(exercise_id: str) -> list[list[int]]:
    """The likeness of the course's version, and of every function or class of this name in the packages that lie inside."""
    exercise = find(exercise_id)
    things = {id(thing): thing for module in _modules() if (thing := getattr(module, exercise.name, None)) is not None}
    things[id(exercise.reference)] = exercise.reference
    prints = [likeness(thing) for thing in things.values() if _is_ours(thing)]
    return [one for one in prints if len(one) >= SMALLEST]


def _is_ours(thing: Any) -> bool:
    return str(getattr(thing, "__module__", "")).startswith("course_utils.")


@cache
def _modules() -> list[types.ModuleType]:
    found = []
    for package in OPEN_PACKAGES:
        folder = [f"{place}/{package}" for place in course_utils.__path__]
        for module in pkgutil.walk_packages(folder, f"course_utils.{package}."):
            with contextlib.suppress(ImportError):  # an optional library that is not installed
                found.append(importlib.import_module(module.name))
    return found
