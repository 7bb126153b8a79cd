"""The page that a student reads. Every word that comes from a submission is escaped."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from html import escape

from .collect import printable
from .marks import Mark, exercises_of
from .markup import page, panel
from .settings import Settings
from .students import CountedMark, Student


def page_name(student: Student) -> str:
    """A file name from a name that may be anything: readable, and unlike any other student's."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", printable(student.name)).strip("-")[:40] or "student"
    return f"{plain}-{hashlib.sha256(f'{student.name} {student.identity}'.encode(errors='backslashreplace')).hexdigest()[:8]}.html"


def state(mark: Mark) -> str:
    """ "right", "not yet" or "blank", as the panel says it."""
    return "right" if mark.stage == "passed" else "blank" if mark.stage == "not attempted" else "not yet"


def nothing_filled_in(student: Student) -> bool:
    """Whether every exercise is as it was handed out: perhaps the wrong copy of the notebook."""
    return bool(student.marks) and all(state(mark) == "blank" for mark in student.marks.values())


def feedback(student: Student, settings: Settings) -> str:
    """One student's page: how it stands, what to mend first, then the panels they know, in the order of the course."""
    name, chapters = printable(student.name), dict.fromkeys(key.split(".")[0] for key in exercises_of() if key in student.marks)
    parts = [f"<h1>{escape(name)}</h1>", _overview(student)]
    parts += [f"<p>Could not be graded: {escape(printable(text, 300))}</p>" for text in student.problems]
    parts += [_chapter(chapter, student, settings) for chapter in chapters]
    if student.marks:
        files = dict.fromkeys(printable(mark.file) for mark in student.marks.values())
        several = any(mark.times > 1 for mark in student.marks.values())
        best = "Where you handed in an exercise more than once, the best answer counts. " if several else ""
        parts.append(f"<p class='note'>{best}These marks come from {escape(', '.join(files))}.</p>")
    return page(f"Feedback: {name}", "".join(parts))


def _chapter(chapter: str, student: Student, settings: Settings) -> str:
    """The panels of one chapter, and in one line what was left as it was."""
    parts, blank = [f"<h2>Chapter {escape(chapter)}</h2>"], []
    for key, exercise in exercises_of((chapter,)).items():
        mark = student.marks.get(key)
        if mark is None:
            continue
        most = settings.full(key)
        notes = _notes(mark, most, weighted=settings.weight(key) != 1)
        if key not in student.counted:
            notes.insert(0, "This exercise is extra: it was not assigned, and its points are not in your total.")
        if state(mark) == "blank" and not mark.mistake and not notes:
            blank.append(f"{key} {exercise.title} ({most:g} points)")
            continue
        parts.append(f"<section id='{_anchor(key)}'>{panel(mark.html)}")
        if len(mark.earned) > 1 and state(mark) == "not yet":
            earned = ", ".join(f"{part} {points:g} of {exercise.parts.get(part, points):g}" for part, points in mark.earned.items())
            parts.append(f"<p class='note'>Points by part: {escape(earned)}.</p>")
        parts += [f"<p class='note'>{escape(printable(text, 300))}</p>" for text in notes] + ["</section>"]
    if blank:
        parts.append(f"<p>○ Not attempted: {escape('; '.join(blank))}.</p>")
    return "".join(parts)


def _notes(mark: CountedMark, most: float, weighted: bool) -> list[str]:
    """What is to be said below a panel."""
    notes = [*mark.notes, *([mark.by_hand] if mark.by_hand else [])]
    if mark.counts != mark.points or weighted:
        notes.insert(0, f"In this class it counts {mark.counts:g} of {most:g} points.")
    if mark.claimed:
        notes.append(
            "The output saved in your notebook says “right”, and grading came to another result. That happens, for example "
            "when cells were run in another order. Your instructor has been asked to look at it."
        )
    if mark.times > 1 and state(mark) == "not yet":
        notes.append(f"You handed this in {mark.times} times. This is the best answer, from {mark.file}.")
    return notes


def _anchor(key: str) -> str:
    return "ex-" + key.replace(".", "-")


def _overview(student: Student) -> str:
    """Points, how many exercises are right, and what to mend first."""
    if student.absent:
        return "<p class='lead'>Nothing of yours was among what was handed in. If you did hand in, please tell your instructor.</p>"
    if not student.marks:
        return "<p class='lead'>Nothing that you handed in could be graded. Here is the reason; please hand in again.</p>"
    exercises = exercises_of()
    count = Counter(state(student.marks[key]) if key in student.marks else "missing" for key in student.counted)
    parts = [
        f"<p class='lead'><b>{student.total():g}</b> of {student.possible:g} points. "
        f"{count['right']} of {_many(len(student.counted), 'exercise')} {'is' if count['right'] == 1 else 'are'} right"
    ]
    words = {"not yet": "not yet", "blank": "not attempted", "missing": "not handed in"}
    others = [f"{count[kind]} {word}" for kind, word in words.items() if count[kind]]
    parts.append(f" ({', '.join(others)}).</p>" if others else ". Well done!</p>")
    if nothing_filled_in(student):
        parts.append(
            "<p>Every exercise is as it was handed out. If you worked on them, you probably handed in the wrong copy of the "
            "notebook: <code>course.py lab</code> keeps yours in the folder <code>work</code>.</p>"
        )
    if count["missing"]:
        missing = [f"{key} {exercises[key].title}" for key in student.counted if key not in student.marks]
        parts.append(f"<p>Not handed in: {escape('; '.join(missing))}.</p>")
    wrong = [key for key in exercises if key in student.marks and state(student.marks[key]) == "not yet"]
    first = [key for key in wrong if not student.marks[key].follows]
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


def _many(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")
