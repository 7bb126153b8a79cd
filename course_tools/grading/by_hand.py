"""Marks that an instructor has changed: a CSV file with student, exercise, points and why."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

from .marks import exercises_of
from .roster import plain, rows_of
from .settings import Settings
from .students import CountedMark, Student

COLUMNS = ("student", "exercise", "points", "why")


@dataclass(frozen=True)
class Change:
    """A line of the file: whose points of which exercise become what, and why; ``where`` it stands."""

    student: str
    exercise: str
    points: float
    why: str
    where: str


def load_changes(path: str | Path | None) -> list[Change]:
    """Read the file; ValueError that names it, the line and what is wrong with it."""
    found: dict[tuple[str, str], Change] = {}
    for number, row in rows_of(path, COLUMNS) if path else ():
        change = _change(f"{path}: line {number}", row)
        if found.setdefault((plain(change.student), change.exercise), change) is not change:
            raise ValueError(f"{change.where}: {change.student!r} has a line for {change.exercise} already")
    return list(found.values())


def _change(where: str, row: dict[str, str]) -> Change:
    student, exercise, points, why = (row.get(name, "") for name in COLUMNS)
    for name in ("student", "why"):
        if not row.get(name):
            raise ValueError(f"{where}: the column {name} is empty" + (": the student will read it" if name == "why" else ""))
    if exercise not in exercises_of():
        raise ValueError(f"{where}: there is no exercise {exercise!r}; write 03.2")
    most = exercises_of()[exercise].points
    try:
        number = float(points)
    except ValueError:
        number = math.nan
    if not 0 <= number <= most:
        raise ValueError(f"{where}: points = {points!r} must be a number from 0 to {most:g}, the points of {exercise}")
    return Change(student, exercise, number, why, where)


def change_marks(students: list[Student], changes: list[Change], settings: Settings) -> None:
    """Put the points in the places of those that grading gave; weights and what being late costs stay. ValueError with the line, where
    its student is nobody's name or number, or several students'."""
    for change in changes:
        found = [student for student in students if plain(change.student) in student.called()]
        if len(found) != 1:
            who = f"{len(found)} students are" if found else "nobody is"
            why = f"{who} called {change.student!r}: write the name, or the number, as gradebook.csv has it"
            raise ValueError(f"{change.where}: {why}. Every notebook is graded; mend the line and start again with --resume")
        marks, exercise = found[0].marks, exercises_of()[change.exercise]
        title = f"<p><b>{exercise.id} {exercise.title}</b></p>"
        mark = marks.get(exercise.id) or CountedMark(exercise.id, 0.0, exercise.points, "not attempted", None, "", title, file="by hand")
        said = f"Changed by hand from {mark.points:g} to {change.points:g} of {mark.possible:g} points: {change.why}"
        looked_at = replace(mark, claimed=False, copied=False, unjudged=False, mistake=None, follows="", earned={})
        stage = "passed" if change.points == mark.possible else "changed by hand"
        counts = round(change.points * settings.weight(exercise.id) * mark.kept, 6)
        marks[exercise.id] = replace(looked_at, points=change.points, stage=stage, counts=counts, by_hand=said)
