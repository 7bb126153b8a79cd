"""What the tests of grading hand in: right answers, wrong ones, attackers. And how they grade it."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from course_checks.exercise import Exercise, Prediction
from course_checks.misconceptions import Misconception, source_of
from course_tools.grading.__main__ import main
from course_tools.grading.bubblewrap import why_not
from course_tools.grading.marks import Limits, Mark, exercises_of
from course_tools.grading.notebook_grader import grade_notebook
from course_tools.grading.run_folder import RunFolder
from course_tools.grading.sandbox import Sandbox
from course_tools.metadata import tag_of
from course_utils.launcher.notebooks import chapters_in, without_outputs
from course_utils.paths import ROOT
from tests.answers import Answer, imports

RIGHT = """
def gaussian_weights(query, keys, bandwidth):
    if bandwidth <= 0:
        raise ValueError(f"bandwidth={bandwidth}")
    return torch.softmax(-((query[:, None] - keys) ** 2) / (2 * bandwidth**2), dim=1)
"""
WRONG = RIGHT.replace("dim=1", "dim=0")
ATTENTION = "def attention_scores(query, key):\n    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])\n"
FIRST, THIRD = "01_kernel_regression.ipynb", "03_self_attention.ipynb"
SAID = {"output_type": "display_data", "metadata": {}, "data": {"text/plain": "✓ 01.1 Gaussian weights: right (4 of 4 points)"}}

needs_sandbox = pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "COURSE_PROGRESS": "off", "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1"}
full = pytest.mark.skipif(os.environ.get("COURSE_FULL") != "1", reason="runs in `python course.py test --full`")


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

ClaimExercise = FunctionExercise = ModuleExercise = Prediction = Exercise
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
    if exercise.kind == "claim":
        return text  # it needs torch alone, and its own text has to be found
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
    return next(iter(notebooks("solutions", chapter).values()))


def blank(chapter: str) -> dict[str, Any]:
    """The blank notebook of a chapter, outputs dropped."""
    return next(iter(notebooks("chapters", chapter).values()))


def notebooks(folder: str, chapter: str) -> dict[str, dict[str, Any]]:
    """A chapter's notebook and its companion's, by their file names, outputs dropped."""
    return {path.name: without_outputs(json.loads(path.read_text(encoding="utf-8"))) for path in chapters_in(ROOT / folder, chapter)}


def replaced(book: dict[str, Any], exercise: str, source: str) -> dict[str, Any]:
    """The notebook with another answer to one exercise."""
    copy = json.loads(json.dumps(book))
    for item in copy["cells"]:
        if tag_of(item) == (exercise, "answer"):
            item["source"] = source
    return copy


def put(folder: Path, student: str, book: bytes | dict[str, Any], name: str = FIRST) -> None:
    """Hand in a notebook."""
    (folder / student).mkdir(parents=True, exist_ok=True)
    (folder / student / name).write_bytes(book if isinstance(book, bytes) else json.dumps(book).encode())


def grade(folder: Path, out: Path, *more: str) -> dict[str, dict[str, str]]:
    """Rows of the gradebook by student."""
    assert main([str(folder), "--out", str(out), "--quiet", "--seed", "fixed", *more]) in (0, 1)
    return table(out)


def table(out: Path) -> dict[str, dict[str, str]]:
    """Rows of a run's gradebook by student, columns without their points."""
    rows = read_table(out / "gradebook.csv")
    return {row["Student"]: {key.split(" (")[0]: value for key, value in row.items()} for row in rows}


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))


def packed(path: Path, names: dict[str, bytes]) -> Path:
    """Write a zip file."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in names.items():
            archive.writestr(name, data)
    return path


def zipped(path: Path, **members: str) -> None:
    """Write a zip file of texts, dated before there was a course."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(zipfile.ZipInfo(name, (1999, 1, 1, 0, 0, 0)), text)


IN_IPYTHON = """
import json, os, sys, warnings
warnings.simplefilter("ignore")
import course_checks
from course_checks import engine
from IPython.core.interactiveshell import InteractiveShell
books, out, asked = json.load(open(sys.argv[1])), {}, course_checks.check
for number, (name, cells) in enumerate(books.items()):
    noted = out[name] = {}
    def noting(exercise, *answers, **named):
        result = asked(exercise, *answers, **named)
        noted[exercise] = result.points
        return result
    course_checks.check = noting
    engine._last.clear()  # another notebook, another kernel
    os.makedirs(f"kernel{number}")
    os.chdir(f"kernel{number}")
    sys.path.insert(0, os.getcwd())
    shell = InteractiveShell()
    for source in cells:
        shell.run_cell(source, store_history=True)
    InteractiveShell.clear_instance()
    for module in ("my_scores", "roots"):
        sys.modules.pop(module, None)
    sys.path.pop(0)
    os.chdir("..")
json.dump(out, open(sys.argv[2], "w"))
"""


def noted_and_graded(folder: Path, books: dict[str, tuple[str, dict[str, Any]]]) -> Iterator[tuple[str, dict[str, float], dict[str, Mark]]]:
    """Notebooks by name, each with the name of its file: what its own checks said in IPython, by exercise, and its marks."""
    sources = {name: ["".join(item["source"]) for item in book["cells"]] for name, (_, book) in books.items()}
    (folder / "in.json").write_text(json.dumps(sources))
    command, env = [sys.executable, "-c", IN_IPYTHON, "in.json", "out.json"], {"IPYTHONDIR": str(folder / "ipython"), "MPLBACKEND": "Agg"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**ENVIRONMENT, **env}, timeout=1200)
    assert done.returncode == 0, done.stderr[-2000:]
    noted = json.loads((folder / "out.json").read_text())
    for number, (file, book) in enumerate(books.values()):
        put(folder / "class", f"s{number:03d}", book, file)
    assert main([str(folder / "class"), "--out", str(folder / "out"), "--quiet", "--seed", "fixed"]) == 0
    graded = {record.submission.student: record.marks for record in RunFolder(folder / "out", True).records()}
    for number, name in enumerate(books):
        yield name, noted[name], graded[f"s{number:03d}"]


def marks_of(sandbox: Sandbox, book: bytes, timeout: float = 20.0) -> dict[str, Mark]:
    """The marks of a notebook of chapter 01."""
    graded = grade_notebook(sandbox, book, exercises_of(("01",)), "secret", Limits(timeout))
    assert not graded.problem
    return graded.marks


def mark_of(sandbox: Sandbox, source: str) -> Mark:
    """The mark of one answer to 01.1."""
    return marks_of(sandbox, with_answer(source), 6.0)["01.1"]
