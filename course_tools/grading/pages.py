"""What a learner reads, and what every page of the grading is made of.

Pages are self-contained HTML; every word that comes from a submission is escaped.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from html import escape
from typing import Any

from .collect import printable
from .marks import exercises_of
from .settings import Settings
from .students import Student

STYLE = """<style>:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:58em;margin:2em auto;padding:0 1em;overflow-wrap:break-word}
h2{margin:1.8em 0 .5em}h3{margin:1.2em 0 .3em;font-size:1.05em}.lead{font-size:1.15em}.note{opacity:.8;font-size:90%}
table{border-collapse:collapse}td,th{padding:.2em .7em;text-align:left;vertical-align:top;border-bottom:1px solid #8886;font-weight:normal}
thead th{font-weight:600}td.n,th.n{text-align:right}tbody th{min-width:8em}.said{min-width:16em}
.scroll{overflow-x:auto;overflow-wrap:normal;background:linear-gradient(90deg,Canvas 65%,transparent) 0 0/1.6em 100% no-repeat local,
linear-gradient(270deg,Canvas 65%,transparent) 100% 0/1.6em 100% no-repeat local,linear-gradient(90deg,#888a,transparent) 0 0/.8em 100%
no-repeat scroll,linear-gradient(270deg,#888a,transparent) 100% 0/.8em 100% no-repeat scroll}
.line{white-space:nowrap}.bar{display:inline-block;background:#3a7cbd;height:.8em}
.panel{margin:.8em 0}.panel>div{max-width:none!important}.panel h3{margin:0;font-size:1em}code{overflow-wrap:anywhere}
details{margin:.4em 0}summary{cursor:pointer;padding:.15em 0}ul{margin:.3em 0;padding-left:1.4em}nav a{margin-right:1.1em}</style>"""
_HEADLINE = re.compile(r"<div style='font-weight:600'>(.*?)</div>", re.DOTALL)


def page(title: str, body: str) -> str:
    """A whole page, which loads and runs nothing."""
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width,initial-scale=1'>"
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(title)}</title>{STYLE}</head><body><main>{body}</main></body></html>\n"
    )


def table(label: str, heads: Iterable[str], rows: Iterable[str]) -> str:
    """A table of ready rows; a heading that begins with "#" stands over numbers. Where a screen is narrow it scrolls by itself; a shadow
    at its edge says that there is more."""
    head = "".join(f"<th scope='col'{' class=n' if text.startswith('#') else ''}>{escape(text.removeprefix('#'))}</th>" for text in heads)
    return (
        f"<div class='scroll' tabindex='0' role='region' aria-label='{escape(label, quote=True)}'><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def row(first: str, *others: Any) -> str:
    """A row: its heading, then numbers to the right and ready HTML to the left."""
    cells = "".join(f"<td>{value}</td>" if isinstance(value, str) else f"<td class='n'>{value:g}</td>" for value in others)
    return f"<tr><th scope='row'>{first}</th>{cells}</tr>"


def bar(width: float, text: str = "") -> str:
    """A bar of so many widths of a letter, and what it says in figures."""
    return f"<span class='line'><span class='bar' style='width:{width:.2f}em'></span> {escape(text)}</span>"


def panel(html: str) -> str:
    """A check's panel whose headline is a heading of the page."""
    headed = _HEADLINE.sub(r"<h3>\1</h3>", html, count=1)
    return f"<div class='panel'>{headed}</div>"


def page_name(student: Student) -> str:
    """A file name from a name that may be anything: readable, and unlike any other student's."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", printable(student.name)).strip("-")[:40] or "student"
    return f"{plain}-{hashlib.sha256(f'{student.name} {student.identity}'.encode(errors='backslashreplace')).hexdigest()[:8]}.html"


def state(mark: dict[str, Any]) -> str:
    """ "right", "not yet" or "blank", as the panel says it."""
    return "right" if mark["stage"] == "passed" else "blank" if mark["stage"] == "not attempted" else "not yet"


def nothing_filled_in(student: Student) -> bool:
    """Whether every exercise is as it was handed out: perhaps the wrong copy of the notebook."""
    return bool(student.marks) and all(state(mark) == "blank" for mark in student.marks.values())


def feedback(student: Student, settings: Settings) -> str:
    """One student's page: how it stands, what to mend first, then the panels they know, in the order of the course."""
    exercises, name = exercises_of(), printable(student.name)
    parts = [f"<h1>{escape(name)}</h1>", _overview(student, settings)]
    parts += [f"<p>Could not be graded: {escape(printable(text, 300))}</p>" for text in student.problems]
    chapter, blank = "", []
    for key, exercise in exercises.items():
        mark = student.marks.get(key)
        if mark is None:
            continue
        if key.split(".")[0] != chapter:
            parts.append(_blanks(blank))
            chapter, blank = key.split(".")[0], []
            parts.append(f"<h2>Chapter {escape(chapter)}</h2>")
        most = settings.points(key, exercise.points, exercise.points)
        notes = list(mark["notes"])
        if mark["counts"] != mark["points"] or settings.weight(key) != 1:
            notes.insert(0, f"In this class it counts {mark['counts']:g} of {most:g} points.")
        if state(mark) == "blank" and not mark["mistake"] and not notes:
            blank.append(f"{key} {exercise.title} ({most:g} points)")
            continue
        parts.append(f"<section id='{_anchor(key)}'>{panel(mark['html'])}")
        if len(mark["earned"]) > 1 and state(mark) == "not yet":
            earned = ", ".join(f"{part} {points:g} of {exercise.parts.get(part, points):g}" for part, points in mark["earned"].items())
            parts.append(f"<p class='note'>Points by part: {escape(earned)}.</p>")
        if mark.get("claimed"):
            notes.append(
                "The output saved in your notebook says “right”, and grading came to another result. That happens, for example "
                "when cells were run in another order. Your instructor has been asked to look at it."
            )
        if mark.get("times", 1) > 1 and state(mark) == "not yet":
            notes.append(f"You handed this in {mark['times']} times. This is the best answer, from {mark['file']}.")
        parts += [f"<p class='note'>{escape(printable(text, 300))}</p>" for text in notes] + ["</section>"]
    parts.append(_blanks(blank))
    if student.marks:
        files = dict.fromkeys(printable(mark["file"]) for mark in student.marks.values())
        several = any(mark.get("times", 1) > 1 for mark in student.marks.values())
        best = "Where you handed in an exercise more than once, the best answer counts. " if several else ""
        parts.append(f"<p class='note'>{best}These marks come from {escape(', '.join(files))}.</p>")
    return page(f"Feedback: {name}", "".join(parts))


def _anchor(key: str) -> str:
    return "ex-" + key.replace(".", "-")


def _overview(student: Student, settings: Settings) -> str:
    """Points, how many exercises are right, and what to mend first."""
    if not student.marks:
        return "<p class='lead'>Nothing that you handed in could be graded. Here is the reason; please hand in again.</p>"
    exercises = exercises_of()
    most = sum(settings.points(key, exercises[key].points, exercises[key].points) for key in student.marks)
    count = {kind: sum(state(mark) == kind for mark in student.marks.values()) for kind in ("right", "not yet", "blank")}
    parts = [
        f"<p class='lead'><b>{student.total():g}</b> of {most:g} points. {count['right']} of {_many(len(student.marks), 'exercise')} "
        f"{'is' if count['right'] == 1 else 'are'} right"
    ]
    others = [f"{count[kind]} {word}" for kind, word in (("not yet", "not yet"), ("blank", "not attempted")) if count[kind]]
    parts.append(f" ({', '.join(others)}).</p>" if others else ". Well done!</p>")
    if nothing_filled_in(student):
        parts.append(
            "<p>Every exercise is as it was handed out. If you worked on them, you probably handed in the wrong copy of the "
            "notebook: <code>course.py lab</code> keeps yours in the folder <code>work</code>.</p>"
        )
    wrong = [key for key in exercises if key in student.marks and state(student.marks[key]) == "not yet"]
    first = [key for key in wrong if not student.marks[key].get("follows")]
    if wrong:
        links = ", ".join(f"<a href='#{_anchor(key)}'>{escape(key)} {escape(exercises[key].title)}</a>" for key in (first or wrong)[:4])
        parts.append(f"<p>What to look at first: {links}.</p>")
    if wrong and len(first) < len(wrong):
        parts.append("<p class='note'>Other answers of yours use one of these. They may be right as soon as it is right.</p>")
    if wrong:
        parts.append(
            "<p class='note'>“Tried” shows the input with which your answer failed. Grading draws other numbers than the check in "
            "your notebook; the questions are the same.</p>"
        )
    return "".join(parts)


def _blanks(found: list[str]) -> str:
    """The exercises that were left as they were, in one line."""
    return f"<p>○ Not attempted: {escape('; '.join(found))}.</p>" if found else ""


def _many(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")
