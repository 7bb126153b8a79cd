"""A chapter as a file: its cells, its exercises, and which of them are filled in. Standard library only."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

Notebook = dict[str, Any]
Cell = dict[str, Any]
CHAPTERS, DEEPER = "[0-9][0-9]*_*.ipynb", "deeper"  # the files of chapters; the folder of their companions


class Damaged(ValueError):
    """A file that is no notebook."""


def chapters_in(folder: Path, number: str = "") -> list[Path]:
    """The chapters in a folder, or the one of this number, each with its companion behind it."""
    found = [*folder.glob(CHAPTERS), *folder.glob(f"{DEEPER}/{CHAPTERS}")]
    chosen = [path for path in found if number in ("", path.name.split("_")[0])]
    return sorted(chosen, key=lambda path: (path.name.split("_")[0], path.parent.name == DEEPER))


def read(path: Path) -> Notebook:
    """The notebook in a file, the text of each cell as one string; :class:`Damaged` where there is none to be read."""
    return parse(path.read_bytes(), path.name)


def parse(data: bytes, name: str) -> Notebook:
    """The notebook that a file of this name holds; :class:`Damaged` where it is none."""
    try:
        notebook = json.loads(data)
        for cell in notebook["cells"]:
            cell["source"] = source_of(cell)
            course_of(cell), cell["cell_type"]
        notebook["metadata"].get("course")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(f"{name} cannot be read as a notebook ({type(error).__name__})") from None
    return notebook


def source_of(cell: Cell) -> str:
    """The text of a cell, as one string."""
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def course_of(cell: Cell) -> dict[str, Any]:
    """What the course has noted on a cell: the exercise and its role."""
    found = cell.get("metadata", {}).get("course", {})
    return found if isinstance(found, dict) else {}


def stubs_of(notebook: Notebook) -> dict[str, str]:
    """The digest of every blank answer cell, by exercise, in the order of the chapter."""
    course = notebook.get("metadata", {}).get("course", {})
    found = course.get("stubs", {}) if isinstance(course, dict) else {}
    return found if isinstance(found, dict) else {}


def digest(text: str) -> str:
    """SHA-256 of a cell's text, whichever line endings it was saved with."""
    return hashlib.sha256(text.replace("\r\n", "\n").encode("utf-8")).hexdigest()


def filled_in(cell: Cell, *editions: Notebook) -> bool:
    """Whether an answer cell holds something else than the stub that one of these editions of the chapter handed out."""
    found = digest(source_of(cell))
    return all(stubs_of(notebook).get(course_of(cell).get("exercise", "")) != found for notebook in editions)


def answered(notebook: Notebook) -> list[str]:
    """Exercises whose answer cell is no longer the stub that was handed out, in the order of the chapter.

    Where the notebook has lost what tells them apart, every exercise counts as answered: better too much handed in than too little.
    """
    cells = [cell for cell in notebook["cells"] if course_of(cell).get("role") == "answer"]
    return list(dict.fromkeys(course_of(cell).get("exercise", "") for cell in cells if filled_in(cell, notebook)))


def answers_of(notebook: Notebook) -> dict[str, Cell]:
    """The answer cell of every exercise: the one with the course's id where a learner has copied it, else the first."""
    found: dict[str, Cell] = {}
    for cell in notebook["cells"]:
        name = course_of(cell).get("exercise", "")
        if course_of(cell).get("role") == "answer" and (name not in found or cell.get("id") == f"ex-{str(name).replace('.', '-')}-answer"):
            found[name] = cell
    return found


def key_of(notebook: Notebook) -> str:
    """The first letters of the SHA-256 of a chapter's cells, outputs and answers left out: what tells one version from another."""
    parts = []
    for cell in notebook["cells"]:
        course = course_of(cell)
        text = stubs_of(notebook).get(course.get("exercise", "")) if course.get("role") == "answer" else source_of(cell)
        parts.append((cell["cell_type"], cell.get("id"), text))
    return digest(json.dumps(parts))[:16]


def without_outputs(notebook: Notebook) -> Notebook:
    """A notebook with the same cells, and nothing that was computed."""
    bare = copy.deepcopy(notebook)
    for cell in bare["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return bare


def encoded(notebook: Notebook) -> bytes:
    """The notebook as the bytes of a file."""
    return (json.dumps(notebook, ensure_ascii=False, indent=1) + "\n").encode("utf-8")
