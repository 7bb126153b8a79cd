"""The front door: find the exercise, run the answer under a limit, judge, show, remember."""

import os
import secrets
import time
from dataclasses import replace
from typing import Any

import torch

from course_utils.launcher.work import Work

from . import record as _record
from .again import observe_again
from .conventions import Convention, NoSuchConvention
from .exercise import Exercise
from .judge import judge
from .kept import asked, keep
from .known import Known
from .lookup import chapters, find, following
from .notebook import stopped_before_running
from .observe import TooLong, neutral_torch, observe_all
from .panel import CheckResult
from .repair import one_place
from .sentences import too_long

LIMIT = 10.0  # seconds a check waits for an answer
DRAWS = 3  # random draws per check
_MISSING = object()
_last: dict[str, CheckResult] = {}  # the latest verdict on each exercise in this session


class CheckFailed(AssertionError):
    """Raised under ``COURSE_STRICT=1`` by anything but full marks: solutions are built and tested that way."""


def check(
    exercise_id: str, answer: Any = _MISSING, *more: Any, seed: int | None = None, mask: str | None = None, layout: str | None = None
) -> CheckResult:
    """Check an answer, show the panel, return the result. Never raises for a learner.

    ``seed`` repeats the draws of an earlier check; the panel prints it when a draw fails. ``mask`` and ``layout`` name the convention of
    code from elsewhere, such as ``"True hides"`` (``conventions.md``): nothing of it is kept. ValueError for one that does not exist.
    """
    strict = os.environ.get("COURSE_STRICT") == "1"
    try:
        result = _checked(str(exercise_id), answer, more, seed, {"mask": mask, "layout": layout})
    except NoSuchConvention:
        raise
    except Exception as error:
        if strict:
            raise
        text = f"The check itself stumbled over this answer ({type(error).__name__}: {str(error)[:200]}). "
        text += "That is a fault of the course, not yours: please report it, with your cell."
        result = CheckResult.stray(str(exercise_id), "raised", text)
    result.show()
    if strict and not result.passed:
        raise CheckFailed(str(result))
    return result


def _checked(exercise_id: str, answer: Any, more: tuple[Any, ...], seed: int | None, named: dict[str, str | None]) -> CheckResult:
    try:
        exercise = find(exercise_id)
    except LookupError as error:
        return CheckResult.stray(exercise_id, "type", str(error))
    if more:
        text = f"check takes the exercise and one answer: check({exercise.id!r}, {exercise.name}). You passed {1 + len(more)} answers."
        return CheckResult.refused(exercise, "type", text)
    if exercise.runs and _is_ours(answer, exercise.reference):
        # The cell `f = check("…", f).use` puts our version under the learner's name: run twice, it would check ours.
        if exercise.id in _last:
            return _last[exercise.id].repeated(exercise.name)
        text = f"At the moment `{exercise.name}` is the course's own version: this cell put it there, so that later cells have something "
        return CheckResult.refused(exercise, "not attempted", text + "to go on with. Run your answer cell again, then this one.")
    asked.discard(exercise.id)
    result = examine(exercise, answer, seed, convention=(convention := Convention.named(exercise, **named)))
    if convention.foreign:  # later cells, and other chapters, know the course's convention alone
        note = f"Judged as code from elsewhere ({str(convention) or 'as it is'}), shown in the course's form. Nothing is kept."
        return replace(result, remarks=[*result.remarks, note], use=exercise.reference)
    if exercise.id in asked and result.passed:  # the answer fetched the course's version while it ran
        text = f'`mine("{exercise.id}")` is the answer to this exercise, so it is out of bounds here; other exercises of yours are welcome.'
        result = CheckResult.refused(exercise, "forbidden shortcut", text)
    _last[exercise.id] = result
    if note := stopped_before_running(exercise.name):
        result.remarks = [f"This is your `{exercise.name}` of before: {note}", *result.remarks]
    result.following = following(exercise) if result.passed else None
    note = _record.record(exercise.id, result.points, result.passed)
    if note := note or (keep(exercise, answer, result.seconds) if result.passed else ""):
        result.remarks = [*result.remarks, note]
    return result


def _is_ours(answer: Any, reference: Any) -> bool:
    """Whether an answer is the course's version, or a class that only adds to it."""
    return answer is reference or isinstance(answer, type) and isinstance(reference, type) and issubclass(answer, reference)


class Refused(Exception):
    """An answer that cannot be judged: the stage, the sentence for the learner, the mistake."""


def examine(
    exercise: Exercise, answer: Any = _MISSING, seed: int | None = None, known: Known | None = None, convention: Convention | None = None
) -> CheckResult:
    """Judge an answer without showing or remembering anything; ``known`` may be shared by checks of the same exercise and seed."""
    started = time.perf_counter()
    try:
        result = _run(exercise, answer, seed, known or Known(), convention or Convention(exercise))
    except Refused as refusal:
        result = CheckResult.refused(exercise, *refusal.args)
    result.seconds = time.perf_counter() - started
    return result


def _run(exercise: Exercise, answer: Any, seed: int | None, known: Known, convention: Convention) -> CheckResult:
    """Draw the cases, observe under the time limit, judge; :class:`Refused` when there is nothing to judge."""
    if answer is _MISSING:
        raise Refused("not attempted", f"Pass your answer as well: check({exercise.id!r}, {exercise.name}).")
    if (problem := exercise.problem_of(answer)) is not None:
        raise Refused("type", *problem)
    base = secrets.randbelow(10**6) if seed is None else int(seed) % 2**31
    seeds = tuple(base + i for i in range(DRAWS)) if exercise.runs else (base,)
    with neutral_torch(), torch.random.fork_rng(devices=[]):  # an oracle may build a layer
        cases = exercise.cases(seeds)
        try:
            called, forbidden = convention.around(answer), () if convention.foreign else exercise.forbidden
            asked = exercise.kind, called, [(case.args, case.gradients) for case in cases], forbidden, LIMIT
            began = time.perf_counter()
            seen = observe_all(*asked)
            took = time.perf_counter() - began
            verdict = judge(exercise, cases, seen, known)
            if verdict.unexplained:  # right so far, or wrong for no reason that is known: call it again
                verdict = judge(exercise, cases, observe_again(*asked, seen, verdict.finding is not None), known)
            found = verdict.finding
            told = convention.explains(answer, cases, verdict, known)
            if found is not None and verdict.unexplained and not told:
                place = one_place(exercise, answer, cases, found, took, verdict.refuses)
                found.mistake, found.hint = place or (found.mistake, found.hint)
        except TooLong as stopped:
            message = too_long(LIMIT, stopped.number, stopped.line, exercise.kind)
            if stopped.abandoned:
                message = f"No answer within {LIMIT:g} s, and the code cannot be interrupted: it goes on in the background. "
                message += "Restart the kernel (Kernel → Restart), then look for an endless loop."
            raise Refused("raised", message, "endless loop") from None
        except KeyboardInterrupt as stop:
            more = " It goes on in the background: restart the kernel (Kernel → Restart)." if stop.args else ""
            raise Refused("raised", f"You stopped the check before your code had finished.{more}") from None
        return CheckResult.judged(exercise, verdict, called, seeds, cases)


def progress(reset: str | bool = False, restart: str | None = None) -> _record.Progress:
    """The machine with the parts that are yours, the exercises done and what to try next, for display as the last line of a cell.

    ``reset="03"`` forgets the results of a chapter, ``reset=True`` all of them; the notebooks stay as they are, and the old results are
    kept in ``.course/progress.before_reset.json``. ``restart="03"`` puts a fresh copy of a chapter into ``work`` and keeps the old one.
    ValueError for a chapter without exercises, and where no fresh copy can be written.
    """
    if restart is not None:
        print(Work(_record.ROOT).begin_again(restart), "Where it is open, close it without saving and open it again.")
    if reset:
        known = chapters()
        if reset is not True and reset not in known:
            raise ValueError(f"reset={reset!r} is no chapter; choose one of {', '.join(known)}, or True for all")
        _record.reset(None if reset is True else reset)
    return _record.Progress.now()
