"""Notebooks for the tests of grading: right ones, wrong ones, attackers."""

from __future__ import annotations

import json
from typing import Any

from course_checks.exercise import Exercise, Prediction
from course_checks.misconceptions import Misconception, source_of
from course_tools.metadata import tag_of
from course_utils.paths import ROOT
from tests.answers import Answer, imports

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
    more: dict[str, Any] = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "metadata": metadata, "source": source} | more


def notebook(*cells: dict[str, Any]) -> bytes:
    """A notebook that imports torch first."""
    first = cell("import torch\nfrom torch import nn\nfrom torch.nn import functional as F\nimport math\nfrom course_checks import check")
    book = {"cells": [first, *cells], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book).encode()


def with_answer(source: str, exercise: str = "01.1") -> bytes:
    """A notebook with one answer."""
    return notebook(cell(source, exercise))


LIBRARY = """
import importlib.abc, importlib.util, sys
sources = {sources!r}

class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name in sources:
            return importlib.util.spec_from_loader(name, self, is_package=any(other.startswith(name + ".") for other in sources))
    def exec_module(self, module):
        module.__file__ = module.__name__
        exec(compile(sources[module.__name__], module.__name__, "exec"), module.__dict__)

sys.meta_path.insert(0, Finder())
"""
NO_EXERCISES = """
class Exercise:
    def __init__(self, **given):
        vars(self).update(given)

FunctionExercise = ModuleExercise = Prediction = Exercise
"""
# What an edit may use beside the names of its exercise's file.
IMPORTS = """import copy, functools, itertools, math, random, re
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
"""


def misconception_cell(exercise: Exercise, misconception: Misconception) -> str:
    """A cell with a wrong answer, as a student's own code. The sandbox has no exercises, so the cell brings the files that the answer
    was made in, as a library called ``mine``."""
    if isinstance(exercise, Prediction):
        return f"from math import inf, nan\n{exercise.name} = {misconception.answer!r}"
    text = misconception.change.made(source_of(*exercise.helpers, exercise.right))
    home = exercise.right.__module__.replace("course_checks.", "mine.", 1)
    made = f"space = dict(vars(importlib.import_module({home!r})))\nexec({IMPORTS!r}, before := {{}})\nspace = before | space\n"
    return LIBRARY.format(sources=library_of(home)) + made + f"exec({text!r}, space)\n{exercise.name} = space[{exercise.name!r}]"


def library_of(home: str) -> dict[str, str]:
    """The modules behind an exercise's, by name: its chapter's, and what they share with others. They define no exercises."""
    chapter = home.split(".")[2]
    folder = ROOT / "course_checks" / "exercises"
    paths = [path for path in (folder / chapter).glob("*.py") if path.stem != "__init__"]
    found = {f"mine.exercises.{chapter}.{path.stem}": path.read_text(encoding="utf-8") for path in paths}
    shared = {"mine.exercises.common": (folder / "common.py").read_text(encoding="utf-8")}
    packages = dict.fromkeys(("mine", "mine.exercises", f"mine.exercises.{chapter}"), "")
    return packages | {"mine.case": "from course_checks.case import *", "mine.exercise": NO_EXERCISES} | shared | found


def other_notebook(answer: Answer) -> bytes:
    """A notebook with a right answer that is written differently from the solution."""
    return notebook(cell(imports(answer.exercise.split(".")[0])), cell(answer.code(), answer.exercise))


def solved(chapter: str) -> dict[str, Any]:
    """The solved notebook of a chapter, outputs dropped."""
    return without_outputs("solutions", chapter)


def blank(chapter: str) -> dict[str, Any]:
    """The blank notebook of a chapter, outputs dropped."""
    return without_outputs("chapters", chapter)


def without_outputs(folder: str, chapter: str) -> dict[str, Any]:
    (path,) = (ROOT / folder).glob(f"{chapter}_*.ipynb")
    book = json.loads(path.read_text(encoding="utf-8"))
    for item in book["cells"]:
        if item["cell_type"] == "code":
            item["outputs"] = []
    return book


def replaced(book: dict[str, Any], exercise: str, source: str) -> dict[str, Any]:
    """The notebook with another answer to one exercise."""
    copy = json.loads(json.dumps(book))
    for item in copy["cells"]:
        if tag_of(item) == (exercise, "answer"):
            item["source"] = source
    return copy
