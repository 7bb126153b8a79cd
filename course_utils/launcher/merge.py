"""Put what a learner wrote into a new version of a chapter: the answers, their own cells, their changes. Standard library only."""

from __future__ import annotations

import copy
import difflib
import re
import uuid
from dataclasses import dataclass, field

from .notebooks import Cell, Notebook, answers_of, course_of, digest, filled_in, source_of, stubs_of


@dataclass
class News:
    """What an update has done with what the learner wrote."""

    answers: int = 0  # put back
    changed_tasks: list[str] = field(default_factory=list)  # answered exercises that now ask for something else
    own_cells: int = 0  # the learner's own, or the course's as the learner changed them
    beside: int = 0  # changes to a cell whose text is new: kept beside it

    def __str__(self) -> str:
        parts = [f"{counted(self.answers, 'answer')} put back"] if self.answers else []
        if self.changed_tasks:
            parts.append(f"the task has changed in {', '.join(self.changed_tasks)}: see the note there")
        if self.own_cells:
            parts.append(f"{counted(self.own_cells, 'cell')} of your own kept")
        if self.beside:
            parts.append(f"{self.beside} of your changes kept beside the new text")
        return "; ".join(parts)


def counted(number: int, noun: str) -> str:
    """``1 answer``, ``2 answers``."""
    return f"{number} {noun}" + "s" * (number != 1)


def merge(mine: Notebook, base: Notebook | None, new: Notebook, day: str) -> tuple[Notebook, News]:
    """The new chapter with what the learner wrote in ``mine``, a copy of ``base``; and what was put back.

    Answers stand in their exercise again, byte by byte. The learner's own cells stand behind the cell they stood behind. Cells of the
    course that the learner has changed stay so where the new text has the same cell; else the change stands beside the new cell.
    ``base`` None (lost): every cell that is in neither the new chapter nor an exercise counts as the learner's own.
    """
    merging = _Merging(mine, base, new, day)
    for cell in mine["cells"]:
        merging.take(cell)
    return merging.finish(), merging.news


class _Merging:
    """The cells of the learner's copy, taken one after the other."""

    def __init__(self, mine: Notebook, base: Notebook | None, new: Notebook, day: str):
        self.base, self.new, self.day, self.news = base, new, day, News()
        self.editions = [notebook for notebook in (mine, base, new) if notebook]
        self.result = copy.deepcopy(new)
        self.by_id, self.answers = {cell.get("id", ""): cell for cell in self.result["cells"]}, answers_of(self.result)
        base_cells = base["cells"] if base else []
        self.was = {cell.get("id", ""): cell for cell in base_cells}
        self.place = _places([cell.get("id", "") for cell in base_cells], [cell.get("id", "") for cell in new["cells"]])
        self.mine = answers_of(mine)
        self.seen: set[str] = set()
        self.last: str | None = None  # the cell of the new chapter behind which the next one stands
        self.behind: dict[str | None, list[Cell]] = {}  # what goes behind a cell of the new chapter; None: in front of them all

    def take(self, cell: Cell) -> None:
        """Put one cell of the learner's copy where it belongs."""
        key, name = cell.get("id", ""), course_of(cell).get("exercise", "")
        is_answer = self.mine.get(name) is cell
        target = self.answers.get(name) if is_answer else self.by_id.get(key)
        known = not is_answer and key not in self.seen and (target is not None or key in self.was)
        if is_answer:
            if filled_in(cell, *self.editions):
                self._answer(name, cell, target)
        elif known:
            self.seen.add(key)
            if target is not None:
                self._same_cell(cell, target)
            elif self.was[key]["source"] != cell["source"]:
                self._beside(cell)
        elif cell["source"].strip() or cell["cell_type"] != "code":
            is_note = course_of(cell).get("role") == "note"
            self.news.own_cells += not is_note
            self._put(self.last, cell if is_note else _own(cell))
            return
        self.last = target.get("id", "") if target is not None else self.place.get(key, self.last)

    def finish(self) -> Notebook:
        """The new chapter with everything that was taken."""
        cells = [*self.behind.pop(None, [])]
        for cell in self.result["cells"]:
            cells += [cell, *self.behind.pop(cell.get("id"), [])]
        self.result["cells"] = [*cells, *(cell for rest in self.behind.values() for cell in rest)]
        _ids_apart(self.result["cells"])
        return self.result

    def _put(self, place: str | None, *cells: Cell) -> None:
        self.behind.setdefault(place, []).extend(copy.deepcopy(cell) for cell in cells)

    def _answer(self, name: str, cell: Cell, target: Cell | None) -> None:
        self.news.answers += 1
        if target is None:
            self._put(self.last, _note(f"Your answer to exercise {name}, which the course no longer has:", self.day), _own(cell))
            return
        if target["source"] != cell["source"] and self.base and _task(self.base, name) != _task(self.new, name):
            self.news.changed_tasks.append(name)
            changed = f"**The task of exercise {name} has changed** since you wrote this answer. Read it again, then run the check."
            self._put(target["id"], _note(changed, self.day))
        _give(target, cell)

    def _same_cell(self, cell: Cell, target: Cell) -> None:
        """A cell that the new chapter has, too: where only the learner has changed it, that version stays."""
        if target["source"] == cell["source"]:
            _give(target, cell)
        elif not self.base or (cell["id"] in self.was and self.was[cell["id"]]["source"] != cell["source"]):
            self.news.own_cells += 1
            _give(target, cell)

    def _beside(self, cell: Cell) -> None:
        self.news.beside += 1
        fence = "```" if "```" not in cell["source"] else "~~~~"
        text = f"{fence}{'python' if cell['cell_type'] == 'code' else 'markdown'}\n{cell['source']}\n{fence}"
        words = f"The text of the course has changed here. Your version of the old cell was:\n\n{text}"
        self._put(self.place.get(cell["id"]), _note(words, self.day))


def _places(old: list[str], new: list[str]) -> dict[str, str | None]:
    """For every cell of the old chapter the one of the new chapter that stands in its place."""
    found: dict[str, str | None] = {}
    for _, i, end, j, stop in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for k in range(i, end):
            at = min(j + k - i, stop - 1)
            found[old[k]] = new[at] if at >= 0 else None
    return found


def _task(notebook: Notebook, exercise: str) -> list[str]:
    """The stub of an exercise and the text above it; where their lines break does not count."""
    blank, answer = stubs_of(notebook).get(exercise, ""), answers_of(notebook).get(exercise)
    stub = source_of(answer) if answer and digest(source_of(answer)) == blank else blank
    head = re.compile(rf"(?m)^### Exercise {re.escape(exercise)} ")
    texts = (source_of(cell) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    return ["".join(part.split()) for part in (stub, next(filter(head.search, texts), ""))]


def _give(target: Cell, cell: Cell) -> None:
    """Give a cell of the new chapter the learner's text, and what it had computed."""
    target["source"] = cell["source"]
    if target["cell_type"] == cell["cell_type"] == "code":
        target["outputs"], target["execution_count"] = cell.get("outputs", []), cell.get("execution_count")


def _own(cell: Cell) -> Cell:
    """A cell of the learner's own, which is part of no exercise."""
    kept = copy.deepcopy(cell)
    kept.get("metadata", {}).pop("course", None)
    return kept


def _note(text: str, day: str) -> Cell:
    """A few words of ours beside something that the learner wrote."""
    words = f"> *{day}:* {text}" if "\n" not in text else f"*{day}:* {text}"
    return {"cell_type": "markdown", "id": uuid.uuid4().hex[:12], "metadata": {"course": {"role": "note"}}, "source": words}


def _ids_apart(cells: list[Cell]) -> None:
    """No two cells of a notebook may have one id."""
    seen: set[str] = set()
    for cell in cells:
        if not cell.get("id") or cell["id"] in seen:
            cell["id"] = uuid.uuid4().hex[:12]
        seen.add(cell["id"])
