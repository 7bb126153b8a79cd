"""Put what a learner wrote into a new version of a chapter: the answers, their own cells, their changes. Standard library only."""

from __future__ import annotations

import copy
import difflib
import hashlib
import json
import re
import uuid
from pathlib import Path
from typing import Any

Notebook = dict[str, Any]
Cell = dict[str, Any]


class Damaged(ValueError):
    """A file that is no notebook."""


def read(path: Path) -> Notebook:
    """The notebook in a file; :class:`Damaged` where there is none to be read."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            cell["source"] = source_of(cell)
            course_of(cell)
        notebook["metadata"].get("course")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(f"{path.name} cannot be read as a notebook ({type(error).__name__})") from None
    return notebook


def source_of(cell: Cell) -> str:
    """The text of a cell, as one string."""
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def course_of(cell: Cell) -> dict[str, Any]:
    """What the course has noted on a cell: the exercise and its role."""
    found = cell.get("metadata", {}).get("course", {})
    return found if isinstance(found, dict) else {}


def key_of(notebook: Notebook) -> str:
    """The first letters of the SHA-256 of a chapter's cells, outputs and answers left out: what tells one version from another."""
    stubs = _stubs(notebook)
    parts = [
        (
            cell["cell_type"],
            cell.get("id"),
            source_of(cell) if course_of(cell).get("role") != "answer" else stubs.get(course_of(cell).get("exercise")),
        )
        for cell in notebook["cells"]
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def without_outputs(notebook: Notebook) -> Notebook:
    """A notebook with the same cells, and nothing that was computed."""
    bare = copy.deepcopy(notebook)
    for cell in bare["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return bare


def merge(mine: Notebook, base: Notebook | None, new: Notebook, day: str) -> tuple[Notebook, dict[str, list[str]]]:
    """The new chapter with what the learner wrote in ``mine``, a copy of ``base``; and what was put back, in words.

    Answers stand in their exercise again, byte by byte. The learner's own cells stand behind the cell they stood behind. Cells of the
    course that the learner has changed stay so where the new text has the same cell; else the change stands beside the new cell.
    ``base`` None (lost): every cell that is in neither the new chapter nor an exercise counts as the learner's own.
    """
    result, told = copy.deepcopy(new), {"answers": [], "changed tasks": [], "own cells": [], "kept beside": []}
    base_cells = base["cells"] if base else []
    old_ids, new_ids = ([cell.get("id") for cell in cells] for cells in (base_cells, new["cells"]))
    by_id, was = {cell.get("id"): cell for cell in result["cells"]}, {cell.get("id"): cell for cell in base_cells}
    place = _places(old_ids, new_ids)
    stubs = {digest for notebook in (mine, base, new) if notebook for digest in _stubs(notebook).values()}
    own_answers = answers_of(mine)
    answers = {name: cell for name, cell in own_answers.items() if _hash(cell["source"]) not in stubs}
    behind: dict[str | None, list[Cell]] = {}  # what goes behind a cell of the new chapter; None: in front of them all
    last: str | None = None
    seen: set[str] = set()
    for cell in mine["cells"]:
        name = course_of(cell).get("exercise")
        is_answer = own_answers.get(name) is cell
        target = by_id.get(answer_id(result, name)) if is_answer else by_id.get(cell.get("id"))
        if is_answer:
            if name in answers:
                told["answers"].append(name)
                if target is None:  # the exercise is gone
                    behind.setdefault(last, []).extend(
                        [_note(f"Your answer to exercise {name}, which the course no longer has:", day), _own(cell)]
                    )
                elif target["source"] == cell["source"]:
                    _same(target, cell)
                else:
                    target["source"] = cell["source"]
                    _same(target, cell)
                    if base and _task(base, name) != _task(new, name):
                        told["changed tasks"].append(name)
                        behind.setdefault(target["id"], []).append(task_note(name, day))
        elif target is not None and cell.get("id") not in seen:
            seen.add(cell["id"])
            if target["source"] == cell["source"]:
                _same(target, cell)
            elif cell["id"] in was and was[cell["id"]]["source"] != cell["source"] or not base:
                told["own cells"].append(cell["id"])  # the course's cell is as it was: the learner's version stays
                target["source"] = cell["source"]
                _same(target, cell)
        elif cell.get("id") in was and cell.get("id") not in seen:
            seen.add(cell["id"])
            if was[cell["id"]]["source"] != cell["source"]:
                told["kept beside"].append(cell["id"])
                fence = "```" if "```" not in cell["source"] else "~~~~"
                lead = f"{fence}{'python' if cell['cell_type'] == 'code' else 'markdown'}\n"
                behind.setdefault(place.get(cell["id"]), []).append(
                    _note(
                        f"The text of the course has changed here. Your version of the old cell was:\n\n{lead}{cell['source']}\n{fence}",
                        day,
                    )
                )
        elif cell["source"].strip() or cell["cell_type"] != "code":
            told["own cells"] += [] if course_of(cell).get("role") == "note" else [str(cell.get("id"))]
            behind.setdefault(last, []).append(_own(cell))
            continue
        last = target["id"] if target is not None else place.get(cell.get("id"), last)
    cells = [*behind.pop(None, [])]
    for cell in result["cells"]:
        cells += [cell, *behind.pop(cell.get("id"), [])]
    result["cells"] = [*cells, *(cell for rest in behind.values() for cell in rest)]
    _ids_apart(result["cells"])
    return result, told


def _places(old: list[str], new: list[str]) -> dict[str, str | None]:
    """For every cell of the old chapter the one of the new chapter that stands in its place."""
    found: dict[str, str | None] = {}
    for _, i, end, j, stop in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for k in range(i, end):
            at = min(j + k - i, stop - 1)
            found[old[k]] = new[at] if at >= 0 else None
    return found


def _stubs(notebook: Notebook) -> dict[str, str]:
    """The hash of every blank answer cell, by exercise, in the order of the chapter."""
    found = notebook["metadata"].get("course", {}).get("stubs", {})
    return found if isinstance(found, dict) else {}


def answers_of(notebook: Notebook) -> dict[str, Cell]:
    """The answer cell of every exercise: the one with the course's id where a learner has copied it, else the first."""
    found: dict[str, Cell] = {}
    for cell in notebook["cells"]:
        course = course_of(cell)
        name = course.get("exercise")
        if course.get("role") == "answer" and (name not in found or cell.get("id") == f"ex-{str(name).replace('.', '-')}-answer"):
            found[name] = cell
    return found


def answer_id(notebook: Notebook, exercise: str | None) -> str | None:
    """The id of the answer cell of an exercise."""
    return answers_of(notebook).get(exercise, {}).get("id")


def _task(notebook: Notebook, exercise: str) -> tuple[str | None, str | None]:
    """The stub of an exercise and the text above it; where their lines break does not count."""
    blank = _stubs(notebook).get(exercise)
    stub = next(
        (
            source_of(cell)
            for cell in notebook["cells"]
            if cell.get("id") == answer_id(notebook, exercise) and _hash(source_of(cell)) == blank
        ),
        blank,
    )
    text = next(
        (
            source_of(cell)
            for cell in notebook["cells"]
            if cell["cell_type"] == "markdown" and re.search(rf"(?m)^### Exercise {re.escape(exercise)} ", source_of(cell))
        ),
        None,
    )
    return tuple(part and "".join(part.split()) for part in (stub, text))


def same_task(old: Notebook, was: str, new: Notebook, now: str, ids: dict[str, str]) -> bool:
    """Whether an exercise asks in another chapter, under another id, for what it asked before; ``ids``: former ids and those of today."""
    before = [part and re.sub(r"\d\d[a-z]?\.\d+", lambda found: ids.get(found[0], found[0]), part) for part in _task(old, was)]
    return before == list(_task(new, now))


def task_note(exercise: str, day: str) -> Cell:
    """What is said below an answer whose task has changed."""
    return _note(f"**The task of exercise {exercise} has changed** since you wrote this answer. Read it again, then run the check.", day)


def text_key(source: str) -> str:
    """The first letters of the SHA-256 of an answer."""
    return _hash(source)[:16]


def _hash(source: str) -> str:
    """SHA-256 of a cell's text, as ``build`` notes it of the stubs."""
    return hashlib.sha256(source.replace("\r\n", "\n").encode()).hexdigest()


def _same(target: Cell, cell: Cell) -> None:
    """Give a cell of the new chapter what the learner's had computed."""
    if target["cell_type"] == cell["cell_type"] == "code":
        target["outputs"], target["execution_count"] = cell.get("outputs", []), cell.get("execution_count")


def _own(cell: Cell) -> Cell:
    kept = copy.deepcopy(cell)
    if course_of(cell).get("role") != "note":
        kept.get("metadata", {}).pop("course", None)
    return kept


def _note(text: str, day: str) -> Cell:
    """A few words of ours beside something that the learner wrote."""
    return {
        "cell_type": "markdown",
        "id": uuid.uuid4().hex[:12],
        "metadata": {"course": {"role": "note"}},
        "source": f"> *{day}:* {text}" if "\n" not in text else f"*{day}:* {text}",
    }


def _ids_apart(cells: list[Cell]) -> None:
    """No two cells of a notebook may have one id."""
    seen: set[str] = set()
    for cell in cells:
        if not cell.get("id") or cell["id"] in seen:
            cell["id"] = uuid.uuid4().hex[:12]
        seen.add(cell["id"])
