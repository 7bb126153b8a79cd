"""Outputs stored in a blank chapter that answer what it has just asked its reader to predict.

Three rules, by which a test and ``build`` look:

- **The tag.** A cell tagged ``revealing`` shows something in the solved notebook: a tag on a cell that only defines functions hides
  nothing, and the answer stands in the cell behind it.
- **The prompt.** Where the text says "predict", "guess" or "before you run", the cells that answer are tagged: from there to the next
  heading, every cell that shows something, up to the paragraph that takes the result up.
- **The exercise.** Of an exercise that asks for a prediction, no stored output of the chapter tells the answers, however far away: it
  prints no long number that is one of them, and it does not speak, word for word, of half of the entries.

Hints, folds and check cells do not count, and a cell tagged ``live`` stores nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from nbformat import NotebookNode

from .chapter import Chapter
from .clock import heading_level, open_text
from .outputs import readable

PROMPT = re.compile(
    r"""(?:^|[.!?:;)*"”]\s+)\**(?:(?:First|Now|Then),?\ )?(?:[Pp]redict|[Gg]uess)\b(?!\ (?:of|by|is))
    | \b[Bb]efore\ you\ (?:run|compute|measure|look|read)\b
    | \b(?:[Ff]irst\ guess|[Yy]our\ (?:own\ )?(?:guess|prediction|claims|bet)|what\ you\ expect)\b""",
    re.VERBOSE | re.MULTILINE,
)
LONG = 1_000  # numbers from here on are not met by chance
_SMALL_WORDS = set("a an and are as at be by for from if in is it its of on one or own that the to with".split())
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_WORD = re.compile(r"-?\w[\w.]*\w|\w")


def told(chapter: Chapter, blank: NotebookNode, solved: NotebookNode) -> list[str]:
    """What is wrong, one line for each place; the notebooks are those of the chapter, with outputs."""
    shows = {cell.id for cell in solved.cells if cell.get("outputs")}
    lines = {cell.id: f"{chapter.name}:{cell.line}" for cell in chapter.cells}
    found = [
        f"{lines[cell.id]}: this cell is tagged revealing and shows nothing; tag the cell that shows the answer"
        for cell in blank.cells
        if _tagged(cell, "revealing") and cell.id not in shows
    ]
    for place, cell in enumerate(blank.cells):
        prompt = PROMPT.search(open_text(cell)) if cell.cell_type == "markdown" else None
        if prompt and not _asks_an_exercise(cell):
            asked = open_text(cell)[prompt.start() :].lstrip(" .:;!?)*\n")[:60]
            found += [f"{lines[near.id]}: its stored output answers “{asked} …”; tag it revealing" for near in _behind(blank, place, shows)]
    for exercise, answers in _predictions(chapter):
        found += [
            f"{lines[cell.id]}: its stored output tells answers of exercise {exercise}; tag it revealing"
            for cell in blank.cells
            if cell.get("outputs") and "course" not in cell.metadata and tells(shown(cell), answers)
        ]
    return found


def shown(cell: NotebookNode) -> str:
    """What a cell's outputs say, as text."""
    return "\n".join(map(readable, cell.outputs))


def tells(text: str, answers: dict[str, Any]) -> bool:
    """Whether an output gives a prediction away; ``answers`` maps each of its entries to what is right."""
    words, numbers = _words(text), _numbers(text)
    given = set().union(*map(_numbers, answers))
    long = {float(a) for a in answers.values() if isinstance(a, int | float) and a >= LONG} - given
    spoken = sum(_words(entry) <= words for entry in answers)
    return bool(long & numbers) or 2 * spoken >= len(answers)


def _predictions(chapter: Chapter) -> Iterator[tuple[str, dict[str, Any]]]:
    """The chapter's exercises that ask for a prediction, with what is right."""
    from course_checks.engine import find  # brings torch

    for exercise in chapter.stubs:
        reference = find(exercise).reference
        if find(exercise).kind == "value" and isinstance(reference, dict):
            yield exercise, reference


def _behind(nb: NotebookNode, place: int, shows: set[str]) -> Iterator[NotebookNode]:
    """Cells that answer the prompt in cell ``place`` and are not tagged."""
    answered = False
    for cell in nb.cells[place + 1 :]:
        if cell.cell_type == "markdown" and (answered or heading_level(cell)):
            return
        if cell.id in shows and "course" not in cell.metadata and not _tagged(cell, "live"):
            answered = True
            if not _tagged(cell, "revealing"):
                yield cell


def _asks_an_exercise(cell: NotebookNode) -> bool:
    """Whether the text asks for an exercise, whose answers are looked for in every output."""
    return bool(re.search(r"(?m)^### Exercise ", cell.source))


def _tagged(cell: NotebookNode, tag: str) -> bool:
    return tag in cell.metadata.get("tags", [])


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower().replace("float16", "fp16 float16"))) - _SMALL_WORDS


def _numbers(text: str) -> set[float]:
    return {float(number.replace(",", "")) for number in _NUMBER.findall(text)}
