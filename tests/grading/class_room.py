"""Notebooks for the tests of grading: right ones, wrong ones, attackers."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RIGHT = """
def gaussian_weights(query, keys, bandwidth):
    if bandwidth <= 0:
        raise ValueError(f"bandwidth={bandwidth}")
    return torch.softmax(-((query[:, None] - keys) ** 2) / (2 * bandwidth**2), dim=1)
"""
WRONG = RIGHT.replace("dim=1", "dim=0")


def cell(source: str, exercise: str | None = None, role: str = "answer", kind: str = "code") -> dict[str, Any]:
    """One cell of a notebook in format 4."""
    metadata = {"course": {"exercise": exercise, "role": role, "schema": 1}} if exercise else {}
    more = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "metadata": metadata, "source": source} | more


def notebook(*cells: dict[str, Any]) -> bytes:
    """A notebook that imports torch first."""
    first = cell("import torch\nfrom torch import nn\nfrom torch.nn import functional as F\nimport math\nfrom course_checks import check")
    book = {"cells": [first, *cells], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book).encode()


def with_answer(source: str, exercise: str = "01.1") -> bytes:
    """A notebook with one answer."""
    return notebook(cell(source, exercise))


def source_of(answer: Any) -> str:
    """The text of a function or class of the tests or of a solution, for a cell."""
    return inspect.getsource(answer)


TEACHER = """
import importlib.abc, importlib.util, sys, types
sources = {sources!r}

class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        return importlib.util.spec_from_loader(name, self) if name.startswith("teacher.") and name[8:] in sources else None
    def exec_module(self, module):
        exec(compile(sources[module.__name__[8:]], module.__name__, "exec"), module.__dict__)

sys.meta_path.insert(0, Finder())
sys.modules["teacher"] = types.ModuleType("teacher")
sys.modules["teacher"].__path__ = []
{last}
"""


def from_teacher(sources: dict[str, str], last: str) -> str:
    """A cell that holds the modules ``sources`` as ``teacher.NAME`` and ends with ``last``: the sandbox has none of them."""
    changes = (
        ("from ..common import", "from teacher.shared import"),
        ("from ...", "from course_utils."),
        ("from . import", "from teacher import"),
        ("from .", "from teacher."),
    )
    plain = dict(sources)
    for old, new in changes:
        plain = {name: text.replace(old, new) for name, text in plain.items()}
    return TEACHER.format(sources=plain, last=last)


def exercises_in(chapter: str) -> dict[str, str]:
    """The modules of a chapter's exercises, and what they share."""
    folder = ROOT / "course_utils" / "exercises" / chapter
    sources = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.py") if path.stem != "__init__"}
    return sources | {"shared": (folder.parent / "common.py").read_text(encoding="utf-8")}


def twin_cell(exercise: Any, index: int) -> str:
    """A cell with the wrong answer number ``index`` of an exercise, as a student's own code."""
    sources = exercises_in(f"ch{exercise.id.split('.')[0]}")
    return from_teacher(
        sources,
        f"""import importlib
found = [value for name in sources for value in vars(importlib.import_module("teacher." + name)).values()]
exercise = next(value for value in found if getattr(value, "id", "") == {exercise.id!r} and hasattr(value, "misconceptions"))
{exercise.name} = exercise.misconceptions[{index}].answer""",
    )


def other_cell(exercise: Any, index: int) -> str:
    """A cell with a right answer that is written differently from the solution."""
    chapter = f"ch{exercise.id.split('.')[0]}"
    texts = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "tests/checks/right_answers").glob(f"{chapter}*.py")}
    name = next(stem for stem, text in texts.items() if f'"{exercise.id}": ' in text)
    own = texts[name].replace(f"from course_checks.exercises.{chapter}.", "from teacher.")
    last = f"from teacher.{name} import ANSWERS\n{exercise.name} = ANSWERS[{exercise.id!r}][{index}]"
    return from_teacher(exercises_in(chapter) | {name: own}, last)


def solved(chapter: str) -> dict[str, Any]:
    """The solved notebook of a chapter, outputs dropped."""
    (path,) = (ROOT / "solutions").glob(f"{chapter}_*.ipynb")
    book = json.loads(path.read_text(encoding="utf-8"))
    for item in book["cells"]:
        if item["cell_type"] == "code":
            item["outputs"] = []
    return book


def blank(chapter: str) -> dict[str, Any]:
    """The blank notebook of a chapter, outputs dropped."""
    (path,) = (ROOT / "chapters").glob(f"{chapter}_*.ipynb")
    book = json.loads(path.read_text(encoding="utf-8"))
    for item in book["cells"]:
        if item["cell_type"] == "code":
            item["outputs"] = []
    return book


def replaced(book: dict[str, Any], exercise: str, source: str) -> dict[str, Any]:
    """The notebook with another answer to one exercise."""
    copy = json.loads(json.dumps(book))
    for item in copy["cells"]:
        course = item["metadata"].get("course", {})
        if course.get("exercise") == exercise and course.get("role") == "answer":
            item["source"] = source
    return copy
