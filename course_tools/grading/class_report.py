"""What instructors read: ``report.html`` for the class."""

from __future__ import annotations

import re
from collections import Counter
from html import escape
from statistics import median
from typing import Any

from .alike import alike
from .collect import printable
from .feedback import nothing_filled_in, page_name, state
from .marks import exercises_of
from .markup import bar, page, panel, row, table
from .mistakes import TOP, Misconception, Mistakes, example, having, known, mistakes_of, of_those, ranked, shared, titled
from .resubmissions import resubmissions
from .settings import Settings
from .students import CountedMark, Student, assigned

EXAMPLES = 40  # misconceptions with an example
_HINT = re.compile(r"<b>Mistake\.</b> (.*?)</div>", re.DOTALL)
# What the panel of an answer says that is wrong for no reason that has a name.
NAMELESS = {
    "raised": "stopped with an error",
    "type": "another type, or other parameters",
    "shape": "another shape",
    "finite": "NaN or infinite",
    "values": "other numbers",
    "gradients": "other gradients",
    "changed by hand": "changed by hand",
}


def class_report(students: list[Student], settings: Settings, only: tuple[str, ...] = ()) -> str:
    """The class: what needs an instructor's eye, what to talk about tomorrow, each exercise, how the points are spread, resubmissions."""
    everybody = assigned(students, settings, only)
    graded = [s for s in students if s.marks]
    shares = [s.share for s in graded if s.share is not None]
    mistakes = mistakes_of(graded)
    middle = f" The median is {100 * median(shares):.0f} % of the points." if shares else ""
    look = _to_look_at(students)
    sections = [
        ("first", "First of all", _first(students, graded, mistakes, bool(look))),
        ("look", "Please look at these yourself", look),
        ("tomorrow", "What to talk about tomorrow", _tomorrow(graded, mistakes)),
        ("exercises", "Exercises", _exercises(graded, mistakes)),
        ("points", "Points", _points(shares, len(students) - len(graded))),
        ("again", "Handed in again", resubmissions(graded)),
        ("hand", "Changed by hand", _by_hand(graded)),
        ("students", "Students", _students(students)),
        ("alike", "Answers that are alike", _alike(students)),
    ]
    links = "".join(f"<a href='#{name}'>{title}</a>" for name, title, text in sections if text)
    body = "".join(f"<h2 id='{name}'>{title}</h2>{text}" for name, title, text in sections if text)
    lead = f"{len(graded)} of {len(students)} students handed in something that could be graded.{middle}"
    return page(
        "Class report",
        f"<h1>The class</h1><p class='lead'>{lead}</p><p>{_assigned(everybody, settings, only)}{_extra(graded)}</p>"
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


def _extra(graded: list[Student]) -> str:
    """What was handed in and counts in nothing."""
    keys = {key for s in graded for key in s.marks if key not in s.counted}
    named = ", ".join(key for key in exercises_of() if key in keys)
    return f" What was not assigned is extra and counts in nothing: {escape(named)}." if keys else ""


def _first(students: list[Student], graded: list[Student], mistakes: Mistakes, look: bool) -> str:
    """What to do tomorrow, in a few lines."""
    todo = [f"Talk about {escape(titled(entry))} ({of_those(graded, entry)})." for entry in shared(mistakes)]
    todo += ["<code>clinic.ipynb</code> has ten minutes on what they share, for you to show."] * any(map(known, shared(mistakes)))
    absent, lost = sum(s.absent for s in students), sum(bool(s.problems) and not s.marks for s in students)
    if look:
        todo.append("Look at <a href='#look'>what the machine cannot decide</a> before the marks go out.")
    if lost:
        todo.append(f"Ask {lost} of them to hand in again: nothing of theirs could be graded.")
    if absent:
        todo.append(f"Write to {absent} who handed in nothing.")
    archive = "<code>feedback_….zip</code> holds every student's page under the names that your system takes."
    return f"<ol>{''.join(f'<li>{line}</li>' for line in [*todo, f'Give the feedback back: {archive}'])}</ol>"


def _alike(students: list[Student]) -> str:
    """Pairs whose answers are alike, folded, because a report may be shown to the class."""
    lines = alike([s for s in students if s.marks])
    if not lines:
        return ""
    shown = "".join(f"<li>{escape(printable(line, 300))}</li>" for line in lines[:EXAMPLES])
    more = f"<p class='note'>And {len(lines) - EXAMPLES} more.</p>" if len(lines) > EXAMPLES else ""
    return (
        "<p>The same file, a mistake, or two answers and more that hardly anybody else wrote so; comments, layout and the names of "
        "variables do not count. It changes no mark and proves nothing: people learn together, and a short right answer has few forms.</p>"
        f"<details><summary>{len(lines)} pair{'s' * (len(lines) > 1)}</summary><ul>{shown}</ul>{more}</details>"
    )


def _to_look_at(students: list[Student]) -> str:
    """What the machine cannot decide: claims that grading did not confirm, copies, what could not be graded."""

    def named(wanted: Any) -> list[str]:
        return [f"{s.name}: {key}" for s in students for key, mark in s.marks.items() if wanted(mark)]

    kinds = (
        ("The notebook's saved output says “right”, and grading says otherwise", named(lambda mark: mark.claimed)),
        ("Nearly instruction for instruction the course's own version", named(lambda mark: mark.copied)),
        ("Something other than an answer wrote into the results", named(lambda mark: mark.mistake == "tampering")),
        ("What came back could not be judged", named(lambda mark: mark.unjudged)),
        (
            "Every exercise is as it was handed out, perhaps because this is the wrong copy of the notebook",
            [s.name for s in students if nothing_filled_in(s)],
        ),
        ("On the list of the class, and handed in nothing", [s.name for s in students if s.absent]),
        ("Handed in, and not on the list of the class", [s.name for s in students if not s.listed]),
        (
            "Two rows for one line of the list: are they one student?",
            [f"{s.name}: {s.entry.name}" for s in students if s.entry and sum(s.entry is other.entry for other in students) > 1],
        ),
        ("Could not be graded", [f"{s.name}: {text.removeprefix(f'{s.name}: ')}" for s in students for text in s.problems]),
    )
    shown = "".join(
        f"<h3>{escape(title)}</h3><ul>" + "".join(f"<li>{escape(printable(text, 300))}</li>" for text in texts) + "</ul>"
        for title, texts in kinds
        if texts
    )
    claims = [(s.name, mark.claim) for s in students for mark in s.marks.values() if mark.claim]
    claims = [(who, "\n".join(printable(line, 200) for line in text.split("\n"))) for who, text in claims]
    asked = "does the sentence say what the assertion tests, and does the change take away that cause and no other?"
    folds = "".join(f"<details><summary>{escape(printable(who))}</summary><pre>{escape(text)}</pre></details>" for who, text in claims)
    return shown + (f"<h3>Claims that hold, and fall with their change: {asked}</h3>{folds}" if claims else "")


def _tomorrow(graded: list[Student], mistakes: Mistakes) -> str:
    """Misconceptions, the commonest and then the costliest first, each with what one of the learners saw, without the name; and what the
    fewest solved."""
    every = ranked(mistakes)
    told = shared(mistakes) or every[:TOP]
    others = [entry for entry in every if entry not in told]
    parts = [_told(entry, graded) for entry in told] or ["<p>No misconception was recognised.</p>"]
    parts.append(_hardest(graded))
    parts.append(_folded("More that several students share", [entry for entry in others if len(entry.who) > 1], graded))
    parts.append(_folded("Mistakes of one student each", [entry for entry in others if len(entry.who) == 1], graded))
    return "".join(parts)


def _told(entry: Misconception, graded: list[Student]) -> str:
    """A misconception with its hint, and with the panel of one of those who have it."""
    html = example(entry.who, entry.key)
    hint = _HINT.search(html)
    why = hint[1].removeprefix(escape(f"{entry.name[0].upper()}{entry.name[1:]}. ")) if hint else ""
    title = f"<h3>{escape(titled(entry))} ({of_those(graded, entry)})</h3>"
    return title + (f"<p>{why}</p>" if why else "") + _details("What one of them sees", panel(html))


def _hardest(graded: list[Student]) -> str:
    """The exercises that the fewest solved, if these are few."""
    exercises = exercises_of()
    shares = sorted((_solved(graded, key), key) for key in exercises if having(graded, key))[:TOP]
    named = [f"{escape(key)} {escape(exercises[key].title)} ({part:.0%})" for part, key in shares if part < 0.6]
    return f"<p>Solved by the fewest: {', '.join(named)}.</p>" if named else ""


def _folded(title: str, entries: list[Misconception], graded: list[Student]) -> str:
    """More misconceptions, each a line that opens."""
    if not entries:
        return ""
    shown = [
        _details(titled(entry) + (f" ({of_those(graded, entry)})" if len(entry.who) > 1 else ""), panel(example(entry.who, entry.key)))
        for entry in entries[:EXAMPLES]
    ]
    left = len(entries) - EXAMPLES
    more = f"<p class='note'>And {left} more; they are in the table below.</p>" if left > 0 else ""
    return f"<h3>{title}</h3>{''.join(shown)}{more}"


def _details(summary: str, html: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{html}</details>"


def _solved(graded: list[Student], key: str) -> float:
    marks = having(graded, key)
    return sum(state(mark) == "right" for mark in marks) / len(marks)


def _exercises(graded: list[Student], mistakes: Mistakes) -> str:
    """A row for each exercise; right, partly, wrong and not attempted are together those who handed it in."""
    rows = []
    for key, exercise in exercises_of().items():
        marks = having(graded, key)
        if not marks:
            continue
        count = Counter("partly" if state(mark) == "not yet" and mark.points > 0 else state(mark) for mark in marks)
        solved = _solved(graded, key)
        said = f"<div class='said'>{'<br>'.join(_went_wrong(key, marks, mistakes.get(key, {})))}</div>"
        numbers = (count[kind] for kind in ("right", "partly", "not yet", "blank"))
        rows.append(row(f"{escape(key)} {escape(exercise.title)}", bar(4 * solved, f"{solved:.0%}"), len(marks), *numbers, said))
    heads = "Exercise", "Solved by", "#Handed in", "#Right", "#Partly", "#Wrong", "#Blank", "What went wrong"
    return table("Exercises", heads, rows) if rows else ""


def _went_wrong(key: str, marks: list[CountedMark], mistakes: dict[str, list[Student]]) -> list[str]:
    """How often which misconception, a wrong answer below, or what else the panels say that is wrong for no reason that has a name."""
    names = sorted(mistakes.items(), key=lambda item: (-len(item[1]), item[0]))
    said = [f"{escape(name)} ({len(who)})" for name, who in names[:TOP]]
    said += [f"others ({sum(len(who) for _, who in names[TOP:])})"] if names[TOP:] else []
    wrong = [mark for mark in marks if state(mark) == "not yet"]
    follows = sum(bool(mark.follows) for mark in wrong)
    said += [f"<i>builds on a wrong answer ({follows})</i>"] if follows else []
    named = {id(student.marks[key]) for _, who in names for student in who}
    nameless = Counter(
        "something else" if mark.mistake else NAMELESS.get(mark.stage, "something else")
        for mark in wrong
        if not mark.follows and id(mark) not in named
    )
    return said + [f"<i>{words} ({number})</i>" for words, number in nameless.most_common()]


def _by_hand(graded: list[Student]) -> str:
    """Marks that an instructor has changed, folded, because a report may be shown to the class."""
    said = [f"{s.name}: {key}. {mark.by_hand}" for s in graded for key, mark in s.marks.items() if mark.by_hand]
    lines = "".join(f"<li>{escape(printable(line, 400))}</li>" for line in said)
    return f"<details><summary>{len(said)} mark{'s' * (len(said) > 1)}</summary><ul>{lines}</ul></details>" if said else ""


def _students(students: list[Student]) -> str:
    """Who has how many points, with a link to the page that the student reads; folded, because a report may be shown to the class."""
    rows = []
    for s in students:
        name = printable(s.name) + (f" ({printable(s.identity)})" if s.identity else "")
        link = f"<a href='feedback/{escape(page_name(s), quote=True)}'>{escape(name)}</a>"
        rows.append(row(link, s.total(), f"{100 * s.share:.0f} %" if s.marks and s.share is not None else ""))
    shown = table("Students", ("Student", "#Points", "Share"), rows)
    return f"<details><summary>Points, and each student's page</summary>{shown}</details>" if rows else ""


def _points(shares: list[float], without: int) -> str:
    """How the points are spread, of those who have some mark."""
    tenths = Counter(min(9, int(10 * part + 1e-9)) for part in shares)
    highest = max(tenths.values(), default=1)
    rows = [row(f"{10 * i}–{10 * i + 10} %", tenths[i], bar(12 * tenths[i] / highest)) for i in range(10)]
    missing = f"<p class='note'>Not counted here: {without} for whom nothing could be graded.</p>" if without else ""
    return table("Points", ("Share of all points", "#Students", ""), rows) + missing
