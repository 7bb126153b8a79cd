"""``clinic.ipynb``: ten minutes for the next lesson, on the mistakes that most of a class share.

What students wrote is hostile text. It stands in Markdown, every sign of it as a number, and in no code cell: those hold the course's own
version of the mistake, which whoever gives the lesson runs with rights of their own.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import sys
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import torch

from course_checks.exercise import Exercise
from course_checks.judge import judge
from course_checks.kinds import KINDS
from course_checks.misconceptions import COMMON, PageError, source_of
from course_checks.misconceptions import Misconception as Known
from course_checks.observe import neutral_torch, observe
from course_utils.launcher.notebooks import Damaged, chapters_in, course_of, encoded, read
from course_utils.mine.text import global_names
from course_utils.paths import ROOT

from .answer_text import bare, text_digest
from .marks import exercises_of
from .mistakes import TOP, Misconception, example, known, mistakes_of, nameless, of_those, ranked
from .students import Student

LINES, WIDTH = 25, 120  # of an answer that is shown
VOTE, TALK, MEND = 1.0, 1.5, 1.0  # minutes
SETUP = Path(__file__).with_name("clinic_setup.txt").read_text(encoding="utf-8").strip()
FIRST = """# Clinic

About {minutes} minutes on what many of you got wrong. Look, vote, say why, and mend it together.

*For whoever shows this: run each cell when you come to it; the answers are folded. Look through them before the lesson. Names, comments and
docstrings are taken out, but no machine knows every nickname. The last cell has a clock.*"""


class Shown(NamedTuple):
    """An answer that is shown: its text, whether it is right, and whether it is the course's."""

    text: str
    right: bool
    ours: bool = False


def clinic(students: list[Student], secret: str) -> str:
    """The notebook, the same for the same marks; nothing where no two students share a mistake of which the course has a version."""
    graded = [s for s in students if s.marks]
    if not (entries := [entry for entry in ranked(mistakes_of(graded)) if len(entry.who) > 1 and known(entry)][:TOP]):
        return ""
    cells: list[tuple[str, ...]] = [("first", FIRST.format(minutes=round(len(entries) * (VOTE + TALK + MEND)))), ("setup", SETUP, "code")]
    for number, entry in enumerate(entries, start=1):
        cells += [(f"{number}-{name}", *rest) for name, *rest in _part(number, entry, graded, secret)]
    cells.append(("clock", _clock(entries, graded)))
    kernel = {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}}
    return encoded({"cells": [_cell(*cell) for cell in cells], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}).decode()


def _cell(name: str, source: str, kind: str = "markdown") -> dict[str, Any]:
    more: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    hidden = {"jupyter": {"source_hidden": True}} if name == "setup" else {}
    return {"cell_type": kind, "id": name, "metadata": hidden, "source": source} | more


def _part(number: int, entry: Misconception, graded: list[Student], secret: str) -> list[tuple[str, ...]]:
    """The cells on one mistake: a vote, what is right and why, and the mistake to be mended."""
    exercise, mistake = exercises_of()[entry.key], known(entry)
    assert mistake is not None
    seed, shown = int(_digest(secret, "clinic", exercise.id), 16) % 10**6, _vote(entry, mistake, exercise, graded, secret)
    path, heading, _ = _in_notebook("chapters", exercise)
    where = f"To show again: `{path}`, section “{heading}”, above exercise {exercise.id}."
    vote = f"## {number} · {exercise.id} {exercise.title}\n\n{of_those(graded, entry)} made the same mistake.\n\n"
    vote += f"**Which of these is right? What do the others do?**\n\n{_side_by_side([one.text for one in shown])}"
    fold = f"<details><summary><b>After the vote</b></summary>\n\n{_solved(shown, entry)}\n\n{_panel(entry)}\n\n{where}\n\n</details>"
    call = f'check("{exercise.id}", {exercise.name}' + f", seed={seed}" * exercise.runs + ")"
    cells = [("code", _wrong(exercise, mistake), "code"), ("check", call, "code")]
    mend = "This is the same mistake, as the course would write it. What will the check say?"
    if (place := _case(exercise, mistake.answer, seed)) is not None:
        index, shape, new = place
        asked = f"The right answer has the shape *{shape}*: which numbers are these?" if shape else "What is the right answer?"
        mend = f"Here is {new}input. {asked} Below it stands the same mistake, as the course would write it. What will it get wrong: "
        mend += "the shape, some numbers, all of them?"
        cells.insert(0, ("input", f'case = new_input("{exercise.id}", {seed}, {index})', "code"))
        cells += [("right", f'right_answer("{exercise.id}", case)', "code")] if exercise.effect is None else []
    mend = f"### Mend it\n\n{mend} Vote, and run the check. Then change the code, and run both again."
    return [("vote", vote), ("fold", fold), ("mend", mend), *cells]


def _vote(entry: Misconception, mistake: Known, exercise: Exercise, graded: list[Student], secret: str) -> list[Shown]:
    """One or two wordings of the mistake and a right answer from the class, or else from the course, in an order that tells nothing."""
    ours = bare(_in_notebook("solutions", exercise)[2]) or bare(source_of(exercise.right))
    solved = [s for s in graded if exercise.id in s.marks and s.marks[exercise.id].passed and not s.marks[exercise.id].copied]
    right = _typed(solved, exercise.id, secret, [(ours, text_digest(ours, exercise.name))])
    shown = [Shown(text, False) for text in _typed(entry.who, exercise.id, secret, [])[:2]]
    shown = shown or [Shown(bare(_wrong(exercise, mistake)), False, True)]
    shown.append(Shown(right[0], True) if right else Shown(ours, True, True))
    return sorted(shown, key=lambda one: _digest(secret, exercise.id, one.text))


def _typed(students: list[Student], key: str, secret: str, seen: list[tuple[str, str]]) -> list[str]:
    """What students wrote, without names, each wording once; first those in which no name stood, and the short ones."""
    found, kept = [], []
    for student in students:
        plain = nameless(student, text := _visible(student.marks[key].answer))
        found += [(plain != text, plain.count("\n") >= LINES, _digest(secret, key, plain), plain, student.marks[key].text)] if text else []
    for *_, text, wording in sorted(found):
        if not any("".join(text.split()) == "".join(other.split()) or wording and wording == its for other, its in seen):
            kept.append(text)
            seen = [*seen, (text, wording)]
    return kept


def _visible(text: str) -> str:
    """A text without control characters and direction marks, on the lines that it has."""
    plain = unicodedata.normalize("NFC", text.expandtabs(4)).strip("\n")
    return "".join(c if c == "\n" or unicodedata.category(c)[0] != "C" else "�" for c in plain)


def _side_by_side(texts: list[str]) -> str:
    """Answers with their letters; of long ones the lines that not all of them have."""
    lines = [[line[:WIDTH] for line in text.split("\n")] for text in texts]
    if max(map(len, lines)) > LINES:
        common = set.intersection(*({line.strip() for line in each} for each in lines))
        lines = [["…" if line.strip() in common else line for line in each] for each in lines]
        lines = [[line for line, last in zip(each, ["", *each], strict=False) if not line == last == "…"][:LINES] for each in lines]
    columns = "".join(
        f"<div><b>{letter}</b><pre style='background:none;text-align:left'>{_inert(chr(10).join(each))}</pre></div>"
        for letter, each in zip("ABC", lines, strict=False)
    )
    return f"<div class='course-panel'><div class='codes' style='display:flex;flex-wrap:wrap;gap:0.6em 1.6em'>{columns}</div></div>"


def _inert(text: str) -> str:
    """A text in which nothing means anything to Markdown, HTML or a formula: all but plain letters, digits and spaces as numbers."""
    return "".join(c if c == " " or c.isascii() and c.isalnum() else f"&#{ord(c)};" for c in text)


def _solved(shown: list[Shown], entry: Misconception) -> str:
    """Which answer is right, which make the mistake, and which are the course's."""
    lettered = list(zip("ABC", shown, strict=False))
    right, wrong = (" and ".join(letter for letter, one in lettered if one.right is kind) for kind in (True, False))
    ours = " and ".join(letter for letter, one in lettered if one.ours)
    credit = f" ({ours}: the course's own words.)" if ours else ""
    both = f"{wrong} share a mistake" if " " in wrong else f"{wrong} makes a mistake"
    return f"**{right} is right.** {both}: *{entry.name}*.{credit} What the check said to one who made it:"


def _panel(entry: Misconception) -> str:
    """The panel of one of them in one line of HTML, its colours such that a notebook keeps them."""
    html = re.sub(r"class=minus style='--share:([\d.]+)'", r"style='background-color:rgba(224,142,69,\1)'", example(entry.who, entry.key))
    html = re.sub(r"style='--share:([\d.]+)'", r"style='background-color:rgba(58,124,189,\1)'", html)
    return f"<div>{' '.join(_visible(html).split())}</div>".replace("$", "&#36;").replace("\\", "&#92;")


def _in_notebook(folder: str, exercise: Exercise) -> tuple[str, str, str]:
    """Where an exercise stands: the notebook, the heading of the section above it; and its answer cell."""
    for path in chapters_in(ROOT / folder, exercise.id.split(".")[0]):
        heading = ""
        with contextlib.suppress(Damaged, OSError):
            for cell in read(path)["cells"]:
                if cell["cell_type"] == "markdown":
                    heading = [heading, *re.findall(r"(?m)^##+ (?!Exercise)(.+)", cell["source"])][-1]
                elif course_of(cell).get("exercise") == exercise.id and course_of(cell).get("role") == "answer":
                    return path.relative_to(ROOT).as_posix(), heading, cell["source"]
    return "", "", ""


def _wrong(exercise: Exercise, mistake: Known) -> str:
    """The course's version of a mistake, with what it needs to run."""
    if not exercise.runs:
        entries = [f"    {key!r}: {value!r}," for key, value in mistake.answer.items()] if isinstance(mistake.answer, dict) else []
        return f"{exercise.name} = " + ("\n".join(["{", *entries, "}"]) if entries else repr(mistake.answer))
    text = source_of(*exercise.helpers, exercise.right)
    with contextlib.suppress(PageError):  # where it changes no helper, the course's take their places
        text = source_of(exercise.right) if mistake.change.made(source_of(exercise.right)) else text
    text = mistake.change.made(text).strip("\n")
    space, own = vars(sys.modules[exercise.right.__module__]), re.findall(r"(?m)^(?:def |class )?(\w+)(?=[(:]| = )", text)
    others = {id(made): other.id for other in exercises_of().values() if other.runs for made in (other.right, other.reference)}
    wanted = [name for name in global_names(text) if name in space and name not in own and space[name] is not COMMON.get(name)]
    lines = [
        f'{name} = mine("{others[id(space[name])]}")' if id(space[name]) in others else f"from {exercise.right.__module__} import {name}"
        for name in wanted
    ]
    return "\n".join([*lines, *["", ""] * bool(lines), text])


def _case(exercise: Exercise, wrong: Any, seed: int) -> tuple[int, str, str] | None:
    """A small case on which a wrong answer is wrong, drawn if there is one: its place, the expected shape in words, what kind of input."""
    if not KINDS[exercise.kind].groups:  # it is given nothing
        return None
    with neutral_torch(), torch.random.fork_rng(devices=[]):
        cases, drawn = exercise.cases((seed,)), len(exercise.draw(seed))
        for index in sorted(range(len(cases)), key=lambda i: (i >= drawn, len(repr(cases[i].args)))):
            case = cases[index]
            if case.rejects is None and case.args and case.args.get("inputs", case.args) is not None:
                finding = judge(exercise, [case], [observe(exercise.kind, wrong, case.args, ())], named=False).finding
                if finding is not None and finding.stage != "gradients":
                    return index, case.shape, "a new " if index < drawn else "an "
    return None


def _digest(*words: str) -> str:
    return hashlib.sha256("\0".join(words).encode(errors="backslashreplace")).hexdigest()


def _clock(entries: list[Misconception], graded: list[Student]) -> str:
    """When what begins; and what the mistakes have in common, where the marks say so."""
    rows = ["| | vote | talk | mend |", "|---|---|---|---|"]
    times = [number * (VOTE + TALK + MEND) + later for number in range(len(entries) + 1) for later in (0.0, VOTE, VOTE + TALK)]
    clock = [f"{int(minute)}:{round(60 * (minute % 1)):02}" for minute in times]
    rows += [f"| {e.key} {exercises_of()[e.key].title} | {' | '.join(clock[3 * i : 3 * i + 3])} |" for i, e in enumerate(entries)]
    more = sum(number > 1 for number in Counter(id(student) for entry in entries for student in entry.who).values())
    said = [f"It is one mistake in several exercises: *{entries[0].name}*."] * (len({entry.name for entry in entries}) == 1 < len(entries))
    said += [f"{more} of {len(graded)} students made more than one of them."] * (more > 1)
    return "\n".join(["## The clock", "", *rows, f"| end | {clock[-3]} | | |", "", " ".join(said)]).strip()
