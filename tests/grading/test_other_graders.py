"""One submission in, JSON out; and the recipes of ``deploy/``, run in a container without namespaces and without a network."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest
from classroom import RIGHT, WRONG, cell, needs_sandbox, notebook, with_answer
from container import in_container, needs_root
from test_grading_attacks import ASK, SERVE

from course_tools.grading import one, other_user
from course_tools.grading.__main__ import main
from course_tools.grading.forms import FORMS
from course_tools.grading.marks import exercises_of, places
from course_utils.paths import ROOT

LOOK = """
import os, pathlib, socket, subprocess, sys
said = []
def tried(name, work):
    try:
        said.append(f"{name}: {work()!r}")
    except BaseException as error:
        said.append(f"{name}: {type(error).__name__}")
here = pathlib.Path("/autograder")
tried("oracles", lambda: os.listdir(here / "source" / "course_checks" / "exercises"))
tried("imported", lambda: __import__("course_checks.exercises.ch01"))
tried("marks", lambda: os.listdir(here / "results"))
tried("forged", lambda: open(here / "results" / "results.json", "w"))
tried("root", lambda: os.setuid(0))
tried("judge", lambda: [p for p in os.listdir("/proc") if p.isdigit() and os.access(f"/proc/{p}/mem", os.R_OK) and int(p) != os.getpid()])
tried("secrets", lambda: open("/proc/1/environ", "rb").read())
tried("parent", lambda: os.kill(os.getppid(), 9))
tried("network", lambda: socket.socket())
tried("names", lambda: __import__("ctypes").CDLL(None).unshare(0x10000000))
raise LookupError(", ".join(said))
"""
NOBODY_SAW = {"oracles": "PermissionError", "marks": "PermissionError", "forged": "PermissionError", "root": "PermissionError"}
NOBODY_SAW |= {"judge": "[]", "secrets": "PermissionError", "parent": "PermissionError", "network": "PermissionError", "names": "-1"}
STAYS = """
import os, signal, time
open("/tmp/left", "w").write("note")
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            try:
                os.kill(-1, signal.SIGKILL)
            except OSError:
                pass
    os._exit(0)
"""
LEFT = """
import os
mine = [p for p in os.listdir("/proc") if p.isdigit() and os.stat("/proc/" + p).st_uid == os.getuid()]
raise LookupError(f"{os.path.exists('/tmp/left')} {[open(f'/proc/{p}/stat').read().split()[2] for p in mine]}")
"""
FORK = ASK + SERVE + "if os.fork() == 0:\n    serve()\n"
ANSWER = "def dot_product_scores(query, keys):\n    return -torch.tensor(far(query.tolist(), keys.tolist()))**2 / 2\n"


@pytest.fixture(scope="module")
def autograder(tmp_path_factory) -> Path:
    """The folder /autograder, as Gradescope makes it of our zip; its environment is that of these tests."""
    folder = tmp_path_factory.mktemp("autograder")
    folder.chmod(0o755)
    for name in ("source/.venv", "submission", "results"):
        (folder / name).mkdir(parents=True)
    packed = folder / "packed.zip"
    build = [sys.executable, "deploy/gradescope/build.py", "01", "--out", str(packed)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    subprocess.run(["unzip", "-q", str(packed), "-d", str(folder / "source")], check=True)
    packed.unlink()
    closing = (ROOT / "deploy" / "gradescope" / "setup.sh").read_text(encoding="utf-8").split("# A submission runs")[1]
    script = "set -e\n#" + closing.replace("/autograder", str(folder))
    subprocess.run(["sh", "-c", script], cwd=folder / "source", check=True)
    (folder / "source" / ".venv").chmod(0o755)
    return folder


@needs_root
def test_gradescope_in_a_container_without_namespaces(autograder):
    """Marks and panels arrive; a submission sees neither oracles nor marks, ends nobody, and leaves neither files nor processes."""
    answers = [cell(RIGHT, "01.1"), cell(LOOK, "01.2"), cell(FORK + ANSWER, "01.4"), cell(STAYS, "01.5")]
    (autograder / "submission" / "my work.ipynb").write_bytes(notebook(*answers))
    (autograder / "submission" / "the rest.ipynb").write_bytes(notebook(cell(LEFT, "01.6")))
    binds = ["--bind", str(autograder), "/autograder", "--ro-bind", sys.prefix, "/autograder/source/.venv"]
    done = in_container(["/autograder/source/run_autograder"], *binds)
    assert done.returncode == 0, done.stderr
    assert "another user without rights" in done.stderr
    results = json.loads((autograder / "results" / "results.json").read_text(encoding="utf-8"))
    tests = {test["number"]: test for test in results["tests"]}
    assert results["score"] == sum(test["score"] for test in tests.values()) == tests["01.1"]["score"] == 4
    assert tests["01.1"]["output_format"] == "html" and "<div" in tests["01.1"]["output"]
    for name, answer in NOBODY_SAW.items():
        assert f"{name}: {answer}" in tests["01.2"]["output"].replace("&#x27;", "'"), (name, tests["01.2"]["output"])
    assert "imported: ModuleNotFoundError" in tests["01.2"]["output"]
    assert "LookupError: False [&#x27;R&#x27;]" in tests["01.6"]["output"], tests["01.6"]["output"]
    assert "Stopped after 10 s" in tests["01.4"]["output"], tests["01.4"]["output"]
    assert list(tests) == [key for key in exercises_of(("01",)) if places()[key] == "01"]  # no companion was handed in
    assert tests["01.7"]["output"] == "Not handed in."


@needs_root
def test_a_course_that_is_open_to_everybody_is_not_graded_in(autograder):
    (autograder / "source" / "course_checks").chmod(0o755)
    try:
        binds = ["--bind", str(autograder), "/autograder", "--ro-bind", sys.prefix, "/autograder/source/.venv"]
        done = in_container(["/autograder/source/run_autograder"], *binds)
    finally:
        (autograder / "source" / "course_checks").chmod(0o700)
    assert done.returncode == 2 and "chmod -R go-rwx /autograder/source/course_checks" in done.stderr, done.stderr


@needs_sandbox
def test_one_submission_in_json_out(tmp_path, capsys):
    """A folder with two hand-ins and a broken file: the best answer counts, the file is named, every form says the same."""
    (tmp_path / "in").mkdir()
    for name, source in (("a", WRONG), ("b", RIGHT)):
        (tmp_path / "in" / f"{name}.ipynb").write_bytes(with_answer(source))
    (tmp_path / "in" / "c.ipynb").write_text("{")
    found = {}
    for form in FORMS:
        words = ["--one", str(tmp_path / "in"), "--json", str(tmp_path / form), "--form", form, "--only", "1", "--seed", "x"]
        assert main(words) == 1
        found[form] = json.loads((tmp_path / form).read_text(encoding="utf-8"))
    assert "a sandbox" in capsys.readouterr().err
    assert main(["--one", str(tmp_path / "in"), "--only", "1", "--seed", "x"]) == 1
    printed = capsys.readouterr().out
    assert (
        "01.1 Gaussian weights: 4 of 4.\n01.2 Attention pooling: 0 of 3. Not handed in.\n" in printed and "\n4 of 22 points.\n" in printed
    )
    plain = found["plain"]
    assert plain["points"] == 4 and plain["walls"] == "namespaces" and "not readable as JSON" in plain["problems"][0]
    first, second = plain["exercises"][:2]
    assert (first["exercise"], first["stage"], first["points"]) == ("01.1", "passed", 4) and second["stage"] == "not handed in"
    assert "<" not in first["text"] and "Gaussian" in first["text"]
    assert all(exercise["possible"] for exercise in plain["exercises"])
    assert found["gradescope"]["score"] == 4 and found["gradescope"]["tests"][0]["max_score"] == 4
    assert found["prairielearn"]["gradable"] and found["prairielearn"]["score"] == round(4 / plain["possible"], 6)
    told = json.loads(base64.b64decode(found["classroom"]["encoded"]))
    assert told["max_score"] == plain["possible"] and [test["status"] for test in told["tests"]][:2] == ["pass", "fail"]


def test_where_there_are_no_walls_it_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(one, "why_not", lambda: "namespaces are forbidden here")
    monkeypatch.setattr(other_user, "is_possible", lambda: False)
    (tmp_path / "a.ipynb").write_bytes(with_answer(RIGHT))
    assert main(["--one", str(tmp_path / "a.ipynb"), "--json", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "namespaces are forbidden here" in said and "--unsafe" in said and not (tmp_path / "out").exists()


def test_the_zip_holds_the_course_and_no_solutions(tmp_path):
    """The same bytes from the same files; no chapter, solution or test; a chapter that does not exist is named."""
    command = [sys.executable, str(ROOT / "deploy" / "gradescope" / "build.py")]
    for name in ("one.zip", "two.zip"):
        subprocess.run([*command, "03", "06", "--out", name], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        names = archive.namelist()
        assert archive.read("chapters.txt") == b"03 06"
    assert {"setup.sh", "run_autograder", "course_tools/grading/one.py", "requirements.lock", "course_checks/judge.py"} <= set(names)
    assert not [name for name in names if name.startswith(("solutions", "tests"))]
    done = subprocess.run([*command, "99"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "no chapter 99" in done.stderr


@needs_root
def test_prairielearns_places_in_the_container(autograder, tmp_path):
    """The image's entry point, in the layout that the Containerfile makes; PrairieLearn's folders."""
    tmp_path.chmod(0o755)
    shutil.copy(ROOT / "deploy" / "container" / "grade", autograder / "source" / "grade")
    (tmp_path / "student").mkdir()
    (tmp_path / "student" / "answer.ipynb").write_bytes(with_answer(RIGHT))
    binds = ["--bind", str(autograder / "source"), "/course", "--ro-bind", sys.prefix, "/course/.venv", "--bind", str(tmp_path), "/grade"]
    done = in_container(["/course/grade"], *binds, "--setenv", "CHAPTERS", "01")
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "results" / "results.json").read_text(encoding="utf-8"))
    assert results["gradable"] and 0 < results["score"] < 1 and results["tests"][0]["points"] == results["tests"][0]["max_points"] == 4
    assert (tmp_path / "results").stat().st_mode & 0o77 == 0


def test_the_containerfile_copies_what_grading_needs():
    """It installs by the launcher, so the lock stays the one list of packages; every file that it names is there."""
    text = (ROOT / "deploy" / "container" / "Containerfile").read_text(encoding="utf-8")
    copied = [word for line in text.splitlines() if line.startswith("COPY") for word in line.split()[1:-1]]
    assert copied and all((ROOT / name).exists() for name in copied)
    assert "setup.set_up(" in text and "pip install" not in text


@needs_sandbox
def test_the_steps_of_github_classroom(tmp_path):
    """The step that grades, as the runner's shell runs it: what it hands to the reporter is the result."""
    steps = (ROOT / "deploy" / "github-classroom" / "grade.yml").read_text(encoding="utf-8")
    script = textwrap.dedent(steps.split("id: grade\n        run: |\n")[1].split("      - uses:")[0])
    (tmp_path / "submission" / "chapters").mkdir(parents=True)
    for folder, source in (("chapters", WRONG), ("", RIGHT)):  # two notebooks of one name
        (tmp_path / "submission" / folder / "01_kernel_regression.ipynb").write_bytes(with_answer(source))
    (tmp_path / "course" / ".venv" / "bin").mkdir(parents=True)
    python = tmp_path / "course" / ".venv" / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    places = {"RUNNER_TEMP": str(tmp_path / "temp"), "GITHUB_OUTPUT": str(tmp_path / "output"), "CHAPTERS": "01", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, env={**os.environ, **places}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    name, _, encoded = (tmp_path / "output").read_text(encoding="utf-8").strip().partition("=")
    result = json.loads(base64.b64decode(encoded))
    assert name == "result" and result["tests"][0] | {"message": ""} == {
        "name": "01.1 Gaussian weights",
        "status": "pass",
        "score": 4,
        "message": "",
    }
    assert result["max_score"] > 4 and result["status"] == "fail"
