"""The result of one submission in the forms that other graders read. Texts of a submission are escaped in the panels already."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape, unescape
from typing import Any

from .collect import printable
from .marks import Mark

NOT_THERE = "Not handed in."


@dataclass(frozen=True)
class Entry:
    """An exercise: its points with the class's weights, none where it is ``extra``, and its mark, where it was handed in."""

    exercise: str
    title: str
    points: float
    possible: float
    mark: Mark | None
    extra: bool = False

    @property
    def name(self) -> str:
        """As the course calls it."""
        return f"{self.exercise} {self.title}" + (" (extra)" if self.extra else "")

    @property
    def passed(self) -> bool:
        """Whether the answer is right, in all its parts."""
        return self.mark is not None and self.mark.passed

    @property
    def html(self) -> str:
        """The panel, with the grader's notes."""
        if self.mark is None:
            return NOT_THERE
        return self.mark.html + "".join(f"<p>{escape(note)}</p>" for note in self.mark.notes)

    @property
    def text(self) -> str:
        """The panel without its marks, for graders that show no HTML."""
        lines = re.sub(
            r"<(?:/(?:div|p|tr|table|summary|li)|br)\b[^>]*>", "\n", re.sub(r"<(style|svg|script)\b.*?</\1>", "", self.html, flags=re.S)
        )
        plain = (re.sub(r"[ \t]+", " ", line).strip() for line in unescape(re.sub(r"<[^>]*>", " ", lines)).splitlines())
        return "\n".join(line for line in plain if line)


@dataclass(frozen=True)
class Outcome:
    """A submission: its exercises in the order of the course, what could not be read, and the walls it ran behind."""

    entries: list[Entry]
    problems: list[str]
    walls: str

    @property
    def points(self) -> float:
        """All points together."""
        return round(sum(entry.points for entry in self.entries), 6)

    @property
    def possible(self) -> float:
        """What could have been earned."""
        return round(sum(entry.possible for entry in self.entries), 6)

    @property
    def said(self) -> str:
        """What stands above the exercises."""
        return "\n".join(["Could not be graded: " + problem for problem in self.problems]) or "Every file could be read."


def plain(outcome: Outcome) -> dict[str, Any]:
    """Everything, for a grader of your own."""
    exercises = [
        {name: getattr(entry, name) for name in ("exercise", "title", "points", "possible", "extra")}
        | {"stage": "not handed in", "message": NOT_THERE, "mistake": None, "notes": [], "html": entry.html, "text": entry.text}
        | ({name: getattr(entry.mark, name) for name in ("stage", "message", "mistake", "notes", "copied")} if entry.mark else {})
        for entry in outcome.entries
    ]
    head = {"version": 1, "points": outcome.points, "possible": outcome.possible, "walls": outcome.walls}
    return {**head, "problems": outcome.problems, "exercises": exercises}


def readable(outcome: Outcome) -> str:
    """For somebody who reads it in a terminal."""
    lines = [f"Could not be graded: {problem}" for problem in outcome.problems]
    for entry in outcome.entries:
        said = NOT_THERE if entry.mark is None else "" if entry.passed else printable(entry.mark.message or entry.mark.stage, 300)
        points = "" if entry.extra else f"{entry.points:g} of {entry.possible:g}. "
        lines.append(f"{entry.name}: {points}{said}".rstrip())
    return "\n".join(lines)


def gradescope(outcome: Outcome) -> dict[str, Any]:
    """Gradescope's results.json; Otter-Grader's has the same form."""
    tests = [
        {"name": entry.name, "number": entry.exercise, "score": entry.points, "max_score": entry.possible}
        | {"status": "passed" if entry.passed else "failed", "output": entry.html, "output_format": "html"}
        for entry in outcome.entries
    ]
    return {"score": outcome.points, "output": outcome.said, "output_format": "text", "stdout_visibility": "hidden", "tests": tests}


def prairielearn(outcome: Outcome) -> dict[str, Any]:
    """What PrairieLearn reads from /grade/results/results.json: a share of the question's points, and texts without HTML."""
    tests = [{"name": entry.name, "points": entry.points, "max_points": entry.possible, "output": entry.text} for entry in outcome.entries]
    score = round(outcome.points / outcome.possible, 6) if outcome.possible else 0.0
    return {"gradable": not outcome.problems or bool(tests), "score": score, "message": outcome.said, "tests": tests}


def classroom(outcome: Outcome) -> dict[str, Any]:
    """What the reporter of GitHub Classroom reads; ``encoded`` is the same, ready to be put into its variable."""
    tests = [
        {"name": entry.name, "status": "pass" if entry.passed else "fail", "score": entry.points, "message": entry.text}
        for entry in outcome.entries
    ]
    result = {
        "version": 1,
        "status": "pass" if outcome.points == outcome.possible else "fail",
        "max_score": outcome.possible,
        "tests": tests,
    }
    return {**result, "encoded": base64.b64encode(json.dumps(result).encode()).decode()}


FORMS: dict[str, Callable[[Outcome], dict[str, Any]]] = {
    "plain": plain,
    "gradescope": gradescope,
    "prairielearn": prairielearn,
    "classroom": classroom,
}
