"""The chapters as nbgrader's assignments: ``python -m course_tools.grading.nbgrader DIR``.

``DIR/source/NN_slug/NN_slug.ipynb`` is a chapter with nbgrader's cell metadata: answers are solution cells, checks are
locked and end in a number, the points, which nbgrader takes as the score. ``DIR/nbgrader_config.py`` says the rest; an
institution that has its own takes over the line about ``ClearSolutions``, without which nbgrader empties the answers.

What only tells the story is left out: pictures, widgets, training. Grading runs an import or two, the answers and the
checks, so it is quick, and no cell waits for a browser. ``course_utils`` must be importable where nbgrader runs its
kernels: install the course there (``pip install .``). nbgrader has no sandbox: it runs submissions with your rights.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from course_checks import catalogue
from course_utils.launcher.notebooks import Notebook, chapters_in, source_of
from course_utils.paths import ROOT

from ..metadata import KEY, tag_of
from .cell_names import plain_python
from .cells import Cell, cell_of
from .dependencies import needs

CONFIG = '''"""nbgrader for "Attention, from Kernels to GPT"."""

import os

os.environ.setdefault("COURSE_PROGRESS", "off")      # grading is nobody's progress
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # small models run faster when idle threads sleep

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "attention"
c.ClearSolutions.enabled = False  # the answer cells already hold what learners start from
c.ExecutePreprocessor.timeout = 120
c.ExecutePreprocessor.interrupt_on_timeout = True
'''
NOTE = """

> This is the graded part of the chapter. Its pictures, experiments and training are in `chapters/{name}` of the course."""


def grade_id(exercise: str, role: str) -> str:
    """nbgrader's name of a cell, which may hold no dot: ``ex-01-1-answer``."""
    return f"ex-{exercise.replace('.', '-')}-{role}"


class Mark(TypedDict):
    """What nbgrader keeps in a cell's metadata, under ``nbgrader``."""

    schema_version: int
    grade_id: str
    grade: bool
    solution: bool
    locked: bool
    task: bool
    cell_type: str
    points: NotRequired[float]


def mark_for(exercise: str, role: str, points: float | None) -> Mark:
    """nbgrader's mark on an answer cell (no points) or a check cell."""
    graded = points is not None
    mark = Mark(
        schema_version=3, grade_id=grade_id(exercise, role), grade=graded, solution=not graded, locked=graded, task=False, cell_type="code"
    )
    if points is not None:
        mark["points"] = points
    return mark


def check_source(source: str) -> str:
    """A check cell whose last line is the number of points.

    A word on standard error would cost all points, so warnings of an answer are kept out of it.
    """
    call = re.search(r"^(\w+) = check\(.*\)$", source, re.M)
    if call is None:
        raise ValueError(f"this check cell keeps no result: {source!r}")
    quiet = 'import contextlib, os\nwith contextlib.redirect_stderr(open(os.devnull, "w")):\n    ' + call.group()
    return source.replace(call.group(), quiet).rstrip() + f"\n{call.group(1)}.points"


def only_imports(source: str) -> bool:
    """Whether a cell consists of import statements."""
    try:
        body = ast.parse(plain_python(source)).body
    except SyntaxError:
        return False
    return bool(body) and all(isinstance(statement, (ast.Import, ast.ImportFrom)) for statement in body)


def kept_cells(notebook: Notebook, solved: Notebook | None = None) -> set[int]:
    """Indices of the code cells that grading needs: imports, answers, checks, and what answers call.

    A stub shows little of what its solution will use: with the solved notebook its answers are asked, too.
    """
    code = [(i, cell) for i, cell in enumerate(notebook["cells"]) if cell["cell_type"] == "code"]
    tags = {i: tag_of(cell) for i, cell in code}
    answers_of = {tag_of(cell): source_of(cell) for cell in (solved or {"cells": []})["cells"] if tag_of(cell).role == "answer"}
    variants: list[list[Cell]] = []
    for answers in ({}, answers_of):
        texts = {i: answers.get(tags[i], source_of(cell)) for i, cell in code if tags[i].role != "check"}
        variants.append([cell_of(i, text, *tags[i]) for i, text in texts.items()])
    kept = {i for i, cell in code if tags[i].role in ("answer", "check") or only_imports(source_of(cell))}
    for cells in variants:
        for cell in cells:
            if cell.index in kept:
                kept |= set(needs(cell, cells, changes=False))
    return kept


def assignment(notebook: Notebook, name: str, solved: Notebook | None = None) -> Notebook:
    """A chapter's notebook as the source of an assignment."""
    points = {exercise.id: exercise.points for exercise in catalogue()}
    kept = kept_cells(notebook, solved)
    cells: list[dict[str, Any]] = []
    for index, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code" and index not in kept:
            continue
        cells.append(_graded(cell, points) if cell["cell_type"] == "code" else _told(cell))
        if len(cells) == 1 and cell["cell_type"] != "code":
            cells[0]["source"] = cells[0]["source"].rstrip() + NOTE.format(name=name)
    about = {key: notebook["metadata"][key] for key in ("kernelspec", "language_info") if key in notebook["metadata"]}
    return {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def _told(cell: dict[str, Any]) -> dict[str, Any]:
    """A cell with the text and the tag of another, and nothing else."""
    metadata = {KEY: cell["metadata"][KEY]} if tag_of(cell).exercise else {}
    return {"cell_type": cell["cell_type"], "id": cell["id"], "source": source_of(cell), "metadata": metadata}


def _graded(cell: dict[str, Any], points: dict[str, float]) -> dict[str, Any]:
    """A code cell, marked for nbgrader where it is an answer or a check."""
    (exercise, role), new = tag_of(cell), {**_told(cell), "outputs": [], "execution_count": None}
    if exercise and role in ("answer", "check"):
        new["metadata"]["nbgrader"] = mark_for(exercise, role, points[exercise] if role == "check" else None)
        new["source"] = check_source(new["source"]) if role == "check" else new["source"]
    return new


def lay_out(root: str | Path, target: str | Path, numbers: Sequence[str] = ()) -> list[str]:
    """Write the chapters under ``root``, all or those of ``numbers``, such as ["06"], each with its companion, as assignments under
    ``target``; returns their names. ValueError when it cannot."""
    root, target = Path(root), Path(target)
    chapters = [path for path in chapters_in(root / "chapters") if not numbers or path.name.split("_")[0] in numbers]
    if not chapters:
        raise ValueError(f"there are no chapters under {root}")
    if (target / "source").exists() or (target / "nbgrader_config.py").exists():
        raise ValueError(f"{target} already holds an nbgrader course: choose another folder")
    names = []
    for path in chapters:
        place = path.relative_to(root / "chapters").as_posix()
        key = root / "solutions" / place
        solved = json.loads(key.read_text(encoding="utf-8")) if key.exists() else None
        notebook = assignment(json.loads(path.read_text(encoding="utf-8")), place, solved)
        folder = target / "source" / path.stem
        folder.mkdir(parents=True)
        (folder / path.name).write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        names.append(path.stem)
    (target / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    return names


def main(arguments: list[str] | None = None) -> int:
    """Lay the assignments out and say what comes next."""
    parser = argparse.ArgumentParser(prog="python -m course_tools.grading.nbgrader", description="Lay the chapters out for nbgrader.")
    parser.add_argument("target", help="folder for the course: source/, nbgrader_config.py")
    parser.add_argument("numbers", nargs="*", help="only these chapters: 06")
    parser.add_argument("--root", default=str(ROOT), help="folder of the course (this one)")
    options = parser.parse_args(arguments)
    try:
        names = lay_out(options.root, options.target, options.numbers)
    except (ValueError, OSError) as error:
        print(f"nbgrader: {error}", file=sys.stderr)
        return 2
    print(f"{len(names)} assignments in {options.target}/source. Next, in {options.target}:  nbgrader generate_assignment {names[0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
