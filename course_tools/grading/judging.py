"""The judge of one exercise: draws its cases, and reads what the worker reports of them. Runs no submitted code."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Sequence
from functools import cache, lru_cache

import torch

from course_checks import engine
from course_checks.case import Case
from course_checks.exercise import Exercise, FunctionExercise, ModuleExercise, Prediction
from course_checks.judge import judge
from course_checks.known import Known
from course_checks.lookup import find
from course_checks.panel import CheckResult
from course_checks.sentences import too_long
from course_checks.shortcuts import HIDING
from course_utils.mine import whole

from . import wire
from .copies import is_copy
from .helper_text import helper_text
from .marks import Limits, Mark, failed, mark_of, places
from .messages import Report, Task
from .package_copy import OPEN_PACKAGES
from .reply import Reply, read_reply

_MINE = re.compile(r"""\bmine\(\\?["'](\d\d[a-z]?\.\d+)""")  # in a notebook's JSON
LIMIT = 10.0  # seconds for the answer itself, as in a notebook's check


def seeds_for(exercise: Exercise, secret: str) -> tuple[int, ...]:
    """Draws of this run: fresh for every run, the same for every student, unknown to the submissions."""
    base = int.from_bytes(hashlib.sha256(f"{secret}:{exercise.id}".encode()).digest()[:4], "big") % 2**30
    return (base,) if isinstance(exercise, Prediction) else tuple(base + i for i in range(engine.DRAWS))


@cache
def cases_for(exercise_id: str, secret: str) -> list[Case]:
    """The cases of this run."""
    exercise = find(exercise_id)
    return exercise.cases(seeds_for(exercise, secret))


@lru_cache(maxsize=64)  # of exercises: some 3 MB each
def known_of(exercise_id: str, secret: str) -> Known:
    """What this run has found out of an exercise's cases: the oracle's results, what misconceptions do. It serves the whole class."""
    return Known()


def versions_for(exercise: Exercise, notebook: bytes) -> dict[str, tuple[str, str]]:
    """The course's version of what a notebook asks ``mine`` for, to be run inside; none of the chapter, or companion, that is graded."""
    found: dict[str, tuple[str, str]] = {}
    for key in set(_MINE.findall(notebook.decode("utf-8", "replace"))):
        with contextlib.suppress(LookupError):
            given = find(key).reference
            if key in whole.course_parts() and places()[key] != places()[exercise.id]:
                found[key] = (find(key).name, whole.by_itself(key))
            elif getattr(given, "__module__", "").startswith("course_utils."):
                found[key] = (given.__name__, f"from {given.__module__} import {given.__name__}")
    return found


def task_for(
    exercise: Exercise,
    secret: str,
    limits: Limits,
    everything: bool = False,
    notebook: bytes = b"",
    helpers: Sequence[str] = (),
    unknown: str = "",
) -> Task:
    """What the worker is asked to do; with ``everything`` it runs all cells above the exercise's check, unless none mentions the
    ``unknown`` name. In place of the answers to ``helpers`` it takes the course's."""
    cases = [(case.args, case.gradients) for case in cases_for(exercise.id, secret)]
    return Task(
        exercise=exercise.id,
        kind=exercise.kind,
        forbidden=off_limits(exercise),
        cases=cases,
        limit=LIMIT,
        seconds=limits.timeout,
        size=limits.result,
        everything=everything,
        versions=versions_for(exercise, notebook),
        helpers={helper: (find(helper).name, helper_text(helper)) for helper in helpers},
        unknown=unknown,
    )


def off_limits(exercise: Exercise) -> tuple[str, ...]:
    """Names forbidden while an answer runs: those of the exercise, and the course's own version of it."""
    module, name = getattr(exercise.reference, "__module__", ""), getattr(exercise.reference, "__qualname__", "")
    inside = tuple(f"course_utils.{package}." for package in OPEN_PACKAGES)
    ours = isinstance(exercise, FunctionExercise) and module.startswith(inside) and name.isidentifier()
    own = (f"{module}.{name}",) if ours and f"{module}.{name}" not in exercise.forbidden else ()
    return (*exercise.forbidden, *own)


def judge_report(exercise: Exercise, secret: str, report: Report, limits: Limits) -> Mark:
    """The mark for what the worker sent back for one exercise."""
    if report.ended == "time":
        message = f"Stopped after {limits.timeout:g} s, and it could not be interrupted. Is there a loop that never ends?"
        return failed(exercise, "raised", message, "endless loop")
    if report.ended == "size":
        return failed(exercise, "type", f"The result holds more than {limits.result / 2**20:.0f} MB.", "result far too large")
    if report.ended == "forged":
        return failed(exercise, "raised", "Something other than the observer wrote into the channel of the results.", "tampering")
    if report.ended != "done":
        message = f"The program ended itself before it could be observed ({report.ended[:40]})."
        return failed(exercise, "raised", message, "stopped by itself")
    try:
        reply = read_reply(report.reply, (*off_limits(exercise), *HIDING))
    except (wire.ProtocolError, KeyError, TypeError, ValueError):
        return failed(exercise, "raised", "What came back is not an observation.", "tampering")
    mark = _judged(exercise, secret, reply) if reply.status == "observed" else _unobserved(exercise, reply)
    mark.copied = is_copy(reply.likeness, exercise)
    if not mark.passed:
        mark.notes += [
            f"cell {p.cell + 1}, which this answer needs, stopped with {p.type}: {p.message}"[:300]
            for p in reply.problems[:3]
            if not p.answer
        ]
    return mark


def _unobserved(exercise: Exercise, reply: Reply) -> Mark:
    """The mark of an answer that did not come to be observed."""
    name = exercise.name
    if reply.status == "time":
        return failed(exercise, "raised", too_long(LIMIT, reply.number, reply.line, exercise.kind), "endless loop")
    if reply.status == "wrong kind":
        asked = "class" if isinstance(exercise, ModuleExercise) else "function"
        return failed(exercise, "type", f"`{name}` is a {reply.line}; the exercise asks for a {asked}.", "redefined name")
    if reply.status == "ours":
        message = f"`{name}` is the course's own version, imported. Write your own."
        return failed(exercise, "forbidden shortcut", message, "forbidden shortcut")
    own = next((problem for problem in reply.problems if problem.answer), None)
    if own is None:
        return failed(exercise, "not attempted", f"The cell does not define `{name}`.")
    message = f"Your cell stopped with {own.type}: {own.message} at the line `{own.line}`, before `{name}` was defined."
    return failed(exercise, "raised", message, "endless loop" if own.type == "TimeoutError" else None)


def _judged(exercise: Exercise, secret: str, reply: Reply) -> Mark:
    """The mark of what was observed."""
    cases = cases_for(exercise.id, secret)
    if not reply.seen or (len(reply.seen) != len(cases) and reply.seen[0].status not in ("blank", "forbidden")):
        return failed(exercise, "raised", "What came back is not an observation of every case.", "tampering")
    try:
        with torch.random.fork_rng(devices=[]):
            verdict = judge(exercise, cases, reply.seen, known_of(exercise.id, secret))
        mark = mark_of(CheckResult.judged(exercise, verdict, None, seeds_for(exercise, secret), cases))
        mark.claim = str(reply.seen[0].value["source"])[:5_000] if exercise.kind == "claim" and mark.passed else ""
        return mark
    except Exception as error:
        message = (
            f"What came back cannot be judged ({type(error).__name__}: {str(error)[:100]}): it does not "
            "look like what the observer of this exercise writes."
        )
        mark = failed(exercise, "raised", message, "not an observation")
        mark.unjudged = True
        return mark
