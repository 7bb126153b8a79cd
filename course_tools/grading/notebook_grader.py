"""One notebook through the sandbox: its exercises one after the other, each asked for and judged. Runs no submitted code."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import Any

from course_checks.exercise import Exercise

from . import wire
from .cells import Unreadable
from .channel import Channel
from .judging import judge_report, task_for
from .marks import Graded, Limits, Mark, failed, places
from .messages import Notebook, Report
from .sandbox import Sandbox

LOST = 3  # times that a notebook is tried again because its sandbox was killed from outside
clock = time.monotonic  # of a notebook's budget


@dataclass(frozen=True)
class Context:
    """What the worker says of an exercise that it found: which others its answer uses, notes for the page, what its saved output claims."""

    builds_on: list[str]
    notes: list[str]
    right: bool = False


def read_found(answer: Any, exercises: dict[str, Exercise]) -> dict[str, Context]:
    """The worker's first answer, checked once: Unreadable when the notebook is, ProtocolError when it is no answer of ours."""
    if not isinstance(answer, dict) or "problem" not in answer:
        raise wire.ProtocolError("this is no list of exercises")
    if answer["problem"] is not None:
        raise Unreadable(str(answer["problem"])[:300])
    found = answer.get("found")
    if not isinstance(found, dict) or not all(isinstance(one, dict) for one in found.values()):
        raise wire.ProtocolError("this is no list of exercises")

    def texts(value: Any) -> list[str]:
        return [text[:300] for text in value if isinstance(text, str)] if isinstance(value, list) else []

    return {
        key: Context(texts(found[key].get("builds_on")), texts(found[key].get("notes")), found[key].get("right") is True)
        for key in exercises
        if key in found
    }


def read_report(answer: Any) -> Report:
    """What the worker sends at the end of a task; ProtocolError when this is no report."""
    if not isinstance(answer, dict) or not isinstance(answer.get("ended"), str) or not isinstance(answer.get("reply"), bytes):
        raise wire.ProtocolError("this is no report of an exercise")
    return Report(answer["ended"], answer["reply"])


def grade_notebook(sandbox: Sandbox, data: bytes, exercises: dict[str, Exercise], secret: str, limits: Limits) -> Graded:
    """Grade the exercises that are in a notebook. A submission that breaks its container loses the exercise that did it, and goes on
    with the next one in a fresh container. Where the container went down with the fork server, which somebody outside has ended, the
    exercise is tried again."""
    return _Grading(sandbox, data, exercises, secret, limits).run()


class _Grading:
    """A notebook while it is graded: what is known of its exercises, and their marks so far."""

    def __init__(self, sandbox: Sandbox, data: bytes, exercises: dict[str, Exercise], secret: str, limits: Limits):
        self.sandbox, self.secret, self.limits = sandbox, secret, limits
        self.exercises = exercises
        self.notebook = Notebook(
            data, {key: exercise.name for key, exercise in exercises.items()}, {key: places()[key] for key in exercises}
        )
        self.until, self.lost = clock() + max(limits.notebook, limits.timeout), 0
        self.found: dict[str, Context] | None = None
        self.marks: dict[str, Mark] = {}

    def run(self) -> Graded:
        """Grade to the end, in as many containers as it takes."""
        while self.found is None or len(self.marks) < len(self.found):
            waiting = len(self.exercises if self.found is None else self.found) - len(self.marks)
            channel: Channel | None = None
            try:
                with self.sandbox.submission(30 + (self.limits.timeout + 5) * max(1, waiting)) as channel:
                    broken = self._until_broken(channel)
            except Unreadable as error:
                return Graded(self.marks, str(error))
            except (wire.ProtocolError, OSError) as error:  # OSError: TimeoutError, too
                if self._again(channel):
                    continue
                return Graded(self.marks, f"the notebook could not be read in the sandbox ({type(error).__name__}: {error})"[:300])
            if broken is not None and not self._again(channel):
                self._give_up(*broken, channel)
        self._tell_what_follows(self.found)
        return Graded(self.marks)

    def _again(self, channel: Channel | None) -> bool:
        """Whether nobody inside can be blamed, and it was not yet tried too often."""
        if channel is None or channel.ended != "lost":
            return False
        self.lost += 1
        return self.lost <= LOST

    def _until_broken(self, channel: Channel) -> tuple[str, str] | None:
        """Grade what is left; the exercise that broke the worker, and how, or None at the end of the notebook."""
        channel.send(vars(self.notebook))
        found = read_found(channel.receive(30), self.exercises)
        if self.found is None:
            self.found = found
        for key in [key for key in self.found if key not in self.marks]:
            started = time.perf_counter()
            try:
                mark = self._mark_of(channel, key, self.found[key])
            except TimeoutError:
                return key, f"It did not end within {self.limits.timeout:g} s and was stopped."
            except (wire.ProtocolError, OSError):
                return key, "It broke the process it ran in."
            mark.seconds = round(time.perf_counter() - started, 3)
            self._keep(mark, self.found[key])
        with contextlib.suppress(wire.ProtocolError):
            channel.send(None)
        return None

    def _mark_of(self, channel: Channel, key: str, context: Context) -> Mark:
        """Have an exercise run with the cells that it needs; with everything above its check where a cell may matter that nobody can tell
        from its text."""
        exercise = self.exercises[key]
        if clock() > self.until:
            message = f"Not tried: the exercises before it used up the {self.limits.notebook:g} s that a notebook has."
            return failed(exercise, "raised", message, "time used up")
        mark = self._asked(channel, exercise)
        unknown = mark.stage == "raised" and "NameError" in mark.message
        if unknown or (context.right and not mark.passed):
            mark = max(self._asked(channel, exercise, everything=True), mark, key=lambda tried: tried.points)
            mark.claimed = context.right and not mark.passed
        return mark

    def _asked(self, channel: Channel, exercise: Exercise, everything: bool = False) -> Mark:
        channel.send(vars(task_for(exercise, self.secret, self.limits, everything, self.notebook.content)))
        report = read_report(channel.receive(self.limits.timeout + 10))
        return judge_report(exercise, self.secret, report, self.limits)

    def _give_up(self, key: str, text: str, channel: Channel | None) -> None:
        """The mark of the exercise that broke its container."""
        if channel is not None and channel.ended == "memory":
            text = f"It took more than {self.limits.memory / 2**30:.1f} GB of memory, or started too many processes, and was stopped."
        context = self.found[key] if self.found else Context([], [])
        self._keep(failed(self.exercises[key], "raised", text, "stopped by the sandbox"), context)

    def _keep(self, mark: Mark, context: Context) -> None:
        mark.notes = context.notes + mark.notes
        self.marks[mark.exercise] = mark

    def _tell_what_follows(self, found: dict[str, Context]) -> None:
        """Say of a wrong answer when it uses another one that is wrong."""
        for key, mark in self.marks.items():
            wrong = [other for other in found[key].builds_on if other in self.marks and not self.marks[other].passed]
            if wrong and mark.stage not in ("passed", "not attempted"):
                mark.follows, mark.claimed = wrong[0], False  # a saved "right" has a plain reason then
                mark.notes.append(
                    f"This answer uses your answer to {wrong[0]}, which is not right: mend that one first. In your notebook the "
                    f"course's own {wrong[0]} took its place, so the check there may have said “right”."
                )
