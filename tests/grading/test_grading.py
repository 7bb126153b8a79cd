"""A class is graded to the marks it deserves, and a killed run ends like an undisturbed one."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from classroom import (
    RIGHT,
    WRONG,
    cell,
    full,
    grade,
    misconception_cell,
    needs_sandbox,
    notebook,
    notebooks,
    other_notebook,
    put,
    replaced,
    solved,
    table,
    with_answer,
)

from course_checks import catalogue
from course_checks.engine import examine
from course_checks.exercise import FunctionExercise
from course_checks.lookup import find
from course_tools.grading.__main__ import main
from course_tools.grading.judging import off_limits, seeds_for
from course_tools.grading.marks import exercises_of
from course_tools.grading.run_folder import RunFolder
from course_tools.metadata import tag_of
from course_utils.paths import ROOT
from tests.answers import answers

ONLY = os.environ.get("COURSE_CHAPTERS")


def make_class(folder, students: int, chapters=("01", "03", "06")) -> dict[str, dict[str, float]]:
    """Students who are right, blank, half done, and wrong in a known way; returns the marks they deserve."""
    deserved: dict[str, dict[str, float]] = {}
    exercises = {e.id: e for e in catalogue()}
    rng = random.Random(0)
    for number in range(students):
        student = f"student {number:03d}"
        deserved[student] = {}
        for chapter in chapters:
            mine = [key for key in exercises if key.split(".")[0] == chapter]
            kind = ("right", "blank", "half", "wrong")[number % 4]
            blanks = notebooks("chapters", chapter)
            books = blanks if kind == "blank" else notebooks("solutions", chapter)
            for key in mine:
                deserved[student][key] = 0.0 if kind == "blank" else exercises[key].points
            if kind in ("half", "wrong"):
                cells = [c for book in blanks.values() for c in book["cells"]]
                stubs = {tag_of(c).exercise: c["source"] for c in cells if tag_of(c).role == "answer"}
                # the last exercises are nobody's helper: spoiling them changes no other mark
                for key in rng.sample(mine[-2:], 1):
                    source = stubs[key] if kind == "half" else "def {0}(*args, **kwargs):\n    return torch.zeros(1, 2, 3, 4, 5)\n"
                    if kind == "wrong" and not isinstance(exercises[key], FunctionExercise):
                        source = stubs[key]
                    source = source if isinstance(source, list) else source.format(exercises[key].name)
                    books = {name: replaced(book, key, source) for name, book in books.items()}
                    deserved[student][key] = 0.0
            for name, book in books.items():
                put(folder, student, book, name)
    return deserved


def assert_marks(rows, deserved) -> None:
    for student, marks in deserved.items():
        got = {key: float(rows[student][key] or 0) for key in marks}
        assert got == marks, (student, {k: (got[k], marks[k]) for k in marks if got[k] != marks[k]})


@needs_sandbox
@pytest.mark.parametrize("students", [20, pytest.param(200, marks=full)])
def test_a_class_gets_the_marks_it_deserves(tmp_path, students):
    deserved = make_class(tmp_path / "class", students)
    rows = grade(tmp_path / "class", tmp_path / "out")
    assert len(rows) == students
    assert_marks(rows, deserved)
    assert len(list((tmp_path / "out" / "feedback").iterdir())) == students
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "What to talk about tomorrow" in report
    before = (tmp_path / "out" / "gradebook.csv").read_bytes()
    assert main([str(tmp_path / "class"), "--out", str(tmp_path / "out"), "--quiet", "--resume"]) == 0
    assert (tmp_path / "out" / "gradebook.csv").read_bytes() == before
    assert len(list(RunFolder(tmp_path / "out", True).records())) == len(list((tmp_path / "class").rglob("*.ipynb")))  # none twice


@needs_sandbox
def test_every_solution_scores_full_marks_in_the_sandbox(tmp_path):
    """Two students hand in all chapters at once: the solved notebooks, and the blank ones."""
    for chapter in sorted({e.id.split(".")[0] for e in catalogue()}):
        for student, folder in (("author", "solutions"), ("nobody", "chapters")):
            for name, book in notebooks(folder, chapter).items():
                put(tmp_path / "class", student, book, name)
    rows = grade(tmp_path / "class", tmp_path / "out")
    assert {e.id: float(rows["author"][e.id]) for e in catalogue()} == {e.id: e.points for e in catalogue()}
    assert {e.id: float(rows["nobody"][e.id]) for e in catalogue()} == {e.id: 0 for e in catalogue()}


@needs_sandbox
@pytest.mark.parametrize(
    "chapter", [c if c in ("01", "06") else pytest.param(c, marks=full) for c in sorted({e.id.split(".")[0] for e in catalogue()})]
)
def test_every_misconception_and_every_other_right_answer(tmp_path, chapter):
    """Known mistakes are students, and so is each right answer written differently: marks and names as in a notebook.

    Every third mistake where all chapters are tested, every one where a chapter is asked for.
    """
    expected: dict[str, tuple[float, str, str | None]] = {}
    for exercise in exercises_of((chapter,)).values():
        judged = replace(exercise, forbidden=off_limits(exercise))
        for misconception in exercise.misconceptions[:: 1 if ONLY else 3]:
            result = examine(judged, misconception.answer, seeds_for(exercise, "fixed")[0])
            student = f"{exercise.id} misconception {len(expected):03d}"
            put(tmp_path / "class", student, notebook(cell(misconception_cell(exercise, misconception), exercise.id)))
            expected[student] = (result.points, result.stage, result.mistake)
            assert result.points < exercise.points
    for answer in answers(chapter):
        if answer.passes:
            student = f"{answer.exercise} right {len(expected):03d}"
            put(tmp_path / "class", student, other_notebook(answer))
            expected[student] = (find(answer.exercise).points, "passed", None)
    grade(tmp_path / "class", tmp_path / "out")
    found: dict[str, object] = {}
    for record in RunFolder(tmp_path / "out", True).records():
        mark = record.marks.get(record.submission.student.split()[0])
        found[record.submission.student] = (mark.points, mark.stage, mark.mistake) if mark else record.problem
    assert {k: (found[k], v) for k, v in expected.items() if found[k] != v} == {}


@needs_sandbox
def test_misconceptions_are_named_and_counted(tmp_path):
    for number in range(3):
        put(tmp_path / "class", f"wrong {number}", with_answer(WRONG))
    put(tmp_path / "class", "right", with_answer(RIGHT))
    grade(tmp_path / "class", tmp_path / "out")
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "normalised over the queries (3 of 4 who tried)" in report and "'said'>normalised over the queries (3)</div>" in report
    assert "feedback/right-" in report
    (page,) = (tmp_path / "out" / "feedback").glob("wrong-0*")
    assert "Normalised over the queries" in page.read_text(encoding="utf-8")


@needs_sandbox
def test_killed_at_any_moment_and_resumed(tmp_path):
    make_class(tmp_path / "class", 8)
    undisturbed = tmp_path / "undisturbed"
    grade(tmp_path / "class", undisturbed)
    out = tmp_path / "killed"
    command = [sys.executable, "-m", "course_tools.grading", str(tmp_path / "class"), "--out", str(out), "--quiet", "--seed", "fixed"]
    for wanted in (1, 9, 17):
        process = subprocess.Popen([*command, "--resume"], cwd=ROOT, start_new_session=True)
        until = time.monotonic() + 120
        while time.monotonic() < until and process.poll() is None:
            if (out / "grades.jsonl").exists() and len((out / "grades.jsonl").read_bytes().splitlines()) >= wanted:
                break
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if (out / "grades.jsonl").exists():  # a kill in the middle of a line
        with (out / "grades.jsonl").open("ab") as file:
            file.write(b'{"key": "half a li')
    assert main([str(tmp_path / "class"), "--out", str(out), "--quiet", "--resume"]) == 0
    assert (out / "gradebook.csv").read_bytes() == (undisturbed / "gradebook.csv").read_bytes()
    books = len(list((tmp_path / "class").rglob("*.ipynb")))
    assert len(list(RunFolder(out, True).records())) == len(list(RunFolder(undisturbed, True).records())) == books


@needs_sandbox
def test_only_what_changed_is_graded_again(tmp_path, capsys):
    put(tmp_path / "class", "ada", with_answer(WRONG))
    put(tmp_path / "class", "bob", with_answer(RIGHT))
    grade(tmp_path / "class", tmp_path / "out")
    put(tmp_path / "class", "ada", with_answer(RIGHT))
    capsys.readouterr()
    rows = grade(tmp_path / "class", tmp_path / "out", "--resume")
    assert "1 notebook graded, 1 unchanged" in capsys.readouterr().out
    assert rows["ada"]["01.1"] == rows["bob"]["01.1"] == "4"
    assert main([str(tmp_path / "class"), "--out", str(tmp_path / "out"), "--quiet"]) == 2
    assert "--resume" in capsys.readouterr().err


@needs_sandbox
def test_a_fault_that_follows_from_another_is_told_apart(tmp_path):
    """An answer is judged with the course's helper where the student's own is wrong; with ``helpers = "own"`` it shares its fault."""
    book = replaced(solved("01"), "01.1", "import torch\n" + WRONG)
    put(tmp_path / "class", "ada", book)
    stub = "def gaussian_weights(query, keys, bandwidth):\n    raise NotImplementedError"
    put(tmp_path / "class", "bob", replaced(solved("01"), "01.1", stub))
    rows = grade(tmp_path / "class", tmp_path / "out")
    assert [(row["01.1"], row["01.2"]) for row in rows.values()] == [("0", "3")] * 2
    record = next(record for record in RunFolder(tmp_path / "out", True).records() if record.submission.student == "ada")
    assert record.marks["01.2"].passed and "with the course's 01.1 in place of yours" in record.marks["01.2"].notes[0]
    assert "builds on a wrong answer" not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert all(
        "with the course's 01.1" in page.read_text("utf-8").replace("&#x27;", "'") for page in (tmp_path / "out").glob("feedback/*.html")
    )
    (tmp_path / "rules.toml").write_text('helpers = "own"\n')
    rows = grade(tmp_path / "class", tmp_path / "out", "--resume", "--settings", str(tmp_path / "rules.toml"))
    assert [(row["01.1"], row["01.2"]) for row in rows.values()] == [("0", "0")] * 2
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "01.1 Gaussian weights: normalised over the queries" in report and "01.2 Attention pooling:" not in report
    assert "<i>builds on a wrong answer (2)</i>" in report
    pages = "".join(page.read_text(encoding="utf-8") for page in (tmp_path / "out").glob("feedback/*.html"))
    assert pages.count("mend that one first") == 2 and "Your answer uses 01.1, which you left blank." in pages


@needs_sandbox
def test_late_and_weights_reach_the_table(tmp_path):
    put(tmp_path / "class", "late", with_answer(RIGHT))
    put(tmp_path / "class", "early", with_answer(RIGHT))
    os.utime(tmp_path / "class" / "late" / "01_kernel_regression.ipynb", (1e9, 1.9e9))
    os.utime(tmp_path / "class" / "early" / "01_kernel_regression.ipynb", (1e9, 1e9))
    late = "[late]\ndeadline = 2027-01-31T00:00:00+00:00\nper_day = 0.1\nmost = 0.5\n"
    (tmp_path / "rules.toml").write_text('[weights]\n"01" = 2\n' + late)
    rows = grade(tmp_path / "class", tmp_path / "out", "--settings", str(tmp_path / "rules.toml"))
    assert (rows["late"]["01.1"], rows["early"]["01.1"]) == ("4", "8")


@needs_sandbox
def test_what_could_not_be_read_is_still_said_when_resumed(tmp_path):
    put(tmp_path / "class", "ada", solved("01"))
    put(tmp_path / "class", "bob", b"no notebook at all")
    (tmp_path / "class" / "eve").mkdir()
    arguments = [str(tmp_path / "class"), "--out", str(tmp_path / "out"), "--quiet", "--seed", "fixed", "--only", "01"]
    assert main(arguments) == 1
    assert main([*arguments, "--resume"]) == 1
    rows = table(tmp_path / "out")
    assert set(rows) == {"ada", "bob", "eve"} and "not a notebook" in rows["bob"]["Problems"] and "empty folder" in rows["eve"]["Problems"]
