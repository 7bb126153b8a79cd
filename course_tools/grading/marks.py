"""The judge of one notebook: draws cases, sends them into the sandbox, judges what comes back. Runs no submitted code."""

from __future__ import annotations

import hashlib
import io
import time
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

import torch

from course_utils.checks import engine
from course_utils.checks.exercise import Case, Exercise
from course_utils.checks.judge import judge
from course_utils.checks.panel import CheckResult

from . import wire
from .sandbox import ROOMS, Sandbox

LIMIT = 10.0  # seconds for the answer itself, as in a notebook's check
STATUSES = ("ok", "blank", "raised", "forbidden")


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
    return {e.id: e for e in engine.catalogue() if not only or e.id.split(".")[0] in only}


def seeds_for(exercise: Exercise, secret: str) -> tuple[int, ...]:
    """Draws of this run: fresh for every run, the same for every student, unknown to the submissions."""
    base = int.from_bytes(hashlib.sha256(f"{secret}:{exercise.id}".encode()).digest()[:4], "big") % 2**30
    return tuple(base + i for i in range(engine.DRAWS)) if exercise.kind != "value" else (base,)


@cache
def _cases(exercise_id: str, secret: str) -> list[Case]:
    exercise = exercises_of()[exercise_id]
    return exercise.cases(seeds_for(exercise, secret))


def grade_notebook(sandbox: Sandbox, data: bytes, exercises: dict[str, Exercise], secret: str, limits: Limits) -> Graded:
    """Grade the exercises that are in a notebook. A submission that breaks its world loses the exercise that did it."""
    until = time.monotonic() + max(limits.notebook, limits.timeout)
    todo: list[str] | None = None
    found: dict[str, dict] = {}
    marks: dict[str, Mark] = {}
    while todo is None or todo:
        current = None
        line = None
        try:
            with sandbox.submission(30 + (limits.timeout + 5) * max(1, len(todo or exercises))) as line:
                line.send({"notebook": data, "exercises": {e.id: e.name for e in exercises.values()}})
                reply = line.receive(30)
                if reply["problem"] is not None:
                    return Graded({}, str(reply["problem"])[:300])
                found = {key: value for key, value in reply["found"].items() if key in exercises}
                todo = [key for key in exercises if key in found] if todo is None else todo
                while todo:
                    current = todo[0]
                    started = time.perf_counter()
                    if time.monotonic() > until:
                        _finish(marks, _failed(exercises[current], "raised", f"Not tried: the exercises before it used up the "
                                               f"{limits.notebook:g} s that a notebook has.", "time used up"), found[current], started)
                        todo.pop(0)
                        continue
                    line.send(_task(exercises[current], secret, limits))
                    reply = line.receive(limits.timeout + 10)
                    mark = _mark(exercises[current], secret, reply, limits)
                    _finish(marks, mark, found[current], started)
                    todo.pop(0)
                line.send(None)
        except (wire.ProtocolError, OSError, KeyError, TypeError, AttributeError) as error:  # OSError: TimeoutError, too
            if current is None or todo is None:
                return Graded(marks, f"the notebook could not be read in the sandbox ({type(error).__name__}: {error})"[:300])
            todo.pop(0)
            exercise = exercises[current]
            if line is not None and line.ended == "memory":
                text = f"It took more than {limits.memory / 2**30:.1f} GB of memory, or started too many processes, and was stopped."
            elif isinstance(error, TimeoutError):
                text = f"It did not end within {limits.timeout:g} s and was stopped."
            else:
                text = "It broke the process it ran in."
            _finish(marks, _failed(exercise, "raised", text, "stopped by the sandbox"), found[current], time.perf_counter())
    for key, mark in marks.items():
        below = found[key].get("builds_on")
        wrong = [other for other in below if other in marks and marks[other].stage != "passed"] if isinstance(below, list) else []
        if wrong and mark.stage not in ("passed", "not attempted"):
            mark.follows = wrong[0]
            mark.notes.append(f"This answer uses yours to {wrong[0]}, which is not right: mend that one first.")
    return Graded(marks)


def _task(exercise: Exercise, secret: str, limits: Limits) -> dict[str, Any]:
    cases = [{"args": case.args, "gradients": list(case.gradients)} for case in _cases(exercise.id, secret)]
    return {"exercise": exercise.id, "name": exercise.name, "kind": exercise.kind, "forbidden": off_limits(exercise), "limit": LIMIT,
            "seconds": limits.timeout, "bytes": limits.result, "cases": cases}


def off_limits(exercise: Exercise) -> list[str]:
    """Names forbidden while an answer runs: those of the exercise, and the course's own version of it."""
    module, name = getattr(exercise.reference, "__module__", ""), getattr(exercise.reference, "__qualname__", "")
    rooms = tuple(f"course_utils.{room}." for room in ROOMS)
    own = [f"{module}.{name}"] if module.startswith(rooms) and name.isidentifier() and exercise.kind == "function" else []
    return [*exercise.forbidden, *(dotted for dotted in own if dotted not in exercise.forbidden)]


def _finish(marks: dict[str, Mark], mark: Mark, place: dict, started: float) -> None:
    notes = place.get("notes") if isinstance(place, dict) else None
    mark.notes = [str(text)[:300] for text in notes or [] if isinstance(text, str)] + mark.notes
    mark.seconds = round(time.perf_counter() - started, 3)
    marks[mark.exercise] = mark


def _failed(exercise: Exercise, stage: str, message: str, mistake: str | None = None, hint: str | None = None) -> Mark:
    return _as_mark(CheckResult(exercise.id, exercise.title, False, 0.0, exercise.points, stage, message, mistake=mistake, hint=hint))


def _as_mark(result: CheckResult) -> Mark:
    return Mark(result.exercise, result.points, result.possible, result.stage, result.mistake, result.message, result._repr_html_(),
                earned=dict(result.earned))


def _mark(exercise: Exercise, secret: str, reply: dict[str, Any], limits: Limits) -> Mark:
    """Judge what the worker sent back for one exercise."""
    ended = reply["ended"]
    if ended == "time":
        return _failed(exercise, "raised", f"Stopped after {limits.timeout:g} s, and it could not be interrupted. Is there a loop that "
                                           "never ends?", "endless loop")
    if ended == "size":
        return _failed(exercise, "type", f"The result holds more than {limits.result / 2**20:.0f} MB.", "result far too large")
    if ended != "done":
        what = ("Something else than the observer wrote into the channel of the results." if ended == "forged" else
                f"The program ended itself before it could be observed ({str(ended)[:40]}).")
        return _failed(exercise, "raised", what, "tampering" if ended == "forged" else "stopped by itself")
    try:
        frame = wire.read(io.BytesIO(reply["frame"]).read)
        _validate(frame, exercise)
    except (wire.ProtocolError, KeyError, TypeError, AttributeError):
        return _failed(exercise, "raised", "What came back is not an observation.", "tampering")
    mark = _judged(exercise, secret, frame)
    for problem in frame["problems"][:3]:
        if mark.stage != "passed" and problem.get("answer") is False:
            mark.notes.append(f"cell {problem.get('cell', 0) + 1}, which this answer needs, stopped with "
                              f"{problem.get('type')}: {problem.get('message')}"[:300])
    return mark


def _judged(exercise: Exercise, secret: str, frame: dict[str, Any]) -> Mark:
    own = next((p for p in frame["problems"] if p.get("answer")), None)
    status = frame["status"]
    if status == "missing":
        if own is not None:
            return _failed(exercise, "raised", f"Your cell stopped with {own.get('type')}: {own.get('message')} at the line "
                                               f"`{own.get('line')}`, before `{exercise.name}` was defined.")
        return _failed(exercise, "not attempted", f"The cell does not define `{exercise.name}`.")
    if status == "wrong kind":
        return _failed(exercise, "type", f"`{exercise.name}` is a {frame['line']}; the exercise asks for a "
                                         f"{'class' if exercise.kind == 'module' else 'function'}.", "redefined name")
    if status == "ours":
        return _failed(exercise, "forbidden shortcut", f"`{exercise.name}` is the course's own version, imported. Write your own.",
                       "forbidden shortcut")
    if status == "time":
        where = f", at line {frame['number']} of the cell: `{frame['line']}`" if frame["line"] else ""
        return _failed(exercise, "raised", f"Stopped after {LIMIT:g} s{where}. Is there a loop that never ends, or one that is far too "
                                           "long? The inputs here are tiny.", "endless loop")
    cases = _cases(exercise.id, secret)
    if not frame["seen"] or (len(frame["seen"]) != len(cases) and frame["seen"][0]["status"] not in ("blank", "forbidden")):
        return _failed(exercise, "raised", "What came back is not an observation of every case.", "tampering")
    result = CheckResult(exercise.id, exercise.title, False, 0.0, exercise.points, "raised", "")
    try:
        with torch.random.fork_rng(devices=[]):
            verdict = judge(exercise, cases, frame["seen"])
        engine.fill(result, exercise, verdict, None, seeds_for(exercise, secret), cases)
        return _as_mark(result)
    except Exception as error:
        return _failed(exercise, "raised", f"The judge stumbled over this answer ({type(error).__name__}: {str(error)[:200]}). That is a "
                                           "fault of the course: please look at this answer yourself, and report it.", "judge stumbled")


def _validate(frame: Any, exercise: Exercise) -> None:
    """TypeError or KeyError unless the frame has the form the observer writes."""
    def demand(truth: bool) -> None:
        if not truth:
            raise TypeError("not an observation")

    demand(isinstance(frame, dict) and frame["status"] in ("observed", "missing", "wrong kind", "time", "ours"))
    demand(isinstance(frame["line"], str) and (frame["number"] is None or isinstance(frame["number"], int)))
    demand(isinstance(frame["problems"], list) and all(isinstance(p, dict) and isinstance(p.get("cell"), int) for p in frame["problems"]))
    demand(isinstance(frame["seen"], list) and len(frame["seen"]) <= 1000)
    for seen in frame["seen"]:
        demand(isinstance(seen, dict) and seen["status"] in STATUSES and isinstance(seen["type"], str))
        value = seen["value"]
        demand(seen["type"] != "tensor" or isinstance(value, torch.Tensor) or isinstance(value, dict) and "object" in value)
        demand(isinstance(seen["printed"], str) and isinstance(seen["gradients"], dict))
        demand(isinstance(seen["changed"], list) and all(isinstance(name, str) for name in seen["changed"]))
        demand(all(isinstance(k, str) and (g is None or isinstance(g, torch.Tensor)) for k, g in seen["gradients"].items()))
        demand(seen["module"] is None or isinstance(seen["module"], dict) and isinstance(seen["module"].get("problem"), str))
        error = seen["error"]
        demand(error is None or isinstance(error, dict) and isinstance(error.get("message"), str))
        for key, text in (error or {}).items():
            if isinstance(text, str):
                error[key] = text[:1000]
        demand(all(isinstance(n, str) and len(n) < 200 for n in (error or {}).get("classes", [])) and len(seen["type"]) < 1000)
        if seen["status"] == "raised":
            demand(all(isinstance(error[key], str) for key in ("type", "message", "line", "hidden")))
            demand(isinstance(error["classes"], list) and all(isinstance(name, str) for name in error["classes"]))
        if seen["status"] == "forbidden":
            demand(error is not None and error["message"] in off_limits(exercise))
