"""The tables of a run: ``gradebook.csv`` for people, ``canvas.csv`` and ``moodle.csv`` for their systems."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

from .collect import printable
from .marks import exercises_of
from .settings import Settings
from .students import Student, assigned

FIRST_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")  # as Canvas wants them
_FORMULA = re.compile(r"(^|[;|\t]\s*)(?=[=+\-@＝＋－＠\t\r])")


def cell(value: Any) -> Any:
    """A cell of a table: what a spreadsheet would run as a formula gets an apostrophe in front, also where another separator than the
    comma would begin a cell."""
    return _FORMULA.sub(r"\1'", value) if isinstance(value, str) else value


def gradebook(students: list[Student], settings: Settings) -> str:
    """The CSV for people, with a column for each exercise: points, total, per cent. :func:`canvas` and :func:`moodle` are for imports."""
    counted = {key for student in students for key in student.counted}
    present = [key for key in exercises_of() if any(key in student.marks for student in students)]
    heads = [f"{key} ({'' if key in counted else 'extra, '}{settings.full(key):g})" for key in present]
    rows: list[list[Any]] = [[*FIRST_COLUMNS, *heads, "Total", "Possible", "Percent", "Problems"]]
    for student in students:
        entry = student.entry
        number = student.identity or (entry.numbers[0] if entry and entry.numbers else "")
        row: list[Any] = [cell(printable(student.name)), cell(printable(number)) if number else ""]
        row += [cell(text) for text in entry.canvas[2:]] if entry and entry.canvas else ["", "", ""]
        row += [f"{student.marks[key].counts:g}" if key in student.marks else "" for key in present]  # empty: not handed in
        problems = cell(printable("; ".join(student.problems), 300)) if student.problems else ""
        percent = "" if student.share is None else f"{100 * student.share:.1f}"
        rows.append([*row, f"{student.total():g}", f"{student.possible:g}", percent, problems])
    return table(rows)


def canvas(students: list[Student], settings: Settings) -> str:
    """What Canvas imports: a column for each chapter and a line of possible points; empty when nobody has a number of Canvas.

    Canvas takes every row whose name holds "Points Possible" for that line: no student's name may.
    """
    mine = [s for s in students if s.canvas]
    counted = {key for s in mine for key in s.counted}
    chapters = sorted({key.split(".")[0] for s in mine for key in s.marks if key in counted})
    most = {chapter: settings.full(*(key for key in counted if key.split(".")[0] == chapter)) for chapter in chapters}
    rows: list[list[Any]] = [
        [*FIRST_COLUMNS, *(f"Attention {chapter}" for chapter in chapters)],
        ["    Points Possible", "", "", "", "", *(f"{most[chapter]:g}" for chapter in chapters)],
    ]
    for student in mine:
        known = student.entry.canvas if student.entry and student.entry.canvas else (student.name, student.canvas, "", "", "")
        first = [cell(printable(text)).replace("Points Possible", "Points-Possible") if text else "" for text in known]
        cells = []
        for chapter in chapters:
            keys = [key for key in student.counted if key.split(".")[0] == chapter]
            handed_in = any(key in student.marks for key in keys)
            cells.append(_of(most[chapter], student.total(chapter), settings.full(*keys)) if handed_in else "")
        rows.append([*first, *cells])
    return table(rows) if mine else ""


def moodle(students: list[Student], settings: Settings, only: tuple[str, ...] = ()) -> str:
    """What Moodle takes as an assignment's grading worksheet (in English); empty when nobody has a number of Moodle.

    Without a mark there is no grade, not 0: Moodle passes over an empty one.
    """
    mine = [s for s in students if s.moodle]
    most = settings.full(*(assigned(students, settings, only) or {key for s in students for key in s.counted}))
    rows = [["Identifier", "Full name", "Grade", "Maximum Grade", "Last modified (grade)"]]
    for s in mine:
        name = s.entry.name if s.entry and s.entry.moodle else s.name
        grade = _of(most, s.total(), s.possible) if set(s.counted) & set(s.marks) else ""
        rows.append([s.moodle, cell(printable(name)), grade, f"{most:g}", "-"])
    return table(rows) if mine else ""


def _of(most: float, points: float, possible: float) -> str:
    """Points as a grade out of ``most``, which is the same share: they differ where what counts is not the same for everybody."""
    return f"{points if possible in (most, 0) else round(points / possible * most, 2):g}"


def table(rows: list[list[Any]]) -> str:
    """Rows as CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows(rows)
    return out.getvalue()
