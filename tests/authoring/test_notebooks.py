"""Every stored notebook belongs to its text and is fit to be read. Nothing is run here."""

from __future__ import annotations

import os
import re
from functools import cache

import nbformat
import pytest
from nbformat import NotebookNode

from course_tools.authoring.build import check_chapter
from course_tools.authoring.clock import code_lines, docstring_lines, hidden
from course_tools.authoring.ledger import DEEPER, find_texts
from course_tools.authoring.outputs import machine_paths, output_problem, readable
from course_tools.authoring.source import CHAPTER, SOLUTION, Chapter, digest, read_chapter
from course_utils.paths import ROOT

ONLY = [number for number in os.environ.get("COURSE_CHAPTERS", "").split(",") if number]
TEXTS = find_texts(ROOT)  # "03" is a chapter, "03-deeper" its companion
SOURCES = {number: path for number, path in TEXTS.items() if not ONLY or number.removesuffix(f"-{DEEPER}") in ONLY}

MAX_CODE_LINES, MAX_COLUMNS = 25, 80  # of a cell, solved; of a line

each_chapter = pytest.mark.parametrize("number", SOURCES)
each_notebook = pytest.mark.parametrize(("number", "kind"), [(number, kind) for number in SOURCES for kind in (CHAPTER, SOLUTION)])


@cache
def chapter_of(number: str) -> Chapter:
    return read_chapter(SOURCES[number])


@cache
def notebook_of(number: str, kind: str) -> NotebookNode:
    path = ROOT / chapter_of(number).notebook_in(kind)
    if not path.exists():
        pytest.fail(f"{chapter_of(number).notebook_in(kind)} is missing; build {number}")
    return nbformat.read(path, as_version=4)


def test_every_notebook_has_a_source() -> None:
    sources = {path.relative_to(ROOT / "solutions").with_suffix("") for path in TEXTS.values()}
    found = [(folder, path.relative_to(ROOT / folder)) for folder in ("chapters", "solutions") for path in (ROOT / folder).rglob("*.ipynb")]
    assert not [
        f"{folder}/{path}" for folder, path in found if path.with_suffix("") not in sources and ".ipynb_checkpoints" not in path.parts
    ]


@each_chapter
def test_a_chapter_leads_to_its_companion_and_back(number: str) -> None:
    other = TEXTS.get(number.removesuffix(f"-{DEEPER}") if number.endswith(DEEPER) else f"{number}-{DEEPER}")
    if other is not None:
        wanted = f"{DEEPER if other.parent.name == DEEPER else '..'}/{other.stem}.ipynb"
        assert f"]({wanted})" in notebook_of(number, CHAPTER).cells[-1].source
    if number.endswith(DEEPER):
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        assert f"[deeper](chapters/{DEEPER}/{SOURCES[number].stem}.ipynb) |" in readme, "README.md: the row of its chapter"


@each_chapter
def test_belongs_to_its_source(number: str) -> None:
    problems, answered = check_chapter(SOURCES[number], ROOT)
    assert not problems, f"build {number}, or build --force {number}"
    assert not answered, f"answers filled in in {chapter_of(number).notebook_in(CHAPTER)}"


@each_notebook
def test_is_a_valid_notebook_without_widgets(number: str, kind: str) -> None:
    nb = notebook_of(number, kind)
    nbformat.validate(nb)
    assert "widgets" not in nb.metadata and "jupytext" not in nb.metadata
    code = [cell for cell in nb.cells if cell.cell_type == "code"]
    numbers = [cell.execution_count for cell in code]
    assert numbers == ([None] * len(code) if kind == CHAPTER else list(range(1, len(code) + 1))), "a blank chapter has not been run"
    for cell in code:
        assert {output.execution_count for output in cell.outputs if "execution_count" in output} <= {cell.execution_count}, cell.id


@each_notebook
def test_outputs_are_fit_to_be_stored(number: str, kind: str) -> None:
    folders = machine_paths(ROOT)
    problems = [
        f"{cell.id}: {problem}"
        for cell in notebook_of(number, kind).cells
        for output in cell.get("outputs", [])
        if (problem := output_problem(output, folders))
    ]
    assert not problems


@each_notebook
def test_no_output_depends_on_the_whole_course(number: str, kind: str) -> None:
    """A table of progress would be out of date as soon as another chapter gets an exercise."""
    shown = "\n".join(readable(output) for cell in notebook_of(number, kind).cells for output in cell.get("outputs", []))
    assert not re.search(r"\d+ of \d+ exercises", shown)


@each_notebook
def test_exercise_cells(number: str, kind: str) -> None:
    nb = notebook_of(number, kind)
    stubs = nb.metadata.course.stubs
    for cell in nb.cells:
        course = cell.metadata.get("course")
        if course is None:
            assert re.fullmatch(r"[0-9a-f]{12}(-\d+)?|links-(top|end)", cell.id)
            continue
        base = f"ex-{course.exercise.replace('.', '-')}-{course.role}"
        assert re.fullmatch(rf"{base}(-\d+)?", cell.id)
        if course.role == "answer":
            is_blank = digest(cell.source) == stubs[course.exercise]
            assert is_blank == (kind == CHAPTER), f"{cell.id} in {chapter_of(number).notebook_in(kind)}"
            assert "### BEGIN SOLUTION" not in cell.source
        elif course.role == "hint":
            assert "<details" in cell.source, f"{cell.id} is not folded"


@each_chapter
def test_a_blank_exercise_is_not_attempted(number: str) -> None:
    """Also where code with a bug is handed out: nobody is told that code is wrong which nobody has written."""
    for cell in notebook_of(number, CHAPTER).cells:
        if cell.metadata.get("course", {}).get("role") == "check":
            shown = "".join(readable(output) for output in cell.outputs)
            assert "○" in shown and "✗" not in shown, f"{cell.id}: {shown[:200]}"


@each_notebook
def test_code_fits_the_page(number: str, kind: str) -> None:
    """Solutions, too, which no budget counts."""
    code = [cell for cell in notebook_of(number, kind).cells if cell.cell_type == "code"]
    long = {cell.id: lines for cell in code if not hidden(cell) and (lines := code_lines(cell.source)) > MAX_CODE_LINES}
    assert not long, f"code cells of more than {MAX_CODE_LINES} lines"
    wide = {cell.id: line for cell in code for line in cell.source.splitlines() if len(line) > MAX_COLUMNS}
    assert not wide, f"code of more than {MAX_COLUMNS} columns"


@each_chapter
def test_hints_do_not_give_the_answer_away(number: str) -> None:
    given_away = []
    for answer in (cell for cell in chapter_of(number).cells if cell.role == "answer"):
        secret = secret_lines(answer.source(SOLUTION), answer.source(CHAPTER), answer.answer)
        for hint in chapter_of(number).cells:
            if hint.role == "hint" and hint.exercise == answer.exercise:
                text = normalised(hint.source(SOLUTION))
                given_away += [f"{hint.id}: {line}" for line in sorted(secret) if line in text]
    assert not given_away


def secret_lines(solved: str, blank: str, answer: tuple[str, ...]) -> set[str]:
    """The lines of a solution that a hint may not quote: of some length, not in docstring or stub."""
    docstrings = docstring_lines(solved)
    described = {normalised(line) for n, line in enumerate(solved.splitlines(), 1) if n in docstrings}
    shown = {normalised(line) for line in blank.splitlines()} | described
    return {line for line in map(normalised, answer) if len(line) >= 15} - shown


def normalised(text: str) -> str:
    return " ".join(text.split())


def test_secret_lines() -> None:
    solved = 'def f(x):\n    """Add one\n    to every entry."""\n    shifted =  x +  1.0\n    return y'
    blank = 'def f(x):\n    """Add one\n    to every entry."""\n    raise NotImplementedError'
    answer = ('    to every entry."""', "    shifted =  x +  1.0", "    return y")
    assert secret_lines(solved, blank, answer) == {"shifted = x + 1.0"}
