"""One notebook through the sandbox: its exercises one after the other, each asked for and judged. Runs no submitted code."""

from __future__ import annotations

import contextlib
import re
import time
from dataclasses import dataclass, replace
from typing import Any

from course_checks.exercise import Exercise

from . import wire
from .answer_text import LONGEST
from .cells import Unreadable
from .channel import Channel
from .helper_text import may_help
from .judging import judge_report, task_for
from .marks import Graded, Limits, Mark, failed, places
from .messages import Notebook, Report
from .sandbox import Sandbox

LOST = 3  # times that a notebook is tried again because its sandbox was killed from outside
FOLLOWS = (
    "This answer uses your answer to {0}, which is not right: mend that one first. In your notebook the course's own {0} took its place, "
    "so the check there may have said “right”."
)
GIVEN = "Judged with the course's {0} in place of yours, because {1} not right yet: this mark is for what this exercise itself asks."
_UNKNOWN = re.compile(r"NameError: name '(\w+)' is not defined")
clock = time.monotonic  # of a notebook's budget


@dataclass(frozen=True)
class Context:
    """What the worker says of an exercise that it found: which others its answer uses, notes for the page, what its saved output claims,
    whether its text still says that something is to be filled in, a digest of that text, and the text without comments."""

    builds_on: list[str]
    notes: list[str]
    right: bool = False
    blank: bool = False
    text: str = ""
    answer: str = ""


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
        key: Context(
            texts(found[key].get("builds_on")),
            texts(found[key].get("notes")),
            found[key].get("right") is True,
            found[key].get("blank") is True,
            str(found[key].get("text", ""))[:16],
            str(found[key].get("answer", ""))[:LONGEST],
        )
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
    """A notebook while it is graded: what is known of its exercises, and their marks so far.

    Every exercise is tried with the student's own helpers. Then those that are not right, and use answers that are not, are tried ``again``
    with the course's, as the notebook's check does; what came of the first try stays in ``Mark.own``.
    """

    def __init__(self, sandbox: Sandbox, data: bytes, exercises: dict[str, Exercise], secret: str, limits: Limits):
        self.sandbox, self.secret, self.limits = sandbox, secret, limits
        self.exercises = exercises
        self.notebook = Notebook(
            data, {key: exercise.name for key, exercise in exercises.items()}, {key: places()[key] for key in exercises}
        )
        self.until, self.lost = clock() + max(limits.notebook, limits.timeout), 0
        self.found: dict[str, Context] | None = None
        self.marks: dict[str, Mark] = {}
        self.again: set[str] = set()

    def run(self) -> Graded:
        """Grade to the end, in as many containers as it takes."""
        while self.found is None or self._next() is not None:
            waiting = 2 * len(self.exercises if self.found is None else self.found) - len(self.marks) - len(self.again)
            channel: Channel | None = None
            try:
                with self.sandbox.submission(30 + (self.limits.timeout + 5) * max(1, waiting)) as channel:
                    broken = self._until_broken(channel)
            except Unreadable as error:
                return Graded(self.marks, str(error))
            except (wire.ProtocolError, OSError) as error:  # OSError: TimeoutError, too
                if self._lost(channel):
                    continue
                return Graded(self.marks, f"the notebook could not be read in the sandbox ({type(error).__name__}: {error})"[:300])
            if broken is not None and not self._lost(channel):
                self._give_up(*broken, channel)
        for key, mark in self.marks.items():
            wrong = self._wrong_helpers(key)
            if wrong and key not in self.again and mark.stage not in ("passed", "not attempted"):
                _follow(mark, wrong[0])
        return Graded(self.marks)

    def _wrong_helpers(self, key: str) -> list[str]:
        """The answers that an answer uses and that are known not to be right."""
        return [other for other in self.found[key].builds_on if other in self.marks and not self.marks[other].passed] if self.found else []

    def _given(self, key: str) -> list[str]:
        """Those of them whose place the course's version can take: they come before it in the course."""
        order = list(self.exercises)
        return [other for other in self._wrong_helpers(key) if order.index(other) < order.index(key) and may_help(other, key)]

    def _next(self) -> str | None:
        """The exercise that is to be tried; None at the end."""
        for key in self.found or ():
            if key not in self.marks:
                return key
        for key in self.found or ():
            untouched = self.found and self.found[key].blank and self.marks[key].stage == "not attempted"
            if key not in self.again and not self.marks[key].passed and not untouched and self._given(key):
                return key
        return None

    def _lost(self, channel: Channel | None) -> bool:
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
        while (key := self._next()) is not None:
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
        exercise, given = self.exercises[key], self._given(key) if key in self.marks else []
        if clock() > self.until:
            message = f"Not tried: the exercises before it used up the {self.limits.notebook:g} s that a notebook has."
            return failed(exercise, "raised", message, "time used up")
        mark = self._asked(channel, exercise, given)
        if mark is None:
            raise wire.ProtocolError("a task was refused")
        unknown = _UNKNOWN.search(mark.message) if mark.stage == "raised" else None
        claimed = context.right and (given or not self._given(key))
        if not mark.passed and mark.mistake != "endless loop" and (claimed or unknown):
            more = self._asked(channel, exercise, given, True, "" if claimed or not unknown else unknown[1])
            mark = more if more is not None and more.points > mark.points else mark
        mark.claimed = context.right and not mark.passed
        return mark

    def _asked(self, channel: Channel, exercise: Exercise, given: list[str], everything: bool = False, unknown: str = "") -> Mark | None:
        """Have an exercise run once; None where that would be in vain."""
        channel.send(vars(task_for(exercise, self.secret, self.limits, everything, self.notebook.content, given, unknown)))
        report = read_report(channel.receive(self.limits.timeout + 10))
        return None if report.ended == "needless" else judge_report(exercise, self.secret, report, self.limits)

    def _give_up(self, key: str, text: str, channel: Channel | None) -> None:
        """The mark of the exercise that broke its container."""
        if channel is not None and channel.ended == "memory":
            text = f"It took more than {self.limits.memory / 2**30:.1f} GB of memory, or started too many processes, and was stopped."
        context = self.found[key] if self.found else Context([], [])
        self._keep(failed(self.exercises[key], "raised", text, "stopped by the sandbox"), context)

    def _keep(self, mark: Mark, context: Context) -> None:
        key, mark.notes = mark.exercise, context.notes + mark.notes
        mark.text, mark.answer = context.text, context.answer
        own = self.marks.get(key)
        if own is None:
            self.marks[key] = mark
            return
        self.again.add(key)
        wrong, given = self._wrong_helpers(key), self._given(key)
        mark.seconds = round(mark.seconds + own.seconds, 3)
        blank = [other for other in wrong if self.marks[other].stage == "not attempted"]
        if blank and own.stage == "not attempted" and mark.stage != "not attempted":
            message = f"Your answer uses {blank[0]}, which you left blank."
            own = replace(failed(self.exercises[key], "raised", message), notes=own.notes, seconds=own.seconds, text=own.text)
        _follow(own, wrong[0])
        mark.notes.insert(0, GIVEN.format(" and ".join(given), "they are" if len(given) > 1 else "it is"))
        self.marks[key] = replace(mark, own=own) if mark.points >= own.points else own


def _follow(mark: Mark, helper: str) -> None:
    """Say of a wrong answer that it uses another one that is wrong."""
    mark.follows, mark.claimed = helper, False  # a saved "right" has a plain reason then
    mark.notes.append(FOLLOWS.format(helper))
