"""A class is graded to the marks it deserves, however it was handed in, and a killed run ends like an undisturbed one."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from classroom import RIGHT, WRONG, blank, cell, misconception_cell, notebook, other_notebook, replaced, solved, with_answer

from course_checks import catalogue
from course_checks.case import Registered
from course_checks.engine import examine
from course_checks.exercise import FunctionExercise
from course_checks.lookup import find
from course_tools.grading import wire
from course_tools.grading.__main__ import main
from course_tools.grading.bubblewrap import why_not
from course_tools.grading.cell_names import plain_python
from course_tools.grading.cells import Unreadable, read_notebook
from course_tools.grading.cells import find as find_in
from course_tools.grading.collect import collect
from course_tools.grading.gradebook import cell as csv_cell
from course_tools.grading.judging import off_limits, seeds_for
from course_tools.grading.marks import exercises_of
from course_tools.grading.package_copy import copy_package
from course_tools.grading.run_folder import RunFolder
from course_tools.grading.settings import Settings, load_settings
from course_tools.metadata import tag_of
from course_utils.paths import ROOT
from tests.answers import answers

needs_sandbox = pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")
ONLY = os.environ.get("COURSE_CHAPTERS")
full = pytest.mark.skipif(os.environ.get("COURSE_FULL") != "1", reason="runs in `python course.py test --full`")


def grade(folder, out, *more) -> dict[str, dict[str, str]]:
    """Rows of the gradebook by student."""
    assert main([str(folder), "--out", str(out), "--quiet", "--seed", "fixed", *more]) in (0, 1)
    return table(out)


def table(out) -> dict[str, dict[str, str]]:
    text = (out / "gradebook.csv").read_text(encoding="utf-8-sig")
    return {row["Student"]: {key.split(" (")[0]: value for key, value in row.items()} for row in csv.DictReader(io.StringIO(text))}


def put(folder, student: str, book, name: str = "01_kernel_regression.ipynb") -> None:
    (folder / student).mkdir(parents=True, exist_ok=True)
    (folder / student / name).write_bytes(book if isinstance(book, bytes) else json.dumps(book).encode())


# ---- the class ---------------------------------------------------------------------------------------------


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
            book = blank(chapter) if kind == "blank" else solved(chapter)
            for key in mine:
                deserved[student][key] = 0.0 if kind == "blank" else exercises[key].points
            if kind in ("half", "wrong"):
                stubs = {tag_of(c).exercise: c["source"] for c in blank(chapter)["cells"] if tag_of(c).role == "answer"}
                # the last exercises are nobody's helper: spoiling them changes no other mark
                for key in rng.sample(mine[-2:], 1):
                    source = stubs[key] if kind == "half" else "def {0}(*args, **kwargs):\n    return torch.zeros(1, 2, 3, 4, 5)\n"
                    if kind == "wrong" and not isinstance(exercises[key], FunctionExercise):
                        source = stubs[key]
                    book = replaced(book, key, source if isinstance(source, list) else source.format(exercises[key].name))
                    deserved[student][key] = 0.0
            put(folder, student, book, f"{chapter}_chapter.ipynb")
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
    assert len(list(RunFolder(tmp_path / "out", True).records())) == 3 * students  # nothing was graded twice


@needs_sandbox
def test_every_solution_scores_full_marks_in_the_sandbox(tmp_path):
    """Two students hand in all chapters at once: the solved notebooks, and the blank ones."""
    for chapter in sorted({e.id.split(".")[0] for e in catalogue()}):
        put(tmp_path / "class", "author", solved(chapter), f"{chapter}.ipynb")
        put(tmp_path / "class", "nobody", blank(chapter), f"{chapter}.ipynb")
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
    assert len(list(RunFolder(out, True).records())) == 24


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


def test_sandbox_copies_no_answers(tmp_path):
    """What a submission may import holds functions that cases hand over, and no exercise, oracle or reference."""
    copy_package(tmp_path)
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.py")}
    assert {"course_tools/grading/worker.py", "course_checks/observe.py"} <= files
    hidden = (
        "course_tools/authoring",
        "course_tools/grading/judging",
        "course_tools/grading/marks",
        "course_tools/grading/run",
        "course_utils/launcher",
        "course_checks/engine",
        "course_checks/exercise.py",
        "course_checks/judge",
        "course_checks/misconceptions",
    )
    assert not [name for name in files if name.startswith(hidden)] and not list(tmp_path.rglob("*.md"))
    assert {Path(name).name for name in files if name.startswith("course_checks/exercises")} == {"__init__.py", "callables.py"}
    text = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "course_checks").rglob("*.py"))
    assert "Misconception(" not in text
    assert "EXERCISE" not in text
    handed = [value for e in catalogue() for case in e.cases((1, 2)) for value in _inside(case.args)]
    for name in {value.name for value in handed if isinstance(value, Registered)}:
        assert name in text or name.startswith("language_"), f"move {name} into the callables.py of its chapter"


def test_what_is_copied_can_be_imported(tmp_path):
    """The copied modules import nothing of the course that stays outside."""
    copy_package(tmp_path)
    found = [path.relative_to(tmp_path).with_suffix("") for path in tmp_path.rglob("*.py") if path.name != "forkserver.py"]
    names = sorted(".".join(path.parts).removesuffix(".__init__") for path in found if path.parts[0] != "course_utils")
    command = [sys.executable, "-c", f"import importlib\nfor name in {names}:\n    importlib.import_module(name)"]
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def _inside(value):
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _inside(item)]
    return [leaf for item in value for leaf in _inside(item)] if isinstance(value, (list, tuple)) else [value]


@needs_sandbox
def test_a_fault_that_follows_from_another_is_told_apart(tmp_path):
    book = replaced(solved("01"), "01.1", "import torch\n" + WRONG)
    put(tmp_path / "class", "ada", book)
    grade(tmp_path / "class", tmp_path / "out")
    (record,) = RunFolder(tmp_path / "out", True).records()
    assert record.marks["01.2"].follows == "01.1"
    assert "mend that one first" in record.marks["01.2"].notes[0]
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "01.1 Gaussian weights: normalised over the queries" in report and "01.2 Attention pooling:" not in report
    assert "<i>builds on a wrong answer (1)</i>" in report


# ---- notebooks that are not as they were handed out ----------------------------------------------------------


@needs_sandbox
def test_helpers_imports_magics_and_failing_stories(tmp_path):
    helped = notebook(
        cell("%matplotlib inline\n!pip install nothing\nimport numpy as np"),
        cell("raise RuntimeError('a story that fails')"),
        cell("def squares(a, b):\n    return (a[:, None] - b) ** 2"),
        cell("unused = train_for_hours()"),
        cell(RIGHT.replace("(query[:, None] - keys) ** 2", "squares(query, keys)"), "01.1"),
    )
    below = notebook(
        cell(RIGHT.replace("(query[:, None] - keys) ** 2", "squares(query, keys)"), "01.1"),
        cell("def squares(a, b):\n    return (a[:, None] - b) ** 2"),
    )
    loud = RIGHT.replace("    return", "    warnings.warn('w'); print('x', file=sys.stderr)\n    return")
    noisy = notebook(cell("import sys, warnings\n" + loud, "01.1"))
    lost = notebook(cell(RIGHT))
    twice = notebook(cell(WRONG, "01.1"), cell(RIGHT, "01.1"))
    moved = notebook(cell("def gaussian_weights(query, keys, bandwidth):\n    raise NotImplementedError", "01.1"), cell(RIGHT))
    renamed = notebook(
        cell(RIGHT.replace("gaussian_weights", "my_weights"), "01.1"), cell('result = check("01.1", my_weights)', "01.1", "check")
    )
    broken = notebook(cell("def gaussian_weights(query keys):\n    return", "01.1"))
    for name, book in {
        "helped": helped,
        "below": below,
        "noisy": noisy,
        "lost": lost,
        "twice": twice,
        "moved": moved,
        "renamed": renamed,
        "broken": broken,
    }.items():
        put(tmp_path / "class", name, book)
    rows = grade(tmp_path / "class", tmp_path / "out")
    assert {name: row["01.1"] for name, row in rows.items()} == dict.fromkeys(rows, "4") | {"broken": "0"}
    notes = {record.submission.student: " ".join(record.marks["01.1"].notes) for record in RunFolder(tmp_path / "out", True).records()}
    assert "metadata was lost" in notes["lost"]
    assert "the last one counts" in notes["twice"]
    assert "its own cell is blank" in notes["moved"]
    assert notes["helped"] == notes["noisy"] == ""


def test_cells_and_what_they_need():
    cells = read_notebook(
        notebook(cell("a = 1"), cell("def f(x):\n    return x + a"), cell("x = 2"), cell("def g(x):\n    a = x\n    return f(a)", "01.1"))
    )
    found = find_in(cells, {"01.1": "g"})
    assert found["01.1"].needs == [1, 2, 4]
    assert plain_python("%%bash\nls") == "# %%bash\n# ls"
    assert plain_python("x = 1\n%time f()\n%cd x") == "x = 1\nf()\nget_ipython().run_line_magic('cd', 'x')"
    assert plain_python("ok = (\n    a\n    != 0\n)") == "ok = (\n    a\n    != 0\n)"
    with pytest.raises(Unreadable):
        read_notebook(b"{}")


@pytest.mark.parametrize(
    ("place", "student", "label"),
    [
        ("ada/01_kernel_regression.ipynb", "ada", "01_kernel_regression.ipynb"),
        ("ada lovelace_01_kernel_regression.ipynb", "ada lovelace", "01_kernel_regression.ipynb"),
        ("lovelaceada_LATE_12345_678_01_kernel_regression.ipynb", "lovelaceada", "01_kernel_regression.ipynb"),
        ("lovelaceada_12345_678_01_kernel_regression-2.ipynb", "lovelaceada", "01_kernel_regression-2.ipynb"),
        ("Ada Lovelace_4711_assignsubmission_file_/01_kernel_regression.ipynb", "Ada Lovelace", "01_kernel_regression.ipynb"),
        ("submitted/ada/01_kernel/01_kernel_regression.ipynb", "ada", "01_kernel_regression.ipynb"),
    ],
)
@pytest.mark.parametrize("zipped", [False, True])
def test_every_way_of_handing_in(tmp_path, place, student, label, zipped):
    folder = tmp_path / "in"
    if zipped and not place.startswith("submitted"):
        folder.mkdir()
        with zipfile.ZipFile(folder / "all.zip", "w") as archive:
            archive.writestr(place, "{}")
    else:
        (folder / place).parent.mkdir(parents=True)
        (folder / place).write_text("{}")
    (found,) = collect(folder)
    assert (found.student, found.label, found.problem) == (student, label, "")


def test_nothing_to_grade_is_said(tmp_path, capsys):
    assert main([str(tmp_path / "none"), "--out", str(tmp_path / "out")]) == 2
    assert "neither a folder nor a zip file" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main([str(tmp_path / "empty"), "--out", str(tmp_path / "out")]) == 2
    assert "no notebook" in capsys.readouterr().err


# ---- rules and tables ----------------------------------------------------------------------------------------


def test_settings(tmp_path):
    file = tmp_path / "rules.toml"
    late = "[late]\ndeadline = 2027-01-31T00:00:00+00:00\nper_day = 0.1\nmost = 0.25\n"
    file.write_text('partial = false\n[weights]\n"03" = 2\n"03.2" = 0.5\n' + late)
    rules = load_settings(file)
    assert rules.weight("03.1") == 2
    assert rules.weight("03.2") == 0.5
    assert rules.weight("04.1") == 1
    assert rules.points("03.1", 3, 4) == 0
    assert rules.points("03.1", 4, 4) == 8
    assert Settings().points("03.1", 3, 4) == 3
    deadline = rules.deadline
    kept = [rules.kept(t) for t in (None, deadline, deadline + 1, deadline + 86401, deadline + 10**7)]
    assert kept == pytest.approx([1, 1, 0.9, 0.8, 0.75])
    for text, words in (
        ("partial = 3", "true or false"),
        ("x = 1", "unknown setting 'x'"),
        ("[late]\nper_day = 2", "deadline"),
        ('[weights]\n"03" = -1', "03 = -1"),
        ("a =", "rules.toml"),
    ):
        file.write_text(text)
        with pytest.raises(ValueError, match=words):
            load_settings(file)


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


def test_formulas_do_not_reach_a_spreadsheet():
    assert [csv_cell(text) for text in ("=1+1", "+1", "-1", "@x", "\tx", "x=1", 3)] == ["'=1+1", "'+1", "'-1", "'@x", "'\tx", "x=1", 3]
    assert csv_cell("x;=1+1") == "x;'=1+1"  # where a spreadsheet's cells end at a semicolon


# ---- the protocol --------------------------------------------------------------------------------------------


def test_frames_carry_what_they_are_given():
    strided = torch.randn(4, 6).T
    value = {
        "a": [1, 2.5, None, True, "ü", b"\x00\xff", (1, 2)],
        "t": strided,
        "r": Registered("f"),
        3: torch.zeros(0, 2),
        "h": torch.randn(3).bfloat16(),
        "b": torch.tensor([True, False]),
        "e": torch.randn(2, 1).expand(2, 3),
        "inf": float("inf"),
    }
    back = wire.read(io.BytesIO(wire.pack(value)).read)
    assert back["a"] == value["a"]
    assert back["r"] == value["r"]
    assert back["inf"] == float("inf")
    for key in ("t", 3, "h", "b", "e"):
        assert torch.equal(back[key], value[key])
        assert back[key].dtype == value[key].dtype
    assert back["t"].stride() == strided.stride()


def test_hostile_frames_are_refused():
    good = wire.pack({"x": torch.ones(2)})
    rng = random.Random(0)
    for _ in range(500):
        bad = bytearray(good)
        for _ in range(rng.randint(1, 6)):
            bad[rng.randrange(12, len(bad))] = rng.randrange(256)
        try:
            wire.read(io.BytesIO(bytes(bad)).read)
        except wire.ProtocolError:
            pass
    for head in (
        b'{"t": ["float32", [1000000, 1000000], [1, 1], 0]}',
        b'{"t": ["float32", [2], [99999999999], 0]}',
        b'{"t": ["object", [], [], 0]}',
        b'{"d": [[[], 1]]}',
        b'{"l": ' * 20 + b"1" + b"}" * 20,
        b"[" * 100_000,
        b'{"x": 1}',
        b'{"t": ["float32", [-1], [1], 0]}',
    ):
        with pytest.raises(wire.ProtocolError):
            wire.unpack(head, b"")
    with pytest.raises(wire.ProtocolError, match="too large"):
        wire.read(io.BytesIO(wire.PREFIX.pack(2**31, 2**40)).read)


# ---- a submission speaks for its owner alone, and nobody disappears -------------------------------------------


def zipped(path: Path, **members: str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(zipfile.ZipInfo(name, (1999, 1, 1, 0, 0, 0)), text)


def test_an_archive_names_nobody_but_its_owner(tmp_path):
    folder = tmp_path / "in"
    put(folder, "amy", b"{}")
    members = (
        "doejane_12345_678_03_self_attention.ipynb",
        "bob/bad.ipynb",
        "ghost_06_masking.ipynb",
        "Jane Doe_4711_assignsubmission_file/03_self_attention.ipynb",
        "01_kernel_regression.ipynb",
    )
    zipped(folder / "mallory.zip", **dict.fromkeys(members, "{}"))
    found = collect(folder)
    assert {s.student for s in found} == {"amy", "mallory"} and not any(s.identity for s in found)
    mine = [s for s in found if s.student == "mallory"]
    assert sorted(bool(s.problem) for s in mine) == [False] * 3 + [True] * 2
    assert all("not believed" in s.problem for s in mine if s.problem)
    now = time.time()
    assert all(s.handed_in is None or now - s.handed_in < 3600 for s in mine), "a date inside a student's archive is not believed"


def test_names_are_parsed_in_linear_time(tmp_path):
    folder = tmp_path / "in"
    put(folder, "amy", b"{}")
    zipped(folder / "mallory.zip", **{"x_00__00_" * 6000 + "!.ipynb": "{}"})
    started = time.process_time()
    (problem,) = (s.problem for s in collect(folder) if s.student == "mallory")
    assert "characters" in problem and time.process_time() - started < 1


def test_everybody_gets_a_line(tmp_path):
    folder = tmp_path / "in"
    put(folder, "amy", b"{}")
    put(folder, "amy", b"notes", "notes.md")
    for name in ("text.ipynb.txt", "page.html", "data.json", "pack.rar", "pack.7z", "pack.tar.gz", "scan.pdf"):
        put(folder, name.split(".")[0] + name.split(".")[1], b"x", name)
    put(folder, ".hidden", b"{}")
    (folder / "empty").mkdir()
    put(folder, "big", b" " * (33 * 2**20))
    zipped(folder / "nothing.zip", **{"notes.txt": "x"})
    found = {s.student: s.problem for s in collect(folder)}
    assert found.pop("amy") == ""
    assert set(found) == {
        "textipynb",
        "pagehtml",
        "datajson",
        "packrar",
        "pack7z",
        "packtar",
        "scanpdf",
        ".hidden",
        "empty",
        "big",
        "nothing",
    }
    assert all(found.values()) and "clear the outputs" in found["big"] and "without a notebook" in found["nothing"]


def test_one_student_cannot_hand_in_a_library(tmp_path):
    folder = tmp_path / "in"
    put(folder, "amy", b"{}")
    zipped(folder / "mallory.zip", **{f"{i:04d}.ipynb": "{}" for i in range(300)})
    mine = [s for s in collect(folder) if s.student == "mallory"]
    assert len(mine) == 61 and [bool(s.problem) for s in mine] == [False] * 60 + [True]


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


@pytest.mark.parametrize("chapter", ["03", "06", "13a"])
def test_without_metadata_a_notebook_counts_for_its_own_chapter(chapter):
    """Cells of the course define names that other chapters ask for: ``train`` in 03 and 06 is no answer to 00b.5."""
    book = json.loads(next((ROOT / "solutions").glob(f"{chapter}_*.ipynb")).read_text(encoding="utf-8"))
    for item in book["cells"]:
        item["metadata"] = {}
    book["metadata"] = {}
    found = find_in(read_notebook(json.dumps(book).encode()), {e.id: e.name for e in catalogue()})
    assert set(found) == {e.id for e in catalogue() if e.id.split(".")[0] == chapter}
