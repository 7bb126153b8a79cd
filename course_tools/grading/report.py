"""What instructors and learners read: a page for each student, ``report.html`` for the class.

Pages are self-contained HTML; every word that comes from a submission is escaped.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter, defaultdict
from html import escape
from pathlib import Path

from .collect import printable
from .marks import exercises_of
from .run import Book
from .settings import Settings
from .students import Student, assigned, share, students_of
from .tables import canvas, gradebook, moodle

STYLE = """<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:54em;margin:2em auto;padding:0 1em}
table{border-collapse:collapse}td,th{padding:.15em .7em;text-align:left;border-bottom:1px solid #8884}td.n,th.n{text-align:right}
.bar{display:inline-block;background:#3a7cbd;height:.9em;vertical-align:middle}.note{opacity:.75;font-size:90%}h2{margin-top:1.6em}
details{margin:.4em 0}summary{cursor:pointer}</style>"""


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


def class_report(students: list[Student], settings: Settings, only: tuple[str, ...] = ()) -> str:
    """The class: what needs an instructor's eye, how the points are spread, what to talk about tomorrow, each exercise, resubmissions."""
    exercises = exercises_of()
    present = [key for key in exercises if any(key in s.marks for s in students)]
    everybody = assigned(students, settings, only)
    of = escape(", ".join(dict.fromkeys(key.split(".")[0] for key in everybody)) or "none")
    parts = [f"<h1>The class</h1><p>{len(students)} students, {len(present)} exercises. Per cents are taken of {len(everybody)} exercises "
             f"(chapters {of}).</p>", _to_look_at(students)]
    shares = [part for s in students if (part := share(s, everybody, settings, only)) is not None]
    tenths = Counter(min(9, int(10 * part)) for part in shares)
    highest = max(tenths.values(), default=1)
    rows = "".join(f"<tr><td>{10 * i}–{10 * i + 10} %</td><td class='n'>{tenths[i]}</td>"
                   f"<td><span class='bar' style='width:{12 * tenths[i] / highest:.2f}em'></span></td></tr>" for i in range(10))
    parts.append(f"<h2>Points</h2><table><tr><th>share of all points</th><th class='n'>students</th><th></th></tr>{rows}</table>")
    mistakes: dict[str, dict[str, list[Student]]] = defaultdict(lambda: defaultdict(list))
    for student in students:
        for key, mark in student.marks.items():
            if mark["mistake"] and mark["stage"] != "not attempted" and not mark.get("follows"):
                mistakes[key][mark["mistake"]].append(student)
    parts.append(_tomorrow(mistakes))
    parts.append("<h2>Exercises</h2><table><tr><th>exercise</th><th class='n'>handed in</th><th class='n'>right</th>"
                 "<th class='n'>partly</th><th class='n'>not attempted</th><th>solved by</th><th>commonest misconception</th></tr>")
    for key in present:
        marks = [s.marks[key] for s in students if key in s.marks]
        right = sum(m["points"] >= m["possible"] for m in marks)
        blank = sum(m["stage"] == "not attempted" for m in marks)
        partly = sum(0 < m["points"] < m["possible"] for m in marks)
        common = max(mistakes[key].items(), key=lambda item: (len(item[1]), item[0]), default=None)
        often = f"{escape(common[0])} ({len(common[1])})" if common else ""
        parts.append(f"<tr><td>{escape(key)} {escape(exercises[key].title)}</td><td class='n'>{len(marks)}</td><td class='n'>{right}</td>"
                     f"<td class='n'>{partly}</td><td class='n'>{blank}</td><td class='n'>{right / len(marks):.0%}</td>"
                     f"<td>{often}</td></tr>")
    parts += ["</table>", _resubmissions(students)]
    return _page("Class report", "".join(parts))


def _to_look_at(students: list[Student]) -> str:
    """What the machine cannot decide: claims that grading did not confirm, copies, what could not be graded."""
    def named(test: str) -> list[str]:
        return [f"{s.name}: {key}" for s in students for key, mark in s.marks.items() if mark.get(test)]

    kinds = (("The notebook's saved output says “right”, and grading says otherwise", named("claimed")),
             ("Instruction for instruction the course's own version", named("copied")),
             ("What came back could not be judged", named("unjudged")),
             ("Could not be graded", [f"{s.name}: {text}" for s in students for text in s.problems]))
    shown = "".join(f"<h3>{escape(title)}</h3><ul>" + "".join(f"<li>{escape(printable(text, 300))}</li>" for text in texts) + "</ul>"
                    for title, texts in kinds if texts)
    return f"<h2>Please look at these yourself</h2>{shown}" if shown else ""


def _tomorrow(mistakes: dict[str, dict[str, list[Student]]]) -> str:
    """Misconceptions, the commonest first; with each of the first ten what one of the learners saw, without the name."""
    exercises = exercises_of()
    ranked = sorted(((key, name, who) for key, names in mistakes.items() for name, who in names.items()),
                    key=lambda item: (-len(item[2]), item[0], item[1]))
    if not ranked:
        return "<h2>What to talk about tomorrow</h2><p>No misconception was recognised.</p>"
    rows = "".join(f"<tr><td>{escape(key)} {escape(exercises[key].title)}</td><td>{escape(name)}</td><td class='n'>{len(who)}</td></tr>"
                   for key, name, who in ranked)
    examples = "".join(f"<details><summary>{escape(key)}: {escape(name)}</summary>{who[0].marks[key]['html']}</details>"
                       for key, name, who in ranked[:10])
    return ("<h2>What to talk about tomorrow</h2><table><tr><th>exercise</th><th>misconception</th><th class='n'>students</th></tr>"
            f"{rows}</table><p class='note'>What a learner with the mistake sees:</p>{examples}")


def _resubmissions(students: list[Student]) -> str:
    """Points of a chapter from one hand-in to the next, for those who handed it in more than once."""
    again: dict[str, list[list[float]]] = defaultdict(list)
    for student in students:
        for chapter, points in student.history.items():
            if len(points) > 1:
                again[chapter].append(points)
    if not again:
        return ""
    rows = []
    for chapter, series in sorted(again.items()):
        longest = max(map(len, series))
        means = [[points[min(turn, len(points) - 1)] for points in series] for turn in range(longest)]
        course = " → ".join(f"{sum(mean) / len(mean):.1f}" for mean in means[:12])
        rows.append(f"<tr><td>{escape(chapter)}</td><td class='n'>{len(series)}</td><td>{course}</td></tr>")
    return ("<h2>Handed in again</h2><table><tr><th>chapter</th><th class='n'>students</th><th>mean points, hand-in after hand-in</th></tr>"
            + "".join(rows) + "</table>")


def _page(title: str, body: str) -> str:
    return (f"<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
            f"<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">"
            f"<title>{escape(title)}</title>{STYLE}</head><body>{body}</body></html>\n")


def write_reports(book: Book, settings: Settings, keys: set[str] | None = None, stamp: str | None = None,
                  only: tuple[str, ...] = ()) -> list[Student]:
    """Write the CSV, the pages and the class report into the run's folder; each file takes its old one's place whole."""
    students = students_of(book, settings, keys, stamp)
    pages = book.folder / "feedback"
    pages.mkdir(exist_ok=True)
    wanted = set()
    for student in students:
        wanted.add(page_name(student))
        _replace(pages / page_name(student), feedback(student, settings))
    for old in (*pages.glob("*.html"), *pages.glob("*.html.part")):
        if old.name not in wanted:
            old.unlink()
    _replace(book.folder / "report.html", class_report(students, settings, only))
    _replace(book.folder / "gradebook.csv", "\ufeff" + gradebook(students, settings, only))
    for name, text in (("canvas.csv", canvas(students, settings)), ("moodle.csv", moodle(students, settings))):
        if text:
            _replace(book.folder / name, text)
        else:
            (book.folder / name).unlink(missing_ok=True)
    return students


def _replace(path: Path, text: str) -> None:
    beside = path.with_name(path.name + ".part")
    beside.write_text(text, encoding="utf-8", newline="", errors="replace")
    os.replace(beside, path)
