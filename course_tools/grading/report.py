"""What instructors read: ``report.html`` for the class, and everything else that a run writes beside it."""

from __future__ import annotations

import datetime as dt
import os
import re
from collections import Counter, defaultdict
from html import escape
from pathlib import Path
from statistics import median
from typing import Any

from course_checks.exercise import Exercise

from .collect import printable
from .marks import exercises_of
from .pages import bar, feedback, nothing_filled_in, page, page_name, panel, row, state, table
from .run import Book
from .settings import Settings
from .students import HandIn, Student, assigned, share, students_of
from .tables import canvas, gradebook, moodle

TOP, EXAMPLES = 3, 40  # misconceptions that are told first, and those with an example
NO_MISCONCEPTION = (
    "tampering",
    "not an observation",
    "stopped by itself",
    "stopped by the sandbox",
    "time used up",
    "result far too large",
)
_HINT = re.compile(r"<b>Mistake\.</b> (.*?)</div>", re.DOTALL)
# What the panel of an answer says that is wrong for no reason that has a name.
NAMELESS = {
    "raised": "stopped with an error",
    "type": "another type, or other parameters",
    "shape": "another shape",
    "finite": "NaN or infinite",
    "values": "other numbers",
    "gradients": "other gradients",
}
Mistakes = dict[str, dict[str, list[Student]]]  # exercise → misconception → who


def class_report(students: list[Student], settings: Settings, only: tuple[str, ...] = ()) -> str:
    """The class: what needs an instructor's eye, what to talk about tomorrow, each exercise, how the points are spread, resubmissions."""
    everybody = assigned(students, settings, only)
    graded = [s for s in students if s.marks]
    shares = [part for s in graded if (part := share(s, everybody, settings, only)) is not None]
    mistakes: Mistakes = defaultdict(lambda: defaultdict(list))
    for student in graded:
        for key, mark in student.marks.items():
            if mark["mistake"] and state(mark) == "not yet" and not mark.get("follows") and mark["mistake"] not in NO_MISCONCEPTION:
                mistakes[key][mark["mistake"]].append(student)
    middle = f" The median is {100 * median(shares):.0f} % of the points." if shares else ""
    sections = [
        ("look", "Please look at these yourself", _to_look_at(students)),
        ("tomorrow", "What to talk about tomorrow", _tomorrow(graded, mistakes)),
        ("exercises", "Exercises", _exercises(graded, mistakes)),
        ("points", "Points", _points(shares, len(students) - len(graded))),
        ("again", "Handed in again", _resubmissions(graded)),
        ("students", "Students", _students(students, everybody, settings, only)),
    ]
    links = "".join(f"<a href='#{name}'>{title}</a>" for name, title, text in sections if text)
    body = "".join(f"<h2 id='{name}'>{title}</h2>{text}" for name, title, text in sections if text)
    lead = f"{len(graded)} of {len(students)} students handed in something that could be graded.{middle}"
    return page(
        "Class report",
        f"<h1>The class</h1><p class='lead'>{lead}</p><p>{_assigned(everybody, settings, only)}</p>"
        f"<nav aria-label='On this page'>{links}</nav>{body}",
    )


def _assigned(everybody: list[str], settings: Settings, only: tuple[str, ...]) -> str:
    """Of what per cents are taken, and why."""
    chapters = list(dict.fromkeys(key.split(".")[0] for key in everybody))
    which = f"chapter{'s'[: len(chapters) > 1]} {', '.join(chapters)}" if chapters else "nothing"
    them = "them" if len(chapters) > 1 else "it"
    if settings.exercises:
        return f"Percentages refer to the {len(everybody)} exercises that your settings list ({escape(which)})."
    if only:
        return f"Percentages refer to the {len(everybody)} exercises of {escape(which)}, which you asked for with <code>--only</code>."
    return (
        f"Percentages refer to {escape(which)}, because at least half of the class handed {them} in, and to whatever else a student "
        "handed in. If you had assigned something else, list it under <code>exercises</code> in a settings file."
    )


def _to_look_at(students: list[Student]) -> str:
    """What the machine cannot decide: claims that grading did not confirm, copies, what could not be graded."""

    def named(wanted: Any) -> list[str]:
        return [f"{s.name}: {key}" for s in students for key, mark in s.marks.items() if wanted(mark)]

    kinds = (
        ("The notebook's saved output says “right”, and grading says otherwise", named(lambda mark: mark.get("claimed"))),
        ("Instruction for instruction the course's own version", named(lambda mark: mark.get("copied"))),
        ("Something other than an answer wrote into the results", named(lambda mark: mark["mistake"] == "tampering")),
        ("What came back could not be judged", named(lambda mark: mark.get("unjudged"))),
        (
            "Every exercise is as it was handed out, perhaps because this is the wrong copy of the notebook",
            [s.name for s in students if nothing_filled_in(s)],
        ),
        ("Could not be graded", [f"{s.name}: {text.removeprefix(f'{s.name}: ')}" for s in students for text in s.problems]),
    )
    return "".join(
        f"<h3>{escape(title)}</h3><ul>" + "".join(f"<li>{escape(printable(text, 300))}</li>" for text in texts) + "</ul>"
        for title, texts in kinds
        if texts
    )


def _tomorrow(graded: list[Student], mistakes: Mistakes) -> str:
    """Misconceptions, the commonest and then the costliest first, each with what one of the learners saw, without the name; and what the
    fewest solved."""
    exercises = exercises_of()
    ranked = sorted(
        ((key, name, who) for key, names in mistakes.items() for name, who in names.items()),
        key=lambda item: (
            -len(item[2]),
            -sum(s.marks[item[0]]["possible"] - s.marks[item[0]]["points"] for s in item[2]),
            item[0],
            item[1],
        ),
    )
    told, parts = [entry for entry in ranked if len(entry[2]) > 1][:TOP] or ranked[:TOP], []
    for key, name, who in told:
        html = _example(who, key)
        hint = _HINT.search(html)
        why = hint[1].removeprefix(escape(f"{name[0].upper()}{name[1:]}. ")) if hint else ""
        parts.append(
            f"<h3>{escape(_titled(exercises[key], name))} ({_of_those(graded, key, len(who))})</h3>"
            + (f"<p>{why}</p>" if why else "")
            + _details("What one of them sees", panel(html))
        )
    if not ranked:
        parts.append("<p>No misconception was recognised.</p>")
    hardest = sorted((_solved(graded, key), key) for key in exercises if _having(graded, key))[:TOP]
    hardest = [f"{escape(key)} {escape(exercises[key].title)} ({part:.0%})" for part, key in hardest if part < 0.6]
    if hardest:
        parts.append(f"<p>Solved by the fewest: {', '.join(hardest)}.</p>")
    others = [entry for entry in ranked if entry not in told]
    for title, some in (
        ("More that several students share", [e for e in others if len(e[2]) > 1]),
        ("Mistakes of one student each", [e for e in others if len(e[2]) == 1]),
    ):
        if some:
            parts.append(
                f"<h3>{title}</h3>"
                + "".join(
                    _details(
                        _titled(exercises[key], name) + (f" ({_of_those(graded, key, len(who))})" if len(who) > 1 else ""),
                        panel(_example(who, key)),
                    )
                    for key, name, who in some[:EXAMPLES]
                )
                + (f"<p class='note'>And {len(some) - EXAMPLES} more; they are in the table below.</p>" if len(some) > EXAMPLES else "")
            )
    return "".join(parts)


def _titled(exercise: Exercise, mistake: str) -> str:
    return f"{exercise.id} {exercise.title}{'' if exercise.title[-1] in '?!' else ':'} {mistake}"


def _details(summary: str, html: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{html}</details>"


def _having(graded: list[Student], key: str) -> list[dict[str, Any]]:
    return [s.marks[key] for s in graded if key in s.marks]


def _solved(graded: list[Student], key: str) -> float:
    marks = _having(graded, key)
    return sum(state(mark) == "right" for mark in marks) / len(marks)


def _of_those(graded: list[Student], key: str, number: int) -> str:
    """How many, and of how many who tried."""
    tried = sum(state(mark) != "blank" for mark in _having(graded, key))
    return f"{number} of {tried} who tried"


def _example(who: list[Student], key: str) -> str:
    """The panel of one of them: of one in whose text no part of the own name stands, or else without it."""
    for student in who:
        html = student.marks[key]["html"]
        if _without(student, html) == html:
            return html
    return _without(who[0], who[0].marks[key]["html"])


def _without(student: Student, html: str) -> str:
    """A panel without the words of a student's name or number."""
    words = [word for word in re.findall(r"\w{3,}", f"{student.name} {student.identity}".replace("_", " ")) if word != "Participant"]
    if not words:
        return html
    any_of = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    pattern = re.compile(rf"(?<![^\W\d_])({any_of})(?![^\W\d_])", re.IGNORECASE)  # "ada_file" and "ada2" are names, too; "Adapter" is not
    return "".join(text if text.startswith("<") else pattern.sub("…", text) for text in re.split(r"(<[^>]*>)", html))


def _exercises(graded: list[Student], mistakes: Mistakes) -> str:
    """A row for each exercise; right, partly, wrong and not attempted are together those who handed it in."""
    rows = []
    for key, exercise in exercises_of().items():
        marks = _having(graded, key)
        if not marks:
            continue
        count = Counter("partly" if state(mark) == "not yet" and mark["points"] > 0 else state(mark) for mark in marks)
        solved = _solved(graded, key)
        names = sorted(mistakes[key].items(), key=lambda item: (-len(item[1]), item[0])) if key in mistakes else []
        said = [f"{escape(name)} ({len(who)})" for name, who in names[:TOP]]
        said += [f"others ({sum(len(who) for _, who in names[TOP:])})"] if names[TOP:] else []
        wrong = [mark for mark in marks if state(mark) == "not yet"]
        follows = sum(bool(mark.get("follows")) for mark in wrong)
        said += [f"<i>builds on a wrong answer ({follows})</i>"] if follows else []
        named = {id(student.marks[key]) for _, who in names for student in who}
        nameless = Counter(
            "something else" if mark["mistake"] else NAMELESS.get(mark["stage"], "something else")
            for mark in wrong
            if not mark.get("follows") and id(mark) not in named
        )
        said += [f"<i>{words} ({number})</i>" for words, number in nameless.most_common()]
        rows.append(
            row(
                f"{escape(key)} {escape(exercise.title)}",
                bar(4 * solved, f"{solved:.0%}"),
                len(marks),
                count["right"],
                count["partly"],
                count["not yet"],
                count["blank"],
                f"<div class='said'>{'<br>'.join(said)}</div>",
            )
        )
    heads = "Exercise", "Solved by", "#Handed in", "#Right", "#Partly", "#Wrong", "#Blank", "What went wrong"
    return table("Exercises", heads, rows) if rows else ""


def _students(students: list[Student], everybody: list[str], settings: Settings, only: tuple[str, ...]) -> str:
    """Who has how many points, with a link to the page that the student reads; folded, because a report may be shown to the class."""
    rows = []
    for s in students:
        part = share(s, everybody, settings, only) if s.marks else None
        name = printable(s.name) + (f" ({printable(s.identity)})" if s.identity else "")
        link = f"<a href='feedback/{escape(page_name(s), quote=True)}'>{escape(name)}</a>"
        rows.append(row(link, s.total(), "" if part is None else f"{100 * part:.0f} %"))
    shown = table("Students", ("Student", "#Points", "Share"), rows)
    return f"<details><summary>Points, and each student's page</summary>{shown}</details>" if rows else ""


def _points(shares: list[float], without: int) -> str:
    """How the points are spread, of those who have some mark."""
    tenths = Counter(min(9, int(10 * part + 1e-9)) for part in shares)
    highest = max(tenths.values(), default=1)
    rows = [row(f"{10 * i}–{10 * i + 10} %", tenths[i], bar(12 * tenths[i] / highest)) for i in range(10)]
    missing = f"<p class='note'>Not counted here: {without} for whom nothing could be graded.</p>" if without else ""
    return table("Points", ("Share of all points", "#Students", ""), rows) + missing


def _resubmissions(graded: list[Student]) -> str:
    """Points of a chapter from one hand-in to the next, with the dates, and what was mended; of those who handed it in more than once."""
    again: dict[str, list[list[HandIn]]] = defaultdict(list)
    for student in graded:
        for chapter, series in student.history.items():
            if len(series) > 1:
                again[chapter].append(series)
    rows, mended = [], []
    for chapter, many in sorted(again.items()):
        most = sum(e.points for e in exercises_of((chapter,)).values())
        for turn in range(min(12, max(map(len, many)))):
            points = [sum(series[min(turn, len(series) - 1)].points.values()) for series in many]
            mean = sum(points) / len(points)
            there = [series[turn].when for series in many if turn < len(series)]
            first = f"{escape(chapter)} ({most:g} points)" if turn == 0 else f"<span class='note'>{escape(chapter)}</span>"
            rows.append(row(first, turn + 1, len(there), _days(there), bar(6 * mean / most if most else 0, f"{mean:.1f}")))
        mended.append(_mended(chapter, many))
    if not rows:
        return ""
    return (
        table("Handed in again", ("Chapter", "#Hand-in", "#Students", "When", "Points on average"), rows)
        + "<p class='note'>This table is about students who handed in a chapter more than once. Those who had stopped by then keep "
        "their last points in the average.</p>" + "".join(mended)
    )


def _mended(chapter: str, many: list[list[HandIn]]) -> str:
    """Which exercises were wrong or blank at first, and how many of these were right in the end."""
    exercises, told = exercises_of((chapter,)), []
    for key, exercise in exercises.items():
        before = [series for series in many if series[0].points.get(key, exercise.points) < exercise.points]
        after = sum(max(hand_in.points.get(key, 0.0) for hand_in in series) >= exercise.points for series in before)
        if before:
            told.append(f"{escape(key)} {after} of {len(before)}")
    return f"<p>Chapter {escape(chapter)}, answers right in the end, among those not right at first: {', '.join(told)}.</p>" if told else ""


def _days(times: list[float | None]) -> str:
    """From the first to the last day, as far as they are known."""
    days = sorted({dt.datetime.fromtimestamp(when).date() for when in times if when is not None})
    shown = [f"{day.day} {day:%b %Y}" for day in dict.fromkeys((days[0], days[-1]))] if days else ["unknown"]
    return " to ".join(shown)


def write_reports(
    book: Book, settings: Settings, keys: set[str] | None = None, stamp: str | None = None, only: tuple[str, ...] = ()
) -> list[Student]:
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
