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
from pathlib import Path
from typing import Any

from course_checks import catalogue
from course_utils.paths import ROOT

from .cells import Cell, cell_of, needs
from .names import plain_python

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


def metadata(exercise: str, role: str, points: float | None) -> dict[str, Any]:
    """nbgrader's mark on an answer cell (no points) or a check cell."""
    graded = points is not None
    mark = {
        "schema_version": 3,
        "grade_id": grade_id(exercise, role),
        "grade": graded,
        "solution": not graded,
        "locked": graded,
        "task": False,
        "cell_type": "code",
    }
    return {**mark, "points": points} if graded else mark


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


def _tag(cell: dict[str, Any]) -> tuple[str | None, str | None]:
    tag = cell["metadata"].get("course", {})
    return tag.get("exercise"), tag.get("role")


def _text(cell: dict[str, Any]) -> str:
    return cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])


def kept_cells(book: dict[str, Any], solved: dict[str, Any] | None = None) -> set[int]:
    """Indices of the code cells that grading needs: imports, answers, checks, and what answers call.

    A stub shows little of what its solution will use: with the solved notebook its answers are asked, too.
    """
    code = [(i, cell) for i, cell in enumerate(book["cells"]) if cell["cell_type"] == "code"]
    roles = {i: _tag(cell) for i, cell in code}
    answers_of = {_tag(cell): _text(cell) for cell in (solved or {"cells": []})["cells"] if _tag(cell)[1] == "answer"}
    variants: list[list[Cell]] = []
    for answers in ({}, answers_of):
        texts = {i: answers.get(roles[i], _text(cell)) for i, cell in code if roles[i][1] != "check"}
        variants.append([cell_of(i, text, *roles[i]) for i, text in texts.items()])
    kept = {i for i, cell in code if roles[i][1] in ("answer", "check") or only_imports(_text(cell))}
    for cells in variants:
        for cell in cells:
            if cell.index in kept:
                kept |= set(needs(cell, cells, changes=False))
    return kept


def assignment(book: dict[str, Any], name: str, solved: dict[str, Any] | None = None) -> dict[str, Any]:
    """A chapter's notebook as the source of an assignment."""
    points = {exercise.id: exercise.points for exercise in catalogue()}
    kept, cells = kept_cells(book, solved), []
    for index, cell in enumerate(book["cells"]):
        exercise, role = _tag(cell)
        text, marks = _text(cell), {}
        if cell["cell_type"] == "code":
            if index not in kept:
                continue
            if role in ("answer", "check"):
                marks = {"nbgrader": metadata(exercise, role, points[exercise] if role == "check" else None)}
                text = check_source(text) if role == "check" else text
        elif not cells:
            text = text.rstrip() + NOTE.format(name=name)
        new = {
            "cell_type": cell["cell_type"],
            "id": cell["id"],
            "source": text,
            "metadata": {**({"course": cell["metadata"]["course"]} if exercise else {}), **marks},
        }
        cells.append(new | ({"outputs": [], "execution_count": None} if cell["cell_type"] == "code" else {}))
    about = {key: book["metadata"][key] for key in ("kernelspec", "language_info") if key in book["metadata"]}
    return {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def lay_out(root: str | Path, target: str | Path) -> list[str]:
    """Write every chapter under ``root`` as an assignment under ``target``; returns their names. ValueError when it cannot."""
    root, target = Path(root), Path(target)
    chapters = sorted((root / "chapters").glob("[0-9][0-9]*_*.ipynb"))
    if not chapters:
        raise ValueError(f"there are no chapters under {root}")
    if (target / "source").exists() or (target / "nbgrader_config.py").exists():
        raise ValueError(f"{target} already holds an nbgrader course: choose another folder")
    names = []
    for path in chapters:
        key = root / "solutions" / path.name
        solved = json.loads(key.read_text(encoding="utf-8")) if key.exists() else None
        book = assignment(json.loads(path.read_text(encoding="utf-8")), path.name, solved)
        place = target / "source" / path.stem
        place.mkdir(parents=True)
        (place / path.name).write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        names.append(path.stem)
    (target / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    return names


def main(arguments: list[str] | None = None) -> int:
    """Lay the assignments out and say what comes next."""
    parser = argparse.ArgumentParser(prog="python -m course_tools.grading.nbgrader", description="Lay the chapters out for nbgrader.")
    parser.add_argument("target", help="folder for the course: source/, nbgrader_config.py")
    parser.add_argument("--root", default=str(ROOT), help="folder of the course (this one)")
    options = parser.parse_args(arguments)
    try:
        names = lay_out(options.root, options.target)
    except (ValueError, OSError) as error:
        print(f"nbgrader: {error}", file=sys.stderr)
        return 2
    print(f"{len(names)} assignments in {options.target}/source. Next, in {options.target}:  nbgrader generate_assignment {names[0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
