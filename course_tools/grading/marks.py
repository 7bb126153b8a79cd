"""The judge of one notebook: draws cases, sends them into the sandbox, judges what comes back. Runs no submitted code."""

from __future__ import annotations

import contextlib
import hashlib
import time
from dataclasses import asdict, dataclass, field
from functools import cache
from html import escape
from typing import Any

import torch

from course_checks import engine
from course_checks.exercise import Case, Exercise
from course_checks.judge import judge
from course_checks.lookup import chapters, find, in_chapter
from course_checks.panel import CheckResult
from course_checks.sentences import too_long
from course_checks.shortcuts import HIDING

from . import wire
from .cells import Unreadable
from .frames import Frame, read_frame
from .likeness import likeness
from .sandbox import ROOMS, Line, Sandbox

LIMIT = 10.0  # seconds for the answer itself, as in a notebook's check
LOST = 3  # times that a notebook is tried again because its sandbox was killed from outside
MOST_SHOWN = 100_000  # characters of a panel


@dataclass(frozen=True)
class Limits:
    """Seconds for an exercise with the cells it needs, bytes of memory for a submission, bytes of one result."""

    timeout: float = 60.0
    memory: int = 2 * 2**30
    result: int = 32 * 2**20
    notebook: float = 600.0  # seconds for all exercises of a notebook together


@dataclass
class Mark:
    """What one exercise of one notebook earned, and the panel that says why."""

    exercise: str
    points: float
    possible: float
    stage: str
    mistake: str | None
    message: str
    html: str
    notes: list[str] = field(default_factory=list)
    earned: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    follows: str = ""  # another exercise this answer builds on, when that one is wrong
    claimed: bool = False  # the notebook's saved output says "right", and grading does not
    copied: bool = False  # instruction for instruction the course's own version
    unjudged: bool = False  # what came back has no form that can be judged

    def plain(self) -> dict[str, Any]:
        """For a line of ``grades.jsonl``."""
        return asdict(self)


@dataclass
class Graded:
    """A whole notebook: its marks by exercise, or why there are none."""

    marks: dict[str, Mark]
    problem: str = ""


def exercises_of(only: tuple[str, ...] = ()) -> dict[str, Exercise]:
    """Exercises by id, of all chapters or of those named (``("03", "08a")``)."""
    return {key: exercise for chapter in chapters() if not only or chapter in only for key, exercise in in_chapter(chapter).items()}


def seeds_for(exercise: Exercise, secret: str) -> tuple[int, ...]:
    """Draws of this run: fresh for every run, the same for every student, unknown to the submissions."""
    base = int.from_bytes(hashlib.sha256(f"{secret}:{exercise.id}".encode()).digest()[:4], "big") % 2**30
    return tuple(base + i for i in range(engine.DRAWS)) if exercise.kind != "value" else (base,)


@cache
def _cases(exercise_id: str, secret: str) -> list[Case]:
    exercise = find(exercise_id)
    return exercise.cases(seeds_for(exercise, secret))


@dataclass
class _Place:
    """Where the worker found an exercise, as it says: which other exercises its answer uses, and notes for the feedback page."""

    builds_on: list[str]
    notes: list[str]
    right: bool = False  # what the notebook's saved output claims


def _places(reply: Any, exercises: dict[str, Exercise]) -> dict[str, _Place]:
    """The worker's first answer, checked once: Unreadable when the notebook is, ProtocolError when it is no answer of ours."""
    if not isinstance(reply, dict) or "problem" not in reply:
        raise wire.ProtocolError("this is no list of exercises")
    if reply["problem"] is not None:
        raise Unreadable(str(reply["problem"])[:300])
    found = reply.get("found")
    if not isinstance(found, dict) or not all(isinstance(place, dict) for place in found.values()):
        raise wire.ProtocolError("this is no list of exercises")

    def texts(value: Any) -> list[str]:
        return [text[:300] for text in value if isinstance(text, str)] if isinstance(value, list) else []

    return {
        key: _Place(texts(found[key].get("builds_on")), texts(found[key].get("notes")), found[key].get("right") is True)
        for key in exercises
        if key in found
    }


def _report(reply: Any) -> tuple[str, bytes]:
    """How an exercise ended and the frame with its observations; ProtocolError when this is no report."""
    if not isinstance(reply, dict) or not isinstance(reply.get("ended"), str) or not isinstance(reply.get("frame"), bytes):
        raise wire.ProtocolError("this is no report of an exercise")
    return reply["ended"], reply["frame"]


def grade_notebook(sandbox: Sandbox, data: bytes, exercises: dict[str, Exercise], secret: str, limits: Limits) -> Graded:
    """Grade the exercises that are in a notebook. A submission that breaks its world loses the exercise that did it, and goes on
    with the next one in a fresh world. Where the world went down with the fork server, which somebody outside has ended, the
    exercise is tried again."""
    until, lost = time.monotonic() + max(limits.notebook, limits.timeout), 0
    places: dict[str, _Place] | None = None
    marks: dict[str, Mark] = {}
    while places is None or len(marks) < len(places):
        waiting = len(exercises if places is None else places) - len(marks)
        try:
            with sandbox.submission(30 + (limits.timeout + 5) * max(1, waiting)) as line:
                line.send(
                    {
                        "notebook": data,
                        "exercises": {key: exercise.name for key, exercise in exercises.items()},
                        "former": {exercise.formerly: key for key, exercise in exercises.items() if exercise.formerly},
                    }
                )
                found = _places(line.receive(30), exercises)
                places = found if places is None else places
                broken = _grade_until_broken(line, exercises, places, marks, secret, limits, until)
                if broken is None:
                    with contextlib.suppress(wire.ProtocolError):
                        line.send(None)
        except Unreadable as error:
            return Graded(marks, str(error))
        except (wire.ProtocolError, OSError) as error:  # OSError: TimeoutError, too
            if line.ended == "lost" and (lost := lost + 1) <= LOST:
                continue
            return Graded(marks, f"the notebook could not be read in the sandbox ({type(error).__name__}: {error})"[:300])
        if broken is not None:
            current, text = broken
            if line.ended == "lost" and (lost := lost + 1) <= LOST:
                continue
            if line.ended == "memory":
                text = f"It took more than {limits.memory / 2**30:.1f} GB of memory, or started too many processes, and was stopped."
            _finish(marks, _failed(exercises[current], "raised", text, "stopped by the sandbox"), places[current], time.perf_counter())
    _tell_what_follows(marks, places)
    return Graded(marks)


def _grade_until_broken(
    line: Line, exercises: dict[str, Exercise], places: dict[str, _Place], marks: dict[str, Mark], secret: str, limits: Limits, until: float
) -> tuple[str, str] | None:
    """Grade what is left; the exercise that broke the line to the worker, and how, or None at the end of the notebook."""
    for key in [key for key in places if key not in marks]:
        started, exercise = time.perf_counter(), exercises[key]
        if time.monotonic() > until:
            mark = _failed(
                exercise,
                "raised",
                f"Not tried: the exercises before it used up the {limits.notebook:g} s that a notebook has.",
                "time used up",
            )
        else:
            try:
                mark = _asked(line, exercise, secret, limits)
                unknown = mark.stage == "raised" and "NameError" in mark.message
                if unknown or (places[key].right and mark.stage != "passed"):  # a cell may matter that nobody can tell from its text
                    mark = max(_asked(line, exercise, secret, limits, everything=True), mark, key=lambda tried: tried.points)
                    mark.claimed = places[key].right and mark.stage != "passed"
            except TimeoutError:
                return key, f"It did not end within {limits.timeout:g} s and was stopped."
            except (wire.ProtocolError, OSError):
                return key, "It broke the process it ran in."
        _finish(marks, mark, places[key], started)
    return None


def _tell_what_follows(marks: dict[str, Mark], places: dict[str, _Place]) -> None:
    """Say of a wrong answer when it uses another one that is wrong."""
    for key, mark in marks.items():
        wrong = [other for other in places[key].builds_on if other in marks and marks[other].stage != "passed"]
        if wrong and mark.stage not in ("passed", "not attempted"):
            mark.follows, mark.claimed = wrong[0], False  # a saved "right" has a plain reason then
            mark.notes.append(
                f"This answer uses your answer to {wrong[0]}, which is not right: mend that one first. In your notebook the "
                f"course's own {wrong[0]} took its place, so the check there may have said “right”."
            )


def _asked(line: Line, exercise: Exercise, secret: str, limits: Limits, everything: bool = False) -> Mark:
    """Have an exercise run in the sandbox, with the cells it needs or with ``everything`` above its check, and judge it."""
    line.send(_task(exercise, secret, limits) | {"everything": everything})
    return _mark(exercise, secret, *_report(line.receive(limits.timeout + 10)), limits)


def _task(exercise: Exercise, secret: str, limits: Limits) -> dict[str, Any]:
    cases = [{"args": case.args, "gradients": list(case.gradients)} for case in _cases(exercise.id, secret)]
    return {
        "exercise": exercise.id,
        "name": exercise.name,
        "kind": exercise.kind,
        "forbidden": off_limits(exercise),
        "limit": LIMIT,
        "seconds": limits.timeout,
        "bytes": limits.result,
        "cases": cases,
    }


def off_limits(exercise: Exercise) -> list[str]:
    """Names forbidden while an answer runs: those of the exercise, and the course's own version of it."""
    module, name = getattr(exercise.reference, "__module__", ""), getattr(exercise.reference, "__qualname__", "")
    rooms = tuple(f"course_utils.{room}." for room in ROOMS)
    own = [f"{module}.{name}"] if module.startswith(rooms) and name.isidentifier() and exercise.kind == "function" else []
    return [*exercise.forbidden, *(dotted for dotted in own if dotted not in exercise.forbidden)]


def _finish(marks: dict[str, Mark], mark: Mark, place: _Place, started: float) -> None:
    mark.notes = place.notes + mark.notes
    mark.seconds = round(time.perf_counter() - started, 3)
    marks[mark.exercise] = mark


def _failed(exercise: Exercise, stage: str, message: str, mistake: str | None = None) -> Mark:
    return _as_mark(CheckResult.refused(exercise, stage, message, mistake))


def _as_mark(result: CheckResult) -> Mark:
    html = result._repr_html_()
    if len(html) > MOST_SHOWN:  # a hostile result may be shown at any length
        html = f"<p>{escape(result.message[:2000])}</p><p>(The rest is too long to be shown.)</p>"
    return Mark(
        result.exercise,
        result.points,
        result.possible,
        result.stage,
        result.mistake,
        result.message[:2000],
        html,
        earned=dict(result.earned),
    )


def _mark(exercise: Exercise, secret: str, ended: str, data: bytes, limits: Limits) -> Mark:
    """Judge what the worker sent back for one exercise."""
    if ended == "time":
        return _failed(
            exercise,
            "raised",
            f"Stopped after {limits.timeout:g} s, and it could not be interrupted. Is there a loop that never ends?",
            "endless loop",
        )
    if ended == "size":
        return _failed(exercise, "type", f"The result holds more than {limits.result / 2**20:.0f} MB.", "result far too large")
    if ended == "forged":
        return _failed(exercise, "raised", "Something other than the observer wrote into the channel of the results.", "tampering")
    if ended != "done":
        return _failed(exercise, "raised", f"The program ended itself before it could be observed ({ended[:40]}).", "stopped by itself")
    try:
        frame = read_frame(data, (*off_limits(exercise), *HIDING))
    except (wire.ProtocolError, KeyError, TypeError, ValueError):
        return _failed(exercise, "raised", "What came back is not an observation.", "tampering")
    mark = _judged(exercise, secret, frame)
    mark.copied = bool(frame.likeness) and frame.likeness == _likeness_of(exercise.id)
    if mark.stage != "passed":
        mark.notes += [
            f"cell {p.cell + 1}, which this answer needs, stopped with {p.type}: {p.message}"[:300]
            for p in frame.problems[:3]
            if not p.answer
        ]
    return mark


@cache
def _likeness_of(exercise_id: str) -> str:
    return likeness(find(exercise_id).reference)


def _judged(exercise: Exercise, secret: str, frame: Frame) -> Mark:
    own = next((problem for problem in frame.problems if problem.answer), None)
    if frame.status == "missing" and own is not None:
        return _failed(
            exercise,
            "raised",
            f"Your cell stopped with {own.type}: {own.message} at the line `{own.line}`, before `{exercise.name}` was defined.",
            "endless loop" if own.type == "TimeoutError" else None,
        )
    if frame.status == "missing":
        return _failed(exercise, "not attempted", f"The cell does not define `{exercise.name}`.")
    if frame.status == "wrong kind":
        return _failed(
            exercise,
            "type",
            f"`{exercise.name}` is a {frame.line}; the exercise asks for a {'class' if exercise.kind == 'module' else 'function'}.",
            "redefined name",
        )
    if frame.status == "ours":
        return _failed(
            exercise,
            "forbidden shortcut",
            f"`{exercise.name}` is the course's own version, imported. Write your own.",
            "forbidden shortcut",
        )
    if frame.status == "time":
        return _failed(exercise, "raised", too_long(LIMIT, frame.number, frame.line), "endless loop")
    cases = _cases(exercise.id, secret)
    if not frame.seen or (len(frame.seen) != len(cases) and frame.seen[0].status not in ("blank", "forbidden")):
        return _failed(exercise, "raised", "What came back is not an observation of every case.", "tampering")
    try:
        with torch.random.fork_rng(devices=[]):
            verdict = judge(exercise, cases, frame.seen)
        return _as_mark(CheckResult.judged(exercise, verdict, None, seeds_for(exercise, secret), cases))
    except Exception as error:
        mark = _failed(
            exercise,
            "raised",
            f"What came back cannot be judged ({type(error).__name__}: {str(error)[:100]}): it does not "
            "look like what the observer of this exercise writes.",
            "not an observation",
        )
        mark.unjudged = True
        return mark
