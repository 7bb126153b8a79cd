"""The tables of a run: ``gradebook.csv`` for people, ``canvas.csv`` and ``moodle.csv`` for their systems."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

from .collect import printable
from .marks import exercises_of
from .settings import Settings
from .students import Student, assigned, share

FIRST_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")  # as Canvas wants them
_FORMULA = re.compile(r"(^|[;|\t]\s*)(?=[=+\-@＝＋－＠\t\r])")


def cell(value: Any) -> Any:
    """A cell of a table: what a spreadsheet would run as a formula gets an apostrophe in front, also where another separator than the
    comma would begin a cell."""
    return _FORMULA.sub(r"\1'", value) if isinstance(value, str) else value


def gradebook(students: list[Student], settings: Settings, only: tuple[str, ...] = ()) -> str:
    """The CSV for people, with a column for each exercise: points, total, per cent. :func:`canvas` and :func:`moodle` are for imports."""
    exercises = exercises_of()
    present = [key for key in exercises if any(key in s.marks for s in students)]
    possible = {key: settings.points(key, exercises[key].points, exercises[key].points) for key in present}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([*FIRST_COLUMNS, *(f"{key} ({possible[key]:g})" for key in present), "Total", "Percent", "Problems"])
    everybody = assigned(students, settings, only)
    for student in students:
        row: list[Any] = [cell(printable(student.name)), cell(printable(student.identity)) if student.identity else "", "", "", ""]
        row += [f"{student.marks[key].counts:g}" if key in student.marks else "" for key in present]  # empty: not handed in
        problems = cell(printable("; ".join(student.problems), 300)) if student.problems else ""
        part = share(student, everybody, settings, only)
        row += [f"{student.total():g}", "" if part is None else f"{100 * part:.1f}", problems]
        writer.writerow(row)
    return out.getvalue()


def canvas(students: list[Student], settings: Settings) -> str:
    """What Canvas imports: a column for each chapter and a line of possible points; empty when nobody has an identity of Canvas.

    Canvas takes every row whose name holds "Points Possible" for that line: no student's name may.
    """
    mine = [s for s in students if s.identity.isdigit()]
    chapters = sorted({key.split(".")[0] for s in mine for key in s.marks})
    rows: list[list[Any]] = [
        [*FIRST_COLUMNS, *(f"Attention {chapter}" for chapter in chapters)],
        ["    Points Possible", "", "", "", "", *(f"{most_in(chapter, settings):g}" for chapter in chapters)],
    ]
    for student in mine:
        mine_in = [[mark.counts for key, mark in student.marks.items() if key.split(".")[0] == chapter] for chapter in chapters]
        name = cell(printable(student.name)).replace("Points Possible", "Points-Possible")
        rows.append([name, student.identity, "", "", "", *(f"{sum(m):g}" if m else "" for m in mine_in)])
    return table(rows) if mine else ""


def moodle(students: list[Student], settings: Settings) -> str:
    """What Moodle takes as an assignment's grading worksheet (in English); empty when nobody has an identity of Moodle.

    Without a mark there is no grade, not 0: Moodle passes over an empty one.
    """
    mine = [s for s in students if s.identity.startswith("Participant ")]
    most = f"{sum(most_in(chapter, settings) for chapter in {key.split('.')[0] for s in mine for key in s.marks}):g}"
    rows = [[s.identity, cell(printable(s.name)), f"{s.total():g}" if s.marks else "", most, "-"] for s in mine]
    return table([["Identifier", "Full name", "Grade", "Maximum Grade", "Last modified (grade)"], *rows]) if mine else ""


def most_in(chapter: str, settings: Settings) -> float:
    """Weighted points that a chapter's exercises have together."""
    return sum(settings.points(key, e.points, e.points) for key, e in exercises_of((chapter,)).items())


def table(rows: list[list[Any]]) -> str:
    """Rows as CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows(rows)
    return out.getvalue()
