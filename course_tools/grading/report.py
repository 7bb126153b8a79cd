"""What instructors and learners get: ``gradebook.csv``, a page for each student, ``report.html`` for the class.

Pages are self-contained HTML; every word that comes from a submission is escaped.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from .collect import printable
from .marks import exercises_of
from .run import Book
from .settings import Settings

_FORMULA = re.compile(r"(^|[;|\t]\s*)(?=[=+\-@\t\r])")
STYLE = """<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:54em;margin:2em auto;padding:0 1em}
table{border-collapse:collapse}td,th{padding:.15em .7em;text-align:left;border-bottom:1px solid #8884}td.n,th.n{text-align:right}
.bar{display:inline-block;background:#3a7cbd;height:.9em;vertical-align:middle}.note{opacity:.75;font-size:90%}h2{margin-top:1.6em}</style>"""


@dataclass
class Student:
    """Everything of one student: the best mark of each exercise, and what could not be read."""

    name: str
    identity: str = ""
    marks: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    def total(self) -> float:
        """Weighted points, late penalty included."""
        return round(sum(mark["counts"] for mark in self.marks.values()), 4)


def students_of(book: Book, settings: Settings, keys: set[str] | None = None, stamp: str | None = None) -> list[Student]:
    """Read the lines of a run, the newest of each notebook; an exercise that was handed in twice counts once, at its best.

    With ``stamp`` only lines of these exercises: a run with ``--only`` in the same folder graded fewer.
    """
    newest: dict[str, int] = {}
    for number, line in enumerate(book.lines()):
        if (keys is None or line["key"] in keys) and stamp in (None, line.get("stamp")):
            newest[line["key"]] = number
    wanted = set(newest.values())
    students: dict[tuple[str, str], Student] = {}
    for number, line in enumerate(book.lines()):
        if number not in wanted:
            continue
        submission = line["submission"]
        who = submission["student"], submission["identity"]  # two students may share a name
        student = students.setdefault(who, Student(*who))
        student.files.append(submission["label"])
        if line["problem"]:
            student.problems.append(f"{submission['label']}: {line['problem']}")
        kept = settings.kept(submission["handed_in"])
        for exercise, mark in line["marks"].items():
            mark["counts"] = round(settings.points(exercise, mark["points"], mark["possible"]) * kept, 6)
            mark["file"] = submission["label"]
            if kept < 1:
                mark["notes"] = [*mark["notes"], f"handed in late: {kept:.0%} of the points remain"]
            old = student.marks.get(exercise)
            if old is not None:
                better, other = (mark, old) if mark["counts"] > old["counts"] else (old, mark)
                better["notes"] = [*better["notes"], f"handed in twice; this is the better one, from {printable(better['file'])}"]
                mark = better
                assert other
            student.marks[exercise] = mark
    return sorted(students.values(), key=lambda s: (s.name, s.identity))


def cell(value: Any) -> Any:
    """A cell of a table: what a spreadsheet would run as a formula gets an apostrophe in front, also where another separator than the
    comma would begin a cell."""
    return _FORMULA.sub(r"\1'", value) if isinstance(value, str) else value


def gradebook(students: list[Student], settings: Settings) -> str:
    """The CSV for people, with a column for each exercise: points, total, per cent. :func:`canvas` and :func:`moodle` are for imports."""
    exercises = exercises_of()
    present = [key for key in exercises if any(key in s.marks for s in students)]
    possible = {key: settings.points(key, exercises[key].points, exercises[key].points) for key in present}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *(f"{key} ({possible[key]:g})" for key in present), "Total",
                     "Percent", "Problems"])
    counted = commonly_handed_in(students)
    most = sum(possible[key] for key in counted)
    for student in students:
        row: list[Any] = [cell(printable(student.name)), cell(printable(student.identity)) if student.identity else "", "", "", ""]
        row += [f"{student.marks[key]['counts']:g}" if key in student.marks else "" for key in present]
        problems = cell(printable("; ".join(student.problems), 300)) if student.problems else ""
        share = sum(student.marks[key]["counts"] for key in counted if key in student.marks) / most if most else 0.0
        row += [f"{student.total():g}", f"{100 * share:.1f}", problems]
        writer.writerow(row)
    return out.getvalue()


def canvas(students: list[Student], settings: Settings) -> str:
    """What Canvas imports: a column for each chapter and a line of possible points; empty when nobody has an identity of Canvas."""
    mine = [s for s in students if s.identity.isdigit()]
    chapters = sorted({key.split(".")[0] for s in mine for key in s.marks})
    rows: list[list[Any]] = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *(f"Attention {chapter}" for chapter in chapters)],
                             ["    Points Possible", "", "", "", "", *(f"{most_in(chapter, settings):g}" for chapter in chapters)]]
    for student in mine:
        mine_in = [[mark["counts"] for key, mark in student.marks.items() if key.split(".")[0] == chapter] for chapter in chapters]
        rows.append([cell(printable(student.name)), student.identity, "", "", "", *(f"{sum(m):g}" if m else "" for m in mine_in)])
    return table(rows) if mine else ""


def moodle(students: list[Student], settings: Settings) -> str:
    """What Moodle takes as an assignment's grading worksheet (in English); empty when nobody has an identity of Moodle."""
    mine = [s for s in students if s.identity.startswith("Participant ")]
    most = f"{sum(most_in(chapter, settings) for chapter in {key.split('.')[0] for s in mine for key in s.marks}):g}"
    rows = [[s.identity, cell(printable(s.name)), f"{s.total():g}", most, "-"] for s in mine]
    return table([["Identifier", "Full name", "Grade", "Maximum Grade", "Last modified (grade)"], *rows]) if mine else ""


def most_in(chapter: str, settings: Settings) -> float:
    """Weighted points that a chapter's exercises have together."""
    return sum(settings.points(key, e.points, e.points) for key, e in exercises_of((chapter,)).items())


def table(rows: list[list[Any]]) -> str:
    """Rows as CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows(rows)
    return out.getvalue()


def commonly_handed_in(students: list[Student]) -> list[str]:
    """Exercises of which per cents are taken: those that at least half of the class handed in, so that one stray notebook
    with other exercises does not lower everybody's."""
    return [key for key in exercises_of() if students and 2 * sum(key in s.marks for s in students) >= len(students)]


def page_name(student: Student) -> str:
    """A file name from a name that may be anything: readable, and unlike any other student's."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", printable(student.name)).strip("-")[:40] or "student"
    return f"{plain}-{hashlib.sha256(f'{student.name} {student.identity}'.encode(errors='backslashreplace')).hexdigest()[:8]}.html"


def feedback(student: Student, settings: Settings) -> str:
    """One student's page: the panels they know, in the order of the course."""
    exercises = exercises_of()
    most = {key: settings.points(key, exercises[key].points, exercises[key].points) for key in student.marks}
    parts = [f"<h1>{escape(printable(student.name))}</h1><p><b>{student.total():g}</b> of {sum(most.values()):g} points, "
             f"{len(most)} exercises.</p>"]
    parts += [f"<p>Could not be graded: {escape(printable(text, 300))}</p>" for text in student.problems]
    for key in exercises:
        mark = student.marks.get(key)
        if mark is None:
            continue
        weight = settings.weight(key)
        shown = f" · counts {mark['counts']:g} of {most[key]:g}" if mark["counts"] != mark["points"] or weight != 1 else ""
        parts.append(f"<h2>{escape(key)}{shown}</h2>{mark['html']}")
        if len(mark["earned"]) > 1:
            earned = ", ".join(f"{escape(part)} {points:g}" for part, points in mark["earned"].items())
            parts.append(f"<p class='note'>Parts: {earned}</p>")
        parts += [f"<p class='note'>{escape(printable(text, 300))}</p>" for text in mark["notes"]]
    return _page(printable(student.name), "".join(parts))


def class_report(students: list[Student], settings: Settings) -> str:
    """The class: how the points are spread, which misconceptions are common, and what could not be read."""
    exercises = exercises_of()
    present = [key for key in exercises if any(key in s.marks for s in students)]
    most = sum(settings.points(k, exercises[k].points, exercises[k].points) for k in commonly_handed_in(students)) or 1
    tenths = Counter(min(9, int(10 * s.total() / most)) for s in students)
    highest = max(tenths.values(), default=1)
    rows = "".join(f"<tr><td>{10 * i}–{10 * i + 10} %</td><td class='n'>{tenths[i]}</td>"
                   f"<td><span class='bar' style='width:{12 * tenths[i] / highest:.2f}em'></span></td></tr>" for i in range(10))
    parts = [f"<h1>The class</h1><p>{len(students)} students, {len(present)} exercises.</p><h2>Points</h2><table><tr>"
             f"<th>share of all points</th><th class='n'>students</th><th></th></tr>{rows}</table>"]
    mistakes: dict[tuple[str, str], list[Student]] = defaultdict(list)
    for student in students:
        for key, mark in student.marks.items():
            if mark["mistake"] and mark["stage"] != "not attempted" and not mark.get("follows"):
                mistakes[key, mark["mistake"]].append(student)
    ranked = sorted(mistakes.items(), key=lambda item: (-len(item[1]), item[0]))
    parts.append("<h2>What should I teach again tomorrow?</h2>")
    parts.append("<table><tr><th>exercise</th><th>misconception</th><th class='n'>students</th></tr>" + "".join(
        f"<tr><td>{escape(key)} {escape(exercises[key].title)}</td><td>{escape(name)}</td><td class='n'>{len(who)}</td></tr>"
        for (key, name), who in ranked) + "</table>" if ranked else "<p>No misconception was recognised.</p>")
    for (key, name), who in ranked[:5]:
        parts.append(f"<h3>{escape(key)}: {escape(name)}</h3><p class='note'>For example:</p>{who[0].marks[key]['html']}")
    parts.append("<h2>Exercises</h2><table><tr><th>exercise</th><th class='n'>handed in</th><th class='n'>right</th>"
                 "<th class='n'>partly</th><th class='n'>not attempted</th></tr>")
    for key in present:
        marks = [s.marks[key] for s in students if key in s.marks]
        right = sum(m["points"] >= m["possible"] for m in marks)
        blank = sum(m["stage"] == "not attempted" for m in marks)
        partly = sum(0 < m["points"] < m["possible"] for m in marks)
        parts.append(f"<tr><td>{escape(key)} {escape(exercises[key].title)}</td><td class='n'>{len(marks)}</td><td class='n'>{right}</td>"
                     f"<td class='n'>{partly}</td><td class='n'>{blank}</td></tr>")
    parts.append("</table>")
    troubled = [s for s in students if s.problems]
    if troubled:
        parts.append("<h2>Could not be graded</h2><ul>" + "".join(
            f"<li>{escape(printable(s.name))}: {escape(printable('; '.join(s.problems), 300))}</li>" for s in troubled) + "</ul>")
    return _page("Class report", "".join(parts))


def _page(title: str, body: str) -> str:
    return (f"<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
            f"<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">"
            f"<title>{escape(title)}</title>{STYLE}</head><body>{body}</body></html>\n")


def write_reports(book: Book, settings: Settings, keys: set[str] | None = None, stamp: str | None = None) -> list[Student]:
    """Write the CSV, the pages and the class report into the run's folder; each file takes its old one's place whole."""
    students = students_of(book, settings, keys, stamp)
    pages = book.folder / "feedback"
    pages.mkdir(exist_ok=True)
    wanted = set()
    for student in students:
        wanted.add(page_name(student))
        _replace(pages / page_name(student), feedback(student, settings))
    for old in pages.glob("*.html"):
        if old.name not in wanted:
            old.unlink()
    _replace(book.folder / "report.html", class_report(students, settings))
    _replace(book.folder / "gradebook.csv", "\ufeff" + gradebook(students, settings))
    for name, text in (("canvas.csv", canvas(students, settings)), ("moodle.csv", moodle(students, settings))):
        (book.folder / name).unlink(missing_ok=True)
        if text:
            _replace(book.folder / name, text)
    return students


def _replace(path: Path, text: str) -> None:
    beside = path.with_name(path.name + ".part")
    beside.write_text(text, encoding="utf-8", newline="", errors="replace")
    os.replace(beside, path)
