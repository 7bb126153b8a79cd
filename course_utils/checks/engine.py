"""The front door: find the exercise, run the answer under a limit, judge, show, remember."""

from __future__ import annotations

import difflib
import importlib
import os
import pkgutil
import re
import secrets
import sys
import time
from typing import Any

import torch

from . import record as _record
from .exercise import Case, Exercise
from .inert import kind_of
from .judge import Verdict, judge
from .limits import Abandoned, TimeIsUp, run_with_limit
from .observe import Surroundings, neutral_torch, observe, own_line, surroundings
from .panel import CheckResult

LIMIT = 10.0  # seconds a check waits for an answer
DRAWS = 3  # random draws per check
_MISSING = object()
_catalogue: dict[str, Exercise] = {}


class CheckFailed(AssertionError):
    """Raised under ``COURSE_STRICT=1`` by anything but full marks: solutions are built and tested that way."""


def catalogue() -> list[Exercise]:
    """Every exercise of the course, in order: ``.id .title .points .signature .mistakes``."""
    if not _catalogue:
        package = importlib.import_module("course_utils.exercises")
        names = sorted(m.name for m in pkgutil.iter_modules(package.__path__) if m.name.startswith("ch"))
        for name in names:
            for exercise in importlib.import_module(f"{package.__name__}.{name}").EXERCISES:
                _catalogue[exercise.id] = exercise
    return list(_catalogue.values())


def check(exercise_id: str, answer: Any = _MISSING, *more: Any, seed: int | None = None) -> CheckResult:
    """Check an answer, show the panel, return the result. Never raises for a learner.

    ``seed`` repeats the draws of an earlier check; the panel prints it when a draw fails.
    """
    strict = os.environ.get("COURSE_STRICT") == "1"
    try:
        result = _checked(str(exercise_id), answer, more, seed)
    except Exception as error:
        if strict:
            raise
        result = CheckResult(str(exercise_id), "", False, 0, 0, "raised",
                             f"The check itself stumbled over this answer ({type(error).__name__}: {str(error)[:200]}). That is a fault of "
                             "the course, not yours: please report it, with your cell.")
    result.show()
    if strict and not result.passed:
        raise CheckFailed(str(result))
    return result


def _checked(exercise_id: str, answer: Any, more: tuple[Any, ...], seed: int | None) -> CheckResult:
    exercises = {exercise.id: exercise for exercise in catalogue()}
    exercise = exercises.get(exercise_id)
    if exercise is None:
        near = difflib.get_close_matches(exercise_id, exercises, n=1)
        known = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(exercises)}."
        return CheckResult(exercise_id, "", False, 0, 0, "type", f"There is no exercise {exercise_id!r}. {known}")

    def refuse(stage: str, message: str) -> CheckResult:
        return CheckResult(exercise.id, exercise.title, False, 0.0, exercise.points, stage, message, use=exercise.reference)

    if more:
        return refuse("type", f"check takes the exercise and one answer: check({exercise.id!r}, {exercise.name}). You passed "
                              f"{1 + len(more)} answers.")
    if answer is exercise.reference and exercise.kind != "value":
        # The cell `f = check("…", f).use` puts our version under the learner's name: run twice, it would check ours.
        return refuse("not attempted", f"At the moment `{exercise.name}` is the course's own version: this cell put it there, so that "
                                       "later cells have something to go on with. Run your answer cell again, then this one.")
    result = examine(exercise, answer, seed)
    _record.record(exercise.id, result.points, result.passed)
    return result


def examine(exercise: Exercise, answer: Any = _MISSING, seed: int | None = None) -> CheckResult:
    """Judge an answer without showing or remembering anything."""
    started = time.perf_counter()
    base = secrets.randbelow(10**6) if seed is None else int(seed) % 2**31
    seeds = tuple(base + i for i in range(DRAWS)) if exercise.kind != "value" else (base,)
    wrong = _wrong_kind(exercise, answer)
    if wrong:
        stage, message, mistake = wrong
        return CheckResult(exercise.id, exercise.title, False, 0.0, exercise.points, stage, message, use=exercise.reference,
                           mistake=mistake)
    with neutral_torch(), torch.random.fork_rng(devices=[]):  # an oracle may build a layer
        cases = exercise.cases(seeds)
        verdict, (stage, message, mistake) = _run(exercise, answer, cases)
    result = CheckResult(exercise.id, exercise.title, False, 0.0, exercise.points, stage, message,
                         use=exercise.reference, mistake=mistake)
    if verdict is not None:
        fill(result, exercise, verdict, answer, seeds, cases)
    result.seconds = time.perf_counter() - started
    return result


def fill(result: CheckResult, exercise: Exercise, verdict: Verdict, answer: Any, seeds: tuple[int, ...],
         cases: list[Case]) -> None:
    """Write into ``result`` what the judge found; grading uses it too."""
    finding = verdict.finding
    result.points, result.remarks, result.finding, result.earned = verdict.points, verdict.remarks, finding, verdict.earned
    if finding is None:
        result.passed, result.stage, result.message, result.use = True, "passed", "", answer
        return
    result.stage, result.message, result.mistake, result.hint = finding.stage, finding.message, finding.mistake, finding.hint
    drawn = len(cases) - len(exercise.fixed())
    if exercise.kind != "value" and finding.index < drawn:
        result.seed = seeds[0]
    if result.stage == "not attempted":
        result.remarks = []


def _run(exercise: Exercise, answer: Any, cases: list[Case]) -> tuple[Verdict | None, tuple[str, str, str | None]]:
    """Observe under the time limit, then judge."""
    try:
        with surroundings(answer, exercise.forbidden) as around:
            seen = run_with_limit(lambda: _observe_all(exercise, answer, cases, around), LIMIT)
    except TimeIsUp as error:
        number, line = own_line(error, answer)
        where = f", at line {number} of your cell: `{line}`" if line else ""
        return None, ("raised", f"Stopped after {LIMIT:g} s{where}. Is there a loop that never ends, or one that is far too long? "
                                "The inputs here are tiny.", "endless loop")
    except Abandoned:
        return None, ("raised", f"No answer within {LIMIT:g} s, and the code cannot be interrupted: it goes on in the background. "
                                "Restart the kernel (Kernel → Restart), then look for an endless loop.", "endless loop")
    except KeyboardInterrupt:
        return None, ("raised", "You stopped the check before your code had finished.", None)
    return judge(exercise, cases, seen), ("passed", "", None)


def _observe_all(exercise: Exercise, answer: Any, cases: list[Case], around: Surroundings) -> list[dict[str, Any]]:
    """Observe every case, in the working thread; a blank answer is not asked twice."""
    seen: list[dict[str, Any]] = []
    with neutral_torch():  # grad mode, autocast and default device belong to a thread
        for case in cases:
            seen.append(observe(exercise.kind, answer, case.args, case.gradients, around))
            if seen[0]["status"] in ("blank", "forbidden"):
                break
    return seen


def _wrong_kind(exercise: Exercise, answer: Any) -> tuple[str, str, str | None] | None:
    """What to say when the thing that was passed cannot be an answer at all."""
    if answer is _MISSING:
        return ("not attempted", f"Pass your answer as well: check({exercise.id!r}, {exercise.name}).", None)
    if exercise.kind == "value":
        return None
    is_class = isinstance(answer, type)
    if exercise.kind == "function" and callable(answer) and not is_class and not isinstance(answer, torch.Tensor):
        return None
    if exercise.kind == "module" and is_class:
        return None
    if exercise.kind == "module" and isinstance(answer, torch.nn.Module):
        return ("type", f"You passed a module that is already built; pass the class itself: {exercise.name}, without "
                        "parentheses.", "instance instead of class")
    word = "class" if exercise.kind == "module" else "function"
    return ("type", f"You passed a {kind_of(answer)}; this exercise asks for the {word} `{exercise.name}` itself. Write its name "
                    f"without parentheses: check({exercise.id!r}, {exercise.name}). If that is what you did, another cell has "
                    f"given the name `{exercise.name}` to something else: run your answer cell again.", "redefined name")


def _watch_for_unrun_cells() -> None:
    """In a notebook: say what to do when a check cell meets a name whose cell has not been run.

    Such a cell fails before ``check`` is called, so this hangs on IPython's own event, at import.
    """
    if "IPython" not in sys.modules:
        return
    from IPython import get_ipython

    shell = get_ipython()
    if shell is None:
        return

    def explain(result: Any) -> None:
        error = getattr(result, "error_in_exec", None)
        name = getattr(error, "name", None) if isinstance(error, NameError) else None
        cell = getattr(getattr(result, "info", None), "raw_cell", "") or ""
        asked = re.search(r"check\(\s*[\"']([^\"']+)[\"']\s*,\s*" + re.escape(name) + r"\b", cell) if name else None
        if asked:
            exercise = next((e for e in catalogue() if e.id == asked.group(1)), None)
            CheckResult(asked.group(1), exercise.title if exercise else "", False, 0, exercise.points if exercise else 0,
                        "not attempted",
                        f"The name `{name}` does not exist yet: the cell that defines it has not been run. Click into that cell, "
                        "press Shift+Enter, then run this one again.").show()

    shell.events.register("post_run_cell", explain)


def progress(reset: str | bool = False) -> _record.Progress:
    """Exercises done per chapter and what to try next, for display as the last line of a cell.

    ``reset="03"`` forgets the results of a chapter, ``reset=True`` all of them; the notebooks stay as they are, and the old results are
    kept in ``.course/progress.before_reset.json``. ValueError for a chapter without exercises.
    """
    if reset:
        known = sorted({exercise.id.split(".")[0] for exercise in catalogue()})
        if reset is not True and reset not in known:
            raise ValueError(f"reset={reset!r} is no chapter; choose one of {', '.join(known)}, or True for all")
        _record.reset(None if reset is True else reset)
    try:
        done = _record.load()
    except OSError:
        done = {}
    return _record.Progress(done, catalogue())


_watch_for_unrun_cells()
