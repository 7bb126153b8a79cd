"""What instructors do on the day: typing errors, folders in use, exports of Canvas and Moodle; and what of the sandbox a class tests."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import zipfile
from pathlib import Path

import pytest
from classroom import RIGHT, WRONG, cell, notebook, with_answer

from course_checks.exercise import FunctionExercise
from course_tools.grading import jobs, notebook_grader
from course_tools.grading.__main__ import chapters, main
from course_tools.grading.bubblewrap import SETTINGS, command, why_not
from course_tools.grading.collect import collect
from course_tools.grading.gradebook import canvas, gradebook, moodle
from course_tools.grading.marks import Limits, exercises_of
from course_tools.grading.notebook_grader import grade_notebook
from course_tools.grading.package_copy import COURSE, copies_of_the_course
from course_tools.grading.run_folder import RunFolder
from course_tools.grading.sandbox import Sandbox, Unsandboxed
from course_tools.grading.settings import Settings, load_settings
from course_tools.grading.students import CountedMark, Student
from course_utils.paths import ROOT

needs_sandbox = pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")
ATTENTION = "def attention_scores(query, key):\n    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])\n"
FIRST, THIRD = "01_kernel_regression.ipynb", "03_self_attention.ipynb"


def put(folder, student: str, data: bytes, name: str = FIRST) -> None:
    (folder / student).mkdir(parents=True, exist_ok=True)
    (folder / student / name).write_bytes(data)


def read(path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))


def packed(path, names: dict[str, bytes]):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in names.items():
            archive.writestr(name, data)
    return path


# ---- typing errors and folders in use ------------------------------------------------------------------------


def test_chapters_as_people_type_them(tmp_path, capsys):
    assert chapters(["3", "08A", "01"]) == ("03", "08a", "01")
    assert chapters([]) == ()
    assert chapters(["7b", "3", "07B"]) == ("07b", "03")
    put(tmp_path / "class", "ada", with_answer(RIGHT))
    for word in ("99", "7", "03.1", "x"):
        assert main([str(tmp_path / "class"), "--out", str(tmp_path / "out"), "--quiet", "--only", word]) == 2
        assert f"no chapter {word} " in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_settings_of_the_wrong_form_are_refused(tmp_path):
    file = tmp_path / "rules.toml"
    for text, words in (
        ("late = 3", "tables"),
        ("weights = [1]", "tables"),
        ('[weights]\n"3" = 2', "'3'"),
        ('[weights]\n"03.99" = 2', "03.99"),
    ):
        file.write_text(text)
        with pytest.raises(ValueError, match=words):
            load_settings(file)


def test_a_folder_with_other_things_is_left_alone(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("course_tools.grading.run.why_not", lambda: "")  # nothing is graded, so no sandbox is needed
    put(tmp_path / "class", "ada", with_answer(RIGHT))
    (tmp_path / "mine" / "feedback").mkdir(parents=True)
    (tmp_path / "mine" / "feedback" / "letter.html").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for out in ("mine", "file"):
        for more in ([], ["--resume"]):
            assert main([str(tmp_path / "class"), "--out", str(tmp_path / out), "--quiet", *more]) == 2
            assert "name a new folder" in capsys.readouterr().err
    assert (tmp_path / "mine" / "feedback" / "letter.html").read_text() == "mine"
    assert main([str(tmp_path / "class"), "--out", str(tmp_path / "file" / "below"), "--quiet"]) == 2
    assert "Not a directory" in capsys.readouterr().err


def test_without_a_sandbox_nothing_is_left_behind(tmp_path, capsys, monkeypatch):
    """The same command goes through once bubblewrap is there: no folder of a run says that it already holds one."""
    put(tmp_path / "class", "ada", with_answer(RIGHT))
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert main([str(tmp_path / "class"), "--out", str(tmp_path / "out"), "--quiet"]) == 2
    said = capsys.readouterr().err
    assert "bubblewrap" in said and "--unsafe" in said and not (tmp_path / "out").exists()


@needs_sandbox
def test_only_and_resume_in_one_folder(tmp_path, capsys):
    """A run of fewer chapters must not hide the marks of the full run, nor the other way round."""
    put(tmp_path / "class", "ada", notebook(cell(RIGHT, "01.1")))
    put(tmp_path / "class", "ada", notebook(cell(ATTENTION, "03.1")), THIRD)
    command = [str(tmp_path / "class"), "--out", str(tmp_path / "out"), "--quiet", "--jobs", "1"]
    assert main([*command, "--seed", "fixed"]) == 0
    whole = (tmp_path / "out" / "gradebook.csv").read_bytes()
    assert main([*command, "--resume", "--only", "1"]) == 0
    assert list(read(tmp_path / "out" / "gradebook.csv")[0])[5:7] == ["01.1 (4)", "Total"]
    assert main([*command, "--resume"]) == 0
    assert (tmp_path / "out" / "gradebook.csv").read_bytes() == whole
    assert "2 unchanged" in capsys.readouterr().out
    assert main([*command, "--resume", "--seed", "other"]) == 2
    assert "--seed other" in capsys.readouterr().err


@needs_sandbox
def test_ctrl_c_says_how_to_go_on(tmp_path):
    for number in range(3):
        put(tmp_path / "class", f"student {number}", with_answer("import time\ntime.sleep(20)\n" + RIGHT))
    command = [sys.executable, "-m", "course_tools.grading", "class", "--out", "out", "--quiet", "--jobs", "1"]
    run = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    until = time.monotonic() + 60
    while not (tmp_path / "out" / "run.json").exists() and time.monotonic() < until:
        time.sleep(0.1)
    time.sleep(1)
    run.send_signal(signal.SIGINT)
    said = run.communicate(timeout=60)[1]
    assert run.returncode == 130, said
    assert "--resume" in said, said
    assert "Traceback" not in said, said


# ---- Canvas and Moodle ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "student", "identity", "label"),
    [
        ("doejane_12_34_" + FIRST, "doejane", "12", FIRST),
        ("doejane_LATE_12_34_" + FIRST, "doejane", "12", FIRST),
        ("anon_aB3dE_34_" + FIRST, "anon", "aB3dE", FIRST),
        ("LATE_anon_aB3dE_34_" + FIRST, "anon", "aB3dE", FIRST),
        ("Jürgen Groß_4711_assignsubmission_file/" + FIRST, "Jürgen Groß", "Participant 4711", FIRST),
        ("Jane Doe_4711_assignsubmission_file_/deep/er/" + FIRST, "Jane Doe", "Participant 4711", FIRST),
        ("Jane Doe_4711_assignsubmission_file_" + FIRST, "Jane Doe", "Participant 4711", FIRST),
        (
            "Eve_5_assignsubmission_file_Ada_4_assignsubmission_file_" + FIRST,
            "Eve",
            "Participant 5",
            "Ada_4_assignsubmission_file_" + FIRST,
        ),
    ],
)
def test_exports_of_systems(tmp_path, name, student, identity, label):
    """The names that Canvas and Moodle really give; the time in their zip files is that of the download."""
    (tmp_path / "in" / name).parent.mkdir(parents=True)
    (tmp_path / "in" / name).write_text("{}")
    for place in (tmp_path / "in", packed(tmp_path / "export.zip", {name: b"{}"})):
        (found,) = collect(place)
        assert (found.student, found.identity, found.label, found.handed_in, found.problem) == (student, identity, label, None, "")


def test_an_export_has_the_name_of_its_student(tmp_path):
    """Also where it was downloaded twice, and beside what the same student handed in otherwise."""
    for name in ("answers_Jane_Doe.zip", "answers_Jane_Doe (1).zip"):
        packed(tmp_path / name, {FIRST: b"{}"})
    put(tmp_path, "Jane Doe/", b"{}", FIRST)
    assert {found.student for found in collect(tmp_path)} == {"Jane Doe"}


def test_a_zip_file_belongs_to_who_handed_it_in(tmp_path):
    inside = packed(tmp_path / "work.zip", {"other_9_9_" + FIRST: b"{}"}).read_bytes()
    folder = "Jane Doe_4711_assignsubmission_file/"
    put(tmp_path / "class", folder, inside, "work.zip")
    (found,) = collect(tmp_path / "class")
    assert (found.student, found.identity) == ("Jane Doe", "Participant 4711")
    (found,) = collect(packed(tmp_path / "moodle.zip", {folder + "work.zip": inside}))
    assert (found.student, found.identity) == ("Jane Doe", "Participant 4711")
    assert "zip file inside" in found.problem


def test_flat_files_of_a_class_are_not_thrown_together(tmp_path):
    """Names that say no chapter: two students, not one with the better marks of both."""
    names = {"jane.ipynb": b"{}", "joe homework.ipynb": b"{}"}
    assert [s.student for s in collect(packed(tmp_path / "class.zip", names))] == ["jane", "joe homework"]


@needs_sandbox
def test_tables_that_canvas_and_moodle_import(tmp_path, capsys):
    both = {
        "doejane_LATE_12_34_" + FIRST: with_answer(RIGHT),
        "doejane_12_35_" + THIRD: notebook(cell(ATTENTION, "03.1")),
        "roejoe_13_36_" + FIRST: with_answer(WRONG),
        "Jane Doe_4711_assignsubmission_file/" + FIRST: with_answer(RIGHT),
    }
    (tmp_path / "rules.toml").write_text("[late]\ndeadline = 2001-01-01T00:00:00Z\nper_day = 0.1\n")
    command = [str(packed(tmp_path / "all.zip", both)), "--out", str(tmp_path / "out"), "--quiet"]
    assert main([*command, "--settings", str(tmp_path / "rules.toml")]) == 0
    assert "when 4 of the notebooks were handed in" in capsys.readouterr().out
    text = (tmp_path / "out" / "canvas.csv").read_bytes().decode("utf-8")
    assert as_canvas_reads(text, {12: "doejane", 13: "roejoe"}, {})[1] == {
        12: {"Attention 01": "4", "Attention 03": "3"},
        13: {"Attention 01": "0", "Attention 03": ""},
    }
    worksheet = (tmp_path / "out" / "moodle.csv").read_bytes().decode("utf-8")
    assert as_moodle_reads(worksheet, {4711}, 25) == {4711: 4.0}
    possible, jane, joe = read(tmp_path / "out" / "canvas.csv")
    assert list(jane)[:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert "Points Possible" in possible["Student"]
    assert float(possible["Attention 01"]) == sum(e.points for e in exercises_of(("01",)).values())
    assert (jane["ID"], jane["Attention 01"], joe["Attention 01"], joe["Attention 03"]) == ("12", "4", "0", "")
    (row,) = read(tmp_path / "out" / "moodle.csv")
    assert (row["Identifier"], row["Full name"], row["Grade"]) == ("Participant 4711", "Jane Doe", "4")
    (page,) = (tmp_path / "out" / "feedback").glob("roejoe*")
    assert "<b>0</b> of 4 points" in page.read_text(encoding="utf-8")


def as_canvas_reads(text: str, students: dict[int, str], assignments: dict[str, int]):
    """Canvas's import by its rules: which columns come before the assignments, how a separator is guessed, which rows are no student's.

    Returns points possible by assignment, and grades by student; ValueError where Canvas says "Invalid header row".
    """
    first = text.split("\r\n")[:3]
    sizes = {mark: {len(next(csv.reader([line], delimiter=mark))) for line in first if line} for mark in ";,"}
    fields = {mark: size.pop() if len(size) == 1 else 0 for mark, size in sizes.items()}
    header, *others = csv.reader(io.StringIO(text, newline=""), delimiter=";" if fields[";"] > fields[","] else ",")
    if len(header) < 4 or "Student" not in header[0] or "ID" not in header[1]:
        raise ValueError("Invalid header row")
    before = 3 + (2 if "SIS User ID" in header[2] and "SIS Login ID" in header[3] else 0)
    if "Section" not in header[before - 1]:
        raise ValueError("Invalid header row")
    columns = {name: index for index, name in enumerate(header) if index >= before}
    possible, grades = {}, {}
    for row in others:
        if "Points Possible" in row[0]:
            possible = {name: row[index] for name, index in columns.items()}
            continue
        who = int(row[1]) if row[1].isdigit() and int(row[1]) in students else next((i for i, n in students.items() if n == row[0]), None)
        assert who is not None, f"Canvas would make a new student of {row}"
        grades[who] = {name: row[index].strip() for name, index in columns.items()}
    assert all(not re.search(r"\(\d+\)$", name) or name in assignments for name in columns)  # "(4)" would be taken for an assignment's id
    return possible, grades


def as_moodle_reads(text: str, participants: set[int], most: float) -> dict[int, float]:
    """Moodle's import of a grading worksheet by its rules: three columns it must find, which rows and grades it passes over."""
    header, *others = csv.reader(io.StringIO(text, newline=""))
    at = {name: header.index(name) for name in ("Identifier", "Grade", "Last modified (grade)")}
    grades = {}
    for row in others:
        assert len(row) == len(header)
        number = int(row[at["Identifier"]][len("Participant ") :])
        if number in participants and row[at["Grade"]] != "" and 0 <= float(row[at["Grade"]]) <= most:
            grades[number] = float(row[at["Grade"]])
    return grades


ODD_NAMES = [
    "Groß, Jürgen",
    'Ann "Nan" O\'Hara',
    "=1+1",
    "+49 30",
    "-5",
    "@sum",
    "x;=1+1",
    "a; +1",
    "＝1+1",
    "Points Possible",
    "Øre|=2",
    "李 雷",
]


def student(number: int, name: str, identity: str, points: float | None) -> Student:
    marks = {} if points is None else {"03.1": CountedMark("03.1", points, 4.0, "values", None, "", "", counts=points)}
    return Student(name, identity, marks, [] if marks else ["work.pdf: is no notebook"])


def test_odd_names_and_empty_grades_survive_both_imports():
    """Whatever a student is called, each finds the own grade; nothing handed in is empty and not 0; no cell begins a formula."""
    points = [None if n == 3 else float(n % 5) for n in range(len(ODD_NAMES))]
    most = sum(e.points for e in exercises_of(("03",)).values())
    in_canvas = [student(n, name, str(100 + n), points[n]) for n, name in enumerate(ODD_NAMES)]
    in_moodle = [student(n, name, f"Participant {n}", points[n]) for n, name in enumerate(ODD_NAMES)]
    text = canvas(in_canvas, Settings())
    possible, grades = as_canvas_reads(text, {100 + n: "" for n in range(len(ODD_NAMES))}, {})
    assert possible == {"Attention 03": f"{most:g}"}
    assert grades == {100 + n: {"Attention 03": "" if p is None else f"{p:g}"} for n, p in enumerate(points)}
    worksheet = moodle(in_moodle, Settings())
    assert as_moodle_reads(worksheet, set(range(len(ODD_NAMES))), most) == {n: p for n, p in enumerate(points) if p is not None}
    for table in (text, worksheet, gradebook(in_canvas, Settings())):
        assert table.encode("utf-8").decode("utf-8") == table and "李 雷" in table
        for separator in ",;|\t":
            cells = [cell for row in csv.reader(io.StringIO(table, newline=""), delimiter=separator) for cell in row]
            assert not [cell for cell in cells if re.match(r'[ "]*([=+@＝＋＠]|[-－][^,])', cell)], separator


def test_the_imports_refuse_what_their_systems_refuse():
    """The two readers above are no rubber stamps."""
    with pytest.raises(ValueError):
        as_canvas_reads("Name,Number,SIS User ID,SIS Login ID,Section,Attention 03\r\n", {}, {})
    with pytest.raises(ValueError):
        as_canvas_reads("Student,ID,SIS User ID,SIS Login ID,Attention 03\r\n", {}, {})
    with pytest.raises(AssertionError):
        as_canvas_reads("Student,ID,SIS User ID,SIS Login ID,Section,03.1 (4)\r\n", {}, {})
    with pytest.raises(ValueError):
        as_moodle_reads("Identifier,Full name,Points\r\n", set(), 1)


# ---- the sandbox -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def box():
    with Sandbox(memory=2**30) as sandbox:
        yield sandbox


def mark_of(sandbox, source: str, **limits):
    """The mark of one answer to 01.1."""
    graded = grade_notebook(sandbox, with_answer(source), exercises_of(("01",)), "secret", Limits(**{"timeout": 6.0, **limits}))
    assert not graded.problem
    return graded.marks["01.1"]


KEYS = """
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
add, request, control = (248, 249, 250) if platform.machine() == "x86_64" else (217, 218, 219)
got = [libc.syscall(control, 0, ring, 1) for ring in (-2, -3, -4, -5)] + [libc.syscall(control, 1, None)]
got += [libc.syscall(add, b"user", b"course", b"note", 4, ring) for ring in (-2, -3, -4, -5)]
got += [libc.syscall(request, b"user", b"course", None, 0)]
assert all(n == -1 for n in got), f"keys {got}"
raise LookupError("no keys")
"""


@needs_sandbox
def test_no_keyring_is_within_reach(box):
    """Neither the instructor's nor one in which a submission could leave a note for the next."""
    for _ in range(2):
        mark = mark_of(box, KEYS)
        assert mark.points == 0, mark.message
        assert "no keys" in mark.message, mark.message


SEARCH = """
import os, sys
found = []
for top in {tops!r}:
    for place, folders, files in os.walk(top):
        found += [os.path.join(place, f) for f in files if {secret!r} in open(os.path.join(place, f), "rb").read().decode("latin-1")]
sys.path[:0] = {tops!r}
import importlib
for name in ("course_checks.exercises.ch01", "course_checks.exercises.ch03.order", "course_checks.judge", "course_checks.lookup",
             "course_checks.misconceptions", "course_tools.grading.judging", "course_tools.authoring.build"):
    try:
        importlib.import_module(name)
        found.append(name)
    except ImportError:
        pass
assert not found, found
raise LookupError("searched " + str([os.path.exists(top) for top in {tops!r}]))
"""


@needs_sandbox
@pytest.mark.parametrize("kind", ["in site-packages", "editable", "a second copy"])
def test_oracles_of_an_installed_package_are_not_inside(tmp_path, kind):
    """The interpreter's libraries are bound into the sandbox; the course among them, or a second copy of it, is not."""
    site = tmp_path / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    place = tmp_path / "elsewhere" if kind == "editable" else site
    graded_from = ROOT if kind == "a second copy" else place
    for package in COURSE:
        shutil.copytree(ROOT / package, place / package, ignore=shutil.ignore_patterns("__pycache__"))
    site.mkdir(parents=True, exist_ok=True)
    secrets = ("course_checks/judge.py", "course_tools/grading/judging.py")
    for path in (*place.glob("course_checks/exercises/ch01/*.*"), *(place / secret for secret in secrets)):
        path.write_text(path.read_text(encoding="utf-8") + "\n# the oracle of 01\n", encoding="utf-8")
    source = SEARCH.format(tops=[str(site), str(place)], secret="the oracle of 01")
    put(tmp_path / "class", "ada", with_answer(source))
    starter = (
        f"import sys, sysconfig\nsys.path.insert(0, {str(graded_from)!r})\nreal = sysconfig.get_path\n"
        f"sysconfig.get_path = lambda name, *more: {str(site)!r} if name == 'platlib' else real(name, *more)\n"
        "from course_tools.grading.__main__ import main\nsys.exit(main(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", starter, "class", "--out", "out", "--quiet", "--jobs", "1"]
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, env=env)
    assert done.returncode == 0, done.stderr
    (record,) = RunFolder(tmp_path / "out", True).records()
    message = record.marks["01.1"].message
    assert f"searched [True, {place == site}]" in message, message


def test_the_packages_are_hidden_wherever_python_looks(tmp_path, monkeypatch):
    """Root may find them in a folder for libraries, in one on sys.path, and where we run from."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    hidden = copies_of_the_course()
    for place in (ROOT, tmp_path, Path(sysconfig.get_path("purelib")).resolve()):
        for package in COURSE:
            assert place / package in hidden


@needs_sandbox
def test_a_copy_in_a_bound_folder_is_covered(tmp_path, monkeypatch):
    """bubblewrap lays an empty folder over each copy that lies inside what it binds."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    for package in COURSE:
        (tmp_path / package).mkdir()
    line = command(tmp_path)
    covered = {line[i + 1] for i, word in enumerate(line) if word == "--tmpfs"}
    assert {str(tmp_path / package) for package in COURSE} <= covered


@pytest.mark.parametrize("module", ["course_utils.models.kernels", "course_checks.observe", "course_tools.grading.cells"])
def test_the_courses_own_code_is_no_answer(module):
    import importlib

    from course_tools.grading.worker import is_ours

    found = importlib.import_module(module)
    ours = [value for value in vars(found).values() if getattr(value, "__module__", "") == module and callable(value)]
    assert ours
    assert all(map(is_ours, ours))
    disguised = next(value for value in ours if hasattr(value, "__code__") and not value.__code__.co_freevars)
    assert is_ours(type(disguised)(disguised.__code__, {"__name__": "__main__"}))  # the same code under another name


@pytest.mark.parametrize(
    "file",
    [
        "course_checks/judge.py",
        "course_checks/exercises/ch03/order.py",
        "course_checks/exercises/ch03/order.md",
        "course_checks/exercises/common.py",
        "course_tools/grading/judging.py",
        "course_tools/grading/worker.py",
        "course_tools/metadata.py",
    ],
)
def test_resume_notices_every_change_that_could_change_a_mark(tmp_path, monkeypatch, file):
    for package in ("course_checks", "course_tools"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(jobs, "JUDGED", tuple(tmp_path / item.relative_to(ROOT) for item in jobs.JUDGED))
    before = jobs.fingerprint_of_exercises(())
    assert before == jobs.fingerprint_of_exercises(())
    with (tmp_path / file).open("a", encoding="utf-8") as opened:
        opened.write("# a comma\n")
    assert jobs.fingerprint_of_exercises(()) != before


FLOODS = {
    "a cell": "for _ in range(40):\n    print('x' * 2**22)\n" + WRONG,
    "a cell, by the system": "import os\nfor _ in range(40):\n    os.write(1, b'x' * 2**22)\n    os.write(2, b'x' * 2**22)\n" + WRONG,
    "the answer": WRONG.replace("    return", "    for _ in range(20):\n        print('x' * 2**20)\n    return"),
    "an error of the answer": "def gaussian_weights(query, keys, bandwidth):\n    raise ValueError('x' * 10**8)\n",
    "an error of a cell": "raise ValueError('x' * 10**8)\n",
    "the name of an error": "def gaussian_weights(query, keys, bandwidth):\n    raise type('x' * 10**7, (ValueError,), {})('y')\n",
    "a long line": "def gaussian_weights(query, keys, bandwidth): raise ValueError(" + "'x' " * 100_000 + ")\n",
    "the name of a result": "def gaussian_weights(query, keys, bandwidth): return type('x' * 10**7, (), {})()\n",
    "many lines for ever": "def gaussian_weights(query, keys, bandwidth):\n    while True:\n        print('x' * 1000)\n",
}


@needs_sandbox
@pytest.mark.parametrize("kind", FLOODS)
def test_a_flood_of_text_stays_small(box, kind):
    mark = mark_of(box, FLOODS[kind])
    assert mark.points == 0, mark.message[:300]
    assert mark.mistake not in ("judge stumbled", "tampering"), mark.message[:300]
    assert len(json.dumps(vars(mark))) < 20_000


@needs_sandbox
def test_a_notebook_has_a_budget_of_time(box, monkeypatch):
    """Exercises that use it up cost those that follow, not the class; each of them is told why."""
    names = {e.id: e.name for e in exercises_of(("01",)).values() if isinstance(e, FunctionExercise)}
    lazy = notebook(*(cell(f"def {name}(*a, **k): return 0\n", key) for key, name in names.items()))
    times = itertools.count(start=0.0, step=15.0)  # every look at the clock comes 15 s after the last one
    monkeypatch.setattr(notebook_grader, "clock", lambda: next(times))
    graded = grade_notebook(box, lazy, exercises_of(("01",)), "secret", Limits(timeout=20.0, notebook=30.0))
    tried = [graded.marks[key].mistake != "time used up" for key in names]
    assert tried == [True, True] + [False] * (len(names) - 2)
    assert "30 s that a notebook has" in graded.marks[list(names)[-1]].message


# ---- without a sandbox -----------------------------------------------------------------------------------------

LOOK = """
import os
raise LookupError(" ".join(sorted(os.environ)))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the worker forks")
def test_the_environment_stays_at_home_without_a_sandbox(monkeypatch):
    """``--unsafe`` hands on what Python needs, and none of the instructor's passwords and tokens."""
    secrets = {"CANVAS_TOKEN": "secret", "AWS_SECRET_ACCESS_KEY": "secret", "SSH_AUTH_SOCK": "/nowhere", "PYTHONSTARTUP": "/nowhere"}
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    with Unsandboxed() as unsafe:
        seen = mark_of(unsafe, LOOK).message.split("LookupError: ")[1].split(" at the line")[0].split()
        assert mark_of(unsafe, RIGHT).points == 4
    assert {"HOME", "PATH", "LANG"} <= set(seen) and not set(secrets) & set(seen)
    made_by_python = {"LC_CTYPE", "KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK"}
    assert set(seen) <= {"HOME", "PATH", "PYTHONPATH", "COURSE_UNSAFE_GRADING", *SETTINGS, *made_by_python}, seen
