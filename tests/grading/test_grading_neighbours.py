"""The grader's neighbours: nbgrader gives the same assignment its marks, and a Dask cluster grades like one machine."""

from __future__ import annotations

import builtins
import csv
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter

import pytest
from classroom import ENVIRONMENT, RIGHT, WRONG, blank, cell, full, needs_sandbox, notebook, replaced, solved, with_answer

from course_checks import catalogue
from course_tools.grading import engines
from course_tools.grading.__main__ import main
from course_tools.grading.bubblewrap import why_not
from course_tools.grading.cells import read_notebook
from course_tools.grading.nbgrader import check_source, grade_id, kept_cells, lay_out, only_imports
from course_tools.grading.run_folder import RunFolder
from course_tools.metadata import tag_of
from course_utils.launcher.notebooks import chapters_in
from course_utils.paths import ROOT

NAME = "01_kernel_regression"
NO_REFUSAL = RIGHT.replace("if bandwidth <= 0", "if False")  # right but for the error it should raise


def installed(name: str) -> pytest.MarkDecorator:
    """Skip where a library of the extra ``grading`` is missing, without importing it."""
    return pytest.mark.skipif(importlib.util.find_spec(name) is None, reason=f"{name} is not installed: pip install .[grading]")


# ---- nbgrader ------------------------------------------------------------------------------------------------


def answered(assignment: dict, book: dict) -> dict:
    """The handed-out assignment with the answers of a chapter's notebook."""
    copy = json.loads(json.dumps(assignment))
    answers = {grade_id(str(tag_of(c).exercise), "answer"): c["source"] for c in book["cells"] if tag_of(c).role == "answer"}
    for item in copy["cells"]:
        mark = item["metadata"].get("nbgrader", {}).get("grade_id", "")
        item["source"] = answers.get(mark, item["source"])
    return copy


def test_assignments_hold_answers_checks_and_what_they_need(tmp_path):
    names = lay_out(ROOT, tmp_path)
    assert names == [path.stem for path in chapters_in(ROOT / "chapters")]
    points = {exercise.id: exercise.points for exercise in catalogue()}
    seen = set()
    for name in names:
        data = (tmp_path / "source" / name / f"{name}.ipynb").read_bytes()
        cells = json.loads(data)["cells"]
        code = [c for c in cells if c["cell_type"] == "code"]
        marks = [c["metadata"]["nbgrader"] for c in code if "nbgrader" in c["metadata"]]
        assert len({m["grade_id"] for m in marks}) == len(marks)
        assert all("." not in m["grade_id"] for m in marks)
        for item in code:
            mark, tag = item["metadata"].get("nbgrader"), tag_of(item)
            assert not any(call in item["source"] for call in ("explore(", "fit(", "picture(", "progress()")) or mark
            if mark is None:
                continue
            seen.add(tag)
            assert mark["schema_version"] == 3
            assert mark["grade"] == mark["locked"] == (not mark["solution"]) == (tag.role == "check")
            assert mark.get("points") == (points[tag.exercise] if mark["grade"] else None)
            assert not mark["grade"] or item["source"].splitlines()[-1] == "result.points"
        defined = set().union(*(c.defines | c.imported for c in read_notebook(data)))
        used = set().union(*(c.uses for c in read_notebook(data)))
        assert used <= defined | set(dir(builtins)) | {"__name__"}, (name, used - defined)
    assert seen == {(key, role) for key in points for role in ("answer", "check")}
    with pytest.raises(ValueError, match="already holds"):
        lay_out(ROOT, tmp_path)
    with pytest.raises(ValueError, match="no chapters"):
        lay_out(tmp_path / "source", tmp_path / "other")


def test_what_is_kept():
    stub, check = cell("def f():\n    raise NotImplementedError", "01.1"), cell('result = check("01.1", f)', "01.1", "check")
    book = json.loads(notebook(*map(cell, ("import os", "a = 1", "b = 2")), stub, check, cell("explore(f)")))
    key = json.loads(notebook(cell("def f():\n    return a", "01.1")))
    assert kept_cells(book) == {0, 1, 4, 5}
    assert kept_cells(book, key) == {0, 1, 2, 4, 5}
    assert only_imports("import a\nfrom b import c")
    assert not only_imports("import a\na.go()")
    assert not only_imports("")
    with pytest.raises(ValueError, match="keeps no result"):
        check_source('check("01.1", f)')


@full
@installed("nbgrader")
def test_nbgrader_gives_the_expected_marks(tmp_path, monkeypatch):
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    monkeypatch.setenv("PATH", path)  # nbgrader calls alembic by its name

    def run(*words: str) -> None:
        command, env = [sys.executable, "-m", "nbgrader", *words], {**ENVIRONMENT, "PATH": path}
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-3000:]

    lay_out(ROOT, tmp_path)
    run("generate_assignment", NAME)
    released = json.loads((tmp_path / "release" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8"))
    assert any("Nadaraya-Watson weights of a Gaussian" in "".join(c["source"]) for c in released["cells"])  # stubs are not emptied
    books = {
        "solved": solved("01"),
        "blank": blank("01"),
        "wrong": replaced(solved("01"), "01.4", "def dot_product_scores(query, keys):\n    return query @ keys.T\n"),
        "partly": replaced(solved("01"), "01.1", NO_REFUSAL),
    }
    for student, book in books.items():
        place = tmp_path / "submitted" / student / NAME
        place.mkdir(parents=True)
        (place / f"{NAME}.ipynb").write_text(json.dumps(answered(released, book)), encoding="utf-8")
    run("autograde", NAME)
    run("export", "--to", "grades.csv")
    with (tmp_path / "grades.csv").open(encoding="utf-8") as file:
        scores = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file) if row["assignment"] == NAME}
    points = {exercise.id: exercise.points for exercise in catalogue() if exercise.id.startswith("01.")}
    theirs = {student: marks_of(tmp_path, student) for student in books}
    assert theirs == {"solved": points, "blank": dict.fromkeys(points, 0), "wrong": {**points, "01.4": 0}, "partly": {**points, "01.1": 3}}
    assert scores == {student: sum(marks.values()) for student, marks in theirs.items()}
    if not why_not():  # and the grader of the course agrees, straight from nbgrader's folders
        assert main([str(tmp_path / "submitted"), "--out", str(tmp_path / "ours"), "--quiet"]) == 0
        ours = {record.submission.student: record.marks for record in RunFolder(tmp_path / "ours", True).records()}
        assert {student: {key: mark.points for key, mark in marks.items()} for student, marks in ours.items()} == theirs
        assert ours["wrong"]["01.4"].mistake == "norm of the keys left out"


def marks_of(folder, student: str) -> dict[str, float]:
    """What nbgrader has written into its gradebook for one student, by exercise."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{folder}/gradebook.db") as book:
        grades = book.find_submission_notebook(NAME, NAME, student).grades
        return {".".join(g.name.split("-")[1:3]): g.score for g in sorted(grades, key=lambda g: g.name)}


# ---- Dask ----------------------------------------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def processes_below(pid: int) -> list[int]:
    """``pid`` and its descendants."""
    import psutil

    return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and two workers, all processes of their own, on loopback."""
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    start = dict(cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    scheduler = ["distributed.cli.dask_scheduler", "--port", str(port), "--no-show"]
    worker = ["distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--local-directory", str(tmp_path / "spill")]
    programs = [
        subprocess.Popen([sys.executable, "-m", *words, "--host", "127.0.0.1", "--no-dashboard"], **start)
        for words in (scheduler, worker, worker)
    ]
    yield address, programs
    for program in reversed(programs):
        program.terminate()
    for program in programs:
        try:
            program.wait(20)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()


@needs_sandbox
@installed("distributed")
def test_a_cluster_that_loses_a_worker_grades_like_one_machine(tmp_path, cluster):
    address, (_, *workers) = cluster
    slow = "import time\ntime.sleep(1)\n"  # long enough to be killed in
    for number in range(8):
        place = tmp_path / "class" / f"student {number}"
        place.mkdir(parents=True)
        (place / "01_kernel_regression.ipynb").write_bytes(with_answer(slow + (WRONG if number % 3 == 0 else RIGHT)))
    (tmp_path / "class" / "nobody.ipynb").write_text("no notebook")
    command = [str(tmp_path / "class"), "--quiet", "--seed", "fixed"]
    assert main([*command, "--out", str(tmp_path / "local"), "--jobs", "2"]) == 1
    out = tmp_path / "far"
    words = [sys.executable, "-m", "course_tools.grading", *command, "--out", str(out), "--engine", "dask", "--scheduler", address]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    judge = subprocess.Popen(words, cwd=ROOT, env=ENVIRONMENT, text=True, **pipes)
    try:
        until = time.monotonic() + 120
        lines = out / "grades.jsonl"
        while time.monotonic() < until and judge.poll() is None:
            below = processes_below(workers[0].pid) if workers[0].poll() is None else []
            if lines.exists() and len(lines.read_bytes().splitlines()) >= 3 and len(below) > 1:
                break
            time.sleep(0.02)
        assert judge.poll() is None, "the worker was to be killed while it grades"
        assert len(below) > 1, "the worker was to be killed while it grades"
        os.kill(workers[0].pid, signal.SIGKILL)
        at_the_kill = len(lines.read_bytes().splitlines())
        said, complaints = judge.communicate(timeout=180)
    finally:
        judge.kill()
    assert judge.returncode == 1, complaints[-3000:]
    assert "8 notebooks graded, 0 unchanged, 1 unreadable" in said, complaints[-3000:]
    assert at_the_kill < 9
    assert (out / "gradebook.csv").read_bytes() == (tmp_path / "local" / "gradebook.csv").read_bytes()
    assert set(Counter(record.key for record in RunFolder(out, True).records()).values()) == {1}
    until = time.monotonic() + 60  # the sandbox dies with its worker, however busy the machine is
    while time.monotonic() < until and any(alive(pid) for pid in below):
        time.sleep(0.1)
    assert not [pid for pid in below if alive(pid)]


def alive(pid: int) -> bool:
    """Whether a process runs: neither gone nor a zombie."""
    import psutil

    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@full
@installed("distributed")
def test_a_cluster_without_workers_says_that_it_waits_and_then_that_its_scheduler_has_gone(cluster, monkeypatch):
    address, (scheduler, *workers) = cluster
    for worker in workers:
        worker.kill()
    monkeypatch.setattr(engines, "print", lambda *words, **more: scheduler.kill(), raising=False)
    with pytest.raises(ValueError, match="has gone .*--resume"):
        list(engines.on_a_cluster([engines.Submission("ada", "a.ipynb", f"{ROOT}/chapters/{NAME}.ipynb")], engines.Plan(("01",)), address))


@installed("distributed")
@needs_sandbox
def test_a_scheduler_or_a_package_that_is_not_there_is_said(tmp_path, capsys, monkeypatch):
    import dask
    import distributed  # noqa: F401  it sets the default

    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "ada.ipynb").write_bytes(with_answer(RIGHT))
    words = [str(tmp_path / "class"), "--out", str(tmp_path / "out"), "--quiet", "--engine", "dask"]
    assert main(words) == 2 and "--scheduler" in capsys.readouterr().err
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        assert main([*words, "--scheduler", f"tcp://127.0.0.1:{free_port()}"]) == 2
    assert "no Dask scheduler answers" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    assert main([*words, "--resume", "--scheduler", "tcp://h:1"]) == 2 and "setup --with grading" in capsys.readouterr().err
