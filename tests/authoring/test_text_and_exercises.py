"""What a chapter's text and its exercises must agree on: parameter names, and answers that keep their names."""

from __future__ import annotations

import ast
import os
import re

import pytest

from course_checks.exercise import Exercise, FunctionExercise, ModuleExercise
from course_checks.lookup import catalogue
from course_tools.authoring.ledger import DEEPER, find_texts
from course_tools.authoring.source import CHAPTER, SOLUTION, Chapter, read_chapter
from course_utils.paths import ROOT

ONLY = [number for number in os.environ.get("COURSE_CHAPTERS", "").split(",") if number]
SOURCES = {number: path for number, path in find_texts(ROOT).items() if not ONLY or number.removesuffix(f"-{DEEPER}") in ONLY}
CHAPTERS: dict[str, Chapter] = {number: read_chapter(path) for number, path in SOURCES.items()}  # "03-deeper" is the companion of 03
EXERCISES = [exercise for exercise in catalogue() if exercise.id.split(".")[0] in CHAPTERS]

each_chapter = pytest.mark.parametrize("number", CHAPTERS)


def cell_of(exercise_id: str, role: str):
    number = exercise_id.split(".")[0]
    cells = [cell for text in (number, f"{number}-{DEEPER}") if text in CHAPTERS for cell in CHAPTERS[text].cells]
    return next(cell for cell in cells if cell.exercise == exercise_id and cell.role == role)


def bound_names(source: str) -> set[str]:
    """Names that a cell gives to something at its top level."""
    names: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        targets = [n for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        names |= {target.id for target in targets}
    return names


FUNCTIONS = [exercise for exercise in EXERCISES if exercise.kind == "function"]
MODULES = [exercise for exercise in EXERCISES if isinstance(exercise, ModuleExercise)]


def stub_of(exercise: Exercise) -> ast.FunctionDef | ast.ClassDef:
    """The definition that the learner finds in the answer cell."""
    tree = ast.parse(cell_of(exercise.id, "answer").source(CHAPTER))
    found = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return found[exercise.name]


def parameters(function: ast.FunctionDef) -> set[str]:
    arguments = function.args
    return {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)} - {"self"}


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=lambda e: e.id)
def test_cases_call_a_function_by_the_names_in_its_stub(exercise: FunctionExercise) -> None:
    """A case hands its arguments over by name; the learner sees the names in the blank."""
    stub = stub_of(exercise)
    assert isinstance(stub, ast.FunctionDef)
    shown = re.match(r"(\w+)\((.*?)\)(?: ->|$)", exercise.signature)
    for case in (*exercise.fixed(), *exercise.draw(1)):
        if shown:
            named = set(re.findall(r"(?:^|, )\W*(\w+)", shown[2]))
            assert shown[1] == exercise.name and set(case.args) <= named, f"the signature {exercise.signature!r} names other parameters"
        assert set(case.args) <= parameters(stub), f"{case.label}: not in the stub's parameters {sorted(parameters(stub))}"


@pytest.mark.parametrize("exercise", MODULES, ids=lambda e: e.id)
def test_cases_build_and_call_a_module_by_the_names_in_its_stub(exercise: ModuleExercise) -> None:
    methods = {node.name: node for node in stub_of(exercise).body if isinstance(node, ast.FunctionDef)}
    for case in (*exercise.fixed(), *exercise.draw(1)):
        for method, given in (
            ("__init__", case.args["init"]),
            (case.args.get("method", "forward"), case.args["inputs"] or ()),
        ):  # no inputs: how it starts
            function = methods.get(method)
            if function is not None and function.args.vararg is None:
                assert set(given) <= parameters(function), f"{case.label}: {method} has {sorted(parameters(function))}"


@each_chapter
def test_no_other_cell_takes_the_name_of_an_answer(number: str) -> None:
    """Else a learner who runs an earlier cell again after solving the exercise hands that thing to the check."""
    names = {exercise.name: exercise.id for exercise in EXERCISES if exercise.id in CHAPTERS[number].stubs}
    taken = [
        f"{CHAPTERS[number].name}:{cell.line} gives the name {name} (exercise {names[name]}) to something else"
        for cell in CHAPTERS[number].cells
        if cell.kind == "code" and cell.role not in ("answer", "check")
        for name in sorted(bound_names(_python(cell.source(SOLUTION))) & set(names))
    ]
    assert not taken, "\n".join(taken)


def _python(source: str) -> str:
    """A cell without magics, which only a notebook understands."""
    return "\n".join(line for line in source.splitlines() if not line.lstrip().startswith(("%", "!")))


def test_bound_names() -> None:
    assert bound_names("def f(): x = 1\nfor a, (b, c) in d: e = 2\nwith g as h: pass\ni.j = k[0] = 3") == {"f", "a", "b", "c", "e", "h"}
