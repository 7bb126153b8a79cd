"""course.py: what it does, and what it says when something is in its way.

No test here makes an environment or uses the network, but for the last one (COURSE_FULL=1).
"""

import ast
import hashlib
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
FULL = pytest.mark.skipif(not os.environ.get("COURSE_FULL"), reason="slow: only with --full")


def load(folder):
    """course.py of `folder` as a module of its own."""
    spec = importlib.util.spec_from_file_location("launcher", folder / "course.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path):
    """A small course in a folder with a space in its name."""
    root = tmp_path / "my course"
    for name in ("course.py", "conftest.py", "requirements.txt", "pyproject.toml", ".gitignore"):
        root.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    files = [
        "README.md", "LICENSE", "LICENSE-TEXT", "environment.yml", "docs/guide.md",
        "chapters/00_start_here.ipynb", "chapters/03_self_attention.ipynb",
        "chapters/08a_encoder_decoder.ipynb", "chapters/.ipynb_checkpoints/x.ipynb",
        "solutions/03_self_attention.ipynb", "solutions/03_self_attention.md",
        "tests/test_ch03_more.py", "tests/test_exercises.py", "tests/test_other.py",
        "course_utils/__init__.py", "course_utils/models/__init__.py",
        "course_utils/models/__pycache__/x.pyc", "course_tools/authoring/build.py",
        ".course/progress.json", "benchmarks/speed.py", "docs/images/map.png",
        "chapters/my_notes.ipynb",
    ]  # fmt: skip
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        is_chapter = name.startswith("chapters/0")
        (root / name).write_text(chapter_text() if is_chapter else "", encoding="utf-8")
    return root


def chapter_text(answer="raise NotImplementedError"):
    """A chapter with one answer cell, recorded as blank."""
    stub = hashlib.sha256(b"raise NotImplementedError").hexdigest()
    course = {"exercise": "03.1", "role": "answer"}
    cell = {"cell_type": "code", "metadata": {"course": course}, "source": [answer]}
    return json.dumps({"cells": [cell], "metadata": {"course": {"stubs": {"03.1": stub}}}})


@pytest.fixture
def course(tree):
    return load(tree)


def pretend_ready(course, **stamp):
    """Leave behind what a finished setup leaves."""
    course.VENV_PYTHON.parent.mkdir(parents=True, exist_ok=True)
    course.VENV_PYTHON.write_text("")
    course.STAMP.write_text(
        json.dumps({"key": course.fingerprint(), "dev": True, "torch": "cpu", **stamp})
    )


@pytest.fixture
def runner(course, monkeypatch):
    """Replace the program runner: `answers` maps a word of a command to (exit code, output)."""
    calls, answers = [], {}

    def run_quietly(command, label):
        words = [str(part) for part in command]
        calls.append(words)
        for word, answer in answers.items():
            if any(word in part for part in words):
                return answer
        return 0, ""

    monkeypatch.setattr(course, "run_quietly", run_quietly)
    monkeypatch.setattr(course, "venv_works", lambda: False)
    monkeypatch.setattr(course, "choose_torch", lambda wanted: (wanted or "cpu", "for this test"))
    run_quietly.calls, run_quietly.answers = calls, answers
    return run_quietly


# ------------------------------------------------------------------------------- the command line


def test_help_names_every_command(course, capsys):
    assert course.main([]) == 0
    said = capsys.readouterr().out
    assert all(word in said for word in ("lab", "test", "build", "handout"))


def test_runs_from_another_folder(tmp_path):
    command = [sys.executable, str(ROOT / "course.py")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "handout DIR" in done.stdout


@pytest.mark.parametrize("words", [["dance"], ["lab", "--port", "abc"], ["handout"]])
def test_usage_errors_exit_with_2(course, words, capsys):
    with pytest.raises(SystemExit) as stop:
        course.main(words)
    assert stop.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_unknown_chapter_lists_the_known_ones(course, capsys):
    assert course.main(["test", "99"]) == 2
    assert "no chapter 99 here. The chapters are: 00, 03, 08a." in capsys.readouterr().err


def test_chapter_numbers_as_people_type_them(course):
    assert course.chapter_numbers(["3", "003", "8A", "0"]) == ["03", "03", "08a", "00"]


@pytest.mark.parametrize("version", [(2, 7), (3, 6), (3, 10)])
def test_old_python_is_told(course, version, monkeypatch, capsys):
    monkeypatch.setattr(course.sys, "version_info", version + (0, "final", 0))
    assert course.main(["lab"]) == 2
    said = capsys.readouterr().err
    assert "Python 3.11 or newer is needed, this is {}.{}.".format(*version) in said


def test_launcher_is_readable_by_old_pythons_and_needs_only_the_standard_library():
    tree = ast.parse((ROOT / "course.py").read_text("utf-8"), feature_version=(3, 6))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module.split(".")[0])
    assert imported <= sys.stdlib_module_names
    assert "tomllib" not in imported  # younger than the Pythons that must be able to read it


# --------------------------------------------------------------------------------------- the setup


def test_setup_runs_three_steps_once(course, runner, monkeypatch):
    course.VENV.mkdir()
    course.set_up(dev=True)
    venv, torch, rest = runner.calls
    assert venv[1:4] == ["-m", "venv", "--clear"]
    assert torch[-3:] == ["torch==2.13.0", "--index-url", "https://download.pytorch.org/whl/cpu"]
    assert rest[-2:] == ["-e", ".[dev]"]
    course.VENV_PYTHON.parent.mkdir(parents=True)
    course.VENV_PYTHON.write_text("")
    course.set_up(dev=True)
    course.set_up(dev=False)
    assert len(runner.calls) == 3


def test_interrupted_setup_is_resumed(course, runner, monkeypatch):
    runner.answers["-e"] = (1, "boom")
    with pytest.raises(course.Problem, match="boom"):
        course.set_up(dev=False)
    assert not course.STAMP.exists()
    runner.answers.clear()
    runner.calls.clear()
    monkeypatch.setattr(course, "venv_works", lambda: True)  # the first step had been done
    course.set_up(dev=False)
    assert len(runner.calls) == 2 and course.STAMP.exists()


def test_stamp_notices_every_change(course):
    assert not course.is_ready(dev=False, torch=None)
    pretend_ready(course)
    assert course.is_ready(dev=True, torch=None) and course.is_ready(dev=False, torch="cpu")
    assert not course.is_ready(dev=False, torch="default")
    pretend_ready(course, dev=False)
    assert course.is_ready(dev=False, torch=None) and not course.is_ready(dev=True, torch=None)
    for name in ("requirements.txt", "pyproject.toml"):
        pretend_ready(course)
        with open(course.ROOT / name, "a") as file:
            file.write("\n# changed\n")
        assert not course.is_ready(dev=False, torch=None), name
    pretend_ready(course, key="a moved folder or another Python")
    assert not course.is_ready(dev=False, torch=None)
    pretend_ready(course)
    course.VENV_PYTHON.unlink()  # the Python it was made from has been removed
    assert not course.is_ready(dev=False, torch=None)
    course.STAMP.write_text("{ half a sta")
    assert course.read_stamp() == {}


def test_cpu_index_that_fails_is_not_the_end(course, runner):
    runner.answers["--index-url"] = (1, "NewConnectionError")
    course.set_up(dev=False)
    assert [call[-1] for call in runner.calls[2:]] == ["torch==2.13.0", "."]
    assert course.read_stamp()["torch"] == "default"


def test_another_torch_replaces_the_first(course, runner):
    pretend_ready(course, torch="default")
    course.set_up(dev=False, torch="cpu")
    assert "--force-reinstall" in runner.calls[1]


def test_linux_without_a_gpu_takes_the_cpu_build(course, monkeypatch):
    monkeypatch.setattr(course.sys, "platform", "linux")
    monkeypatch.setattr(course.shutil, "which", lambda name: None)
    monkeypatch.setattr(course.os.path, "exists", lambda path: False)
    closed = type("Answer", (), {"close": lambda self: None})()
    monkeypatch.setattr(course.urllib.request, "urlopen", lambda *a, **k: closed)
    assert course.choose_torch(None)[0] == "cpu"

    def no_network(*args, **kwargs):
        raise OSError("no network")

    monkeypatch.setattr(course.urllib.request, "urlopen", no_network)
    assert course.choose_torch(None)[0] == "default"
    assert course.choose_torch("cpu")[0] == "cpu"
    monkeypatch.setattr(course.shutil, "which", lambda name: "/usr/bin/nvidia-smi")
    assert course.choose_torch(None) == ("default", "there is an NVIDIA GPU")
    monkeypatch.setattr(course.sys, "platform", "win32")
    assert course.choose_torch(None)[0] == "default"


FAILURES = {
    "venv missing": (
        "venv",
        "The virtual environment was not created successfully because ensurepip is not\navailable",
        rf"sudo apt install python{sys.version_info[0]}\.{sys.version_info[1]}-venv",
    ),
    "venv module missing": ("venv", "/usr/bin/python3: No module named venv", "apt install"),
    "no network": (
        "torch==",
        "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError("
        "<pip._vendor.urllib3...>: [Errno 11001] getaddrinfo failed')': /simple/torch/\n"
        "ERROR: Could not find a version that satisfies the requirement torch==2.13.0\n"
        "ERROR: No matching distribution found for torch==2.13.0",
        "(?s)needs the internet once.*Nothing is broken",
    ),
    "read timeout": ("-e", "pip._vendor...ReadTimeoutError: Read timed out.", "internet once"),
    "certificate": ("-e", "[SSL: CERTIFICATE_VERIFY_FAILED] Max retries exceeded", "PIP_CERT"),
    "disk full": (
        "torch==",
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
        "(?s)disk is full.*Nothing is broken",
    ),
    "disk full, Windows": ("-e", "OSError: [WinError 112] no room", "disk is full"),
    "read-only folder": ("venv", "Error: [Errno 13] Permission denied: '.venv'", "written to"),
    "file in use, Windows": ("-e", "[WinError 32] The process cannot access", "Close a JupyterLab"),
    "long path, Windows": ("-e", "HINT: enable Windows Long Path support", "short path"),
    "no wheel": (
        "torch==",
        "ERROR: Could not find a version that satisfies the requirement torch==2.13.0 (from "
        "versions: none)\nERROR: No matching distribution found for torch==2.13.0",
        "PyTorch has no package for this machine",
    ),
    "unknown": ("-e", "line\n" * 40 + "a new kind of trouble", "(?s)failed.*new kind of trouble"),
}


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("command", ["lab", "test"])
def test_failed_setup_is_explained(course, runner, name, command, capsys):
    word, output, message = FAILURES[name]
    runner.answers[word] = (1, output)
    assert course.main([command]) == 2
    said = capsys.readouterr().err
    assert re.search(message, said) and "Traceback" not in said
    assert len(said.strip().splitlines()) <= 20
    assert not course.STAMP.exists()


@pytest.mark.parametrize(
    "error, message",
    [
        (OSError(28, "No space left on device"), "disk is full"),
        (PermissionError(13, "Permission denied"), "cannot be written to"),
        (OSError(30, "Read-only file system"), "cannot be written to"),
        (KeyboardInterrupt(), "Stopped"),
    ],
)
def test_errors_of_the_launcher_itself_are_explained(course, monkeypatch, error, message, capsys):
    def fail(*args):
        raise error

    monkeypatch.setattr(course, "run_quietly", fail)
    monkeypatch.setattr(course, "venv_works", lambda: False)
    assert course.main(["lab"]) == (130 if isinstance(error, KeyboardInterrupt) else 2)
    assert message in capsys.readouterr().err


def test_a_nearly_full_disk_explains_any_failure(course, monkeypatch):
    usage = shutil.disk_usage(ROOT)._replace(free=1e6)
    monkeypatch.setattr(course.shutil, "disk_usage", lambda folder: usage)
    assert "disk is full" in course.explain("Error: returned non-zero exit status 1.", "venv")


def test_children_do_not_inherit_another_python(course, monkeypatch):
    for name in ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PIP_TARGET"):
        monkeypatch.setenv(name, "elsewhere")
    monkeypatch.setenv("VIRTUAL_ENV", "elsewhere")
    env = course.child_environment()
    assert "elsewhere" not in env.values()
    assert env["PATH"].startswith(str(course.VENV))


def test_progress_shows_label_and_output(course, capsys):
    code, output = course.run_quietly([sys.executable, "-c", "print('é'); exit(3)"], "a step")
    assert code == 3 and "é" in output
    assert "a step ... failed" in capsys.readouterr().out


# -------------------------------------------------------------------------------------- commands


@pytest.fixture
def started(course, monkeypatch):
    """What would have been started: lists of words, with the environment as the last item."""
    seen = []

    def record(command, env):
        seen.append([str(part) for part in command] + [env])
        return 0

    monkeypatch.setattr(course, "become", record)
    monkeypatch.setattr(course, "run_visibly", record)
    pretend_ready(course)
    return seen


def test_taken_port(course, started, capsys):
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        assert course.main(["lab", "--port", str(port)]) == 2
    said = capsys.readouterr().err
    assert f"Port {port} cannot be used" in said and "--port" in said and not started
    assert course.main(["lab", "--port", "70000"]) == 2


def test_lab_opens_the_first_chapter_quietly(course, started):
    assert course.main(["lab", "--no-browser", "--port", "18765", "--", "--debug"]) == 0
    (command,) = started
    assert command[1:3] == ["-m", "jupyterlab"]
    assert "--LabApp.default_url=/lab/tree/chapters/00_start_here.ipynb" in command
    assert {"--no-browser", "--ServerApp.port=18765", "--LabApp.news_url=None"} <= set(command[:-1])
    assert command[-2] == "--debug"


def test_lab_without_a_start_page(course, started):
    (course.ROOT / "chapters" / "00_start_here.ipynb").unlink()
    course.main(["lab"])
    assert "--LabApp.default_url=/lab/tree/chapters/03_self_attention.ipynb" in started[0]
    assert not any("port" in word for word in started[0][:-1])


def test_test_runs_everything(course, started, capsys):
    assert course.main(["test", "--", "-x"]) == 0
    exercises, rest = started
    assert exercises[1:-1] == ["-m", "pytest", "tests/test_exercises.py", "-n", "auto", "--maxprocesses", "4", "-x"]
    assert rest[1:-1] == ["-m", "pytest", "tests", "chapters", "solutions", "--ignore", "tests/test_exercises.py", "-x"]
    assert not {"COURSE_CHAPTERS", "COURSE_FULL"} & (set(exercises[-1]) | set(rest[-1]))
    assert exercises[-1]["OMP_NUM_THREADS"] == "1"
    assert re.search(r"\d+ s in all: \d+ s setup, \d+ s tests", capsys.readouterr().out)


def test_test_of_one_chapter(course, started):
    course.main(["test", "3", "--full"])
    (command,) = started
    assert {Path(word).as_posix() for word in command[3:-1]} == {
        "tests/test_exercises.py",
        "tests/test_ch03_more.py",
        "chapters/03_self_attention.ipynb",
        "solutions/03_self_attention.ipynb",
    }
    assert command[-1]["COURSE_CHAPTERS"] == "03" and command[-1]["COURSE_FULL"] == "1"


@pytest.mark.parametrize(("codes", "wanted", "runs"), [
    ([0, 0], 0, 2), ([1, 0], 1, 2), ([0, 1], 1, 2), ([5, 0], 0, 2), ([0, 5], 0, 2), ([5, 5], 5, 2), ([3, 5], 3, 2), ([2, 0], 2, 1)])
def test_exit_code_is_that_of_pytest(course, started, monkeypatch, codes, wanted, runs):
    """5: no test was chosen, which is no fault while the other run had some; 2: interrupted, so the other run does not start."""
    left = list(codes)
    monkeypatch.setattr(course, "run_visibly", lambda command, env: left.pop(0))
    assert course.main(["test"]) == wanted
    assert len(codes) - len(left) == runs


def test_build_passes_its_arguments_on(course, started):
    assert course.main(["build", "3", "--check"]) == 0
    assert started[0][1:-1] == ["-m", "course_tools.authoring.build", "03", "--check"]


def test_handout(course, tmp_path, capsys):
    target = tmp_path / "for class"
    assert course.main(["handout", str(target)]) == 0
    written = {p.relative_to(target).as_posix() for p in target.rglob("*") if p.is_file()}
    assert written == {
        "chapters/00_start_here.ipynb", "chapters/03_self_attention.ipynb",
        "chapters/08a_encoder_decoder.ipynb", "course_utils/__init__.py",
        "course_utils/models/__init__.py", "course.py", "conftest.py", "README.md", "docs/images/map.png",
        "requirements.txt", "environment.yml", "pyproject.toml", "LICENSE", "LICENSE-TEXT",
        ".gitignore",
    }  # fmt: skip
    assert course.main(["handout", str(target)]) == 2
    assert "is not empty" in capsys.readouterr().err

    learner = load(target)
    assert learner.test_paths([]) == ["chapters"]
    assert learner.known_chapters() == ["00", "03", "08a"]
    assert learner.main(["build"]) == 2
    assert "This is a handout" in capsys.readouterr().err


def test_handout_refuses_a_chapter_with_answers(course, tmp_path, capsys):
    path = course.ROOT / "chapters" / "03_self_attention.ipynb"
    path.write_text(chapter_text(answer="return 42"), encoding="utf-8")
    assert course.main(["handout", str(tmp_path / "out")]) == 2
    assert "answer to exercise 03.1" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_readme_of_a_handout_promises_no_solutions(course, tmp_path):
    shutil.copy(ROOT / "README.md", course.ROOT / "README.md")
    course.main(["handout", str(tmp_path / "out")])
    text = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "course.py lab" in text and "solutions/" not in text and "CONTRIBUTING" not in text


def test_handout_refuses_bad_places(course, capsys):
    assert course.main(["handout", str(course.ROOT / "course.py")]) == 2
    assert course.main(["handout", str(course.ROOT / "chapters" / "out")]) == 2
    assert "elsewhere" in capsys.readouterr().err


def test_half_a_handout_is_removed(course, tmp_path, monkeypatch, capsys):
    def disk_full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(course.shutil, "copy", disk_full)
    assert course.main(["handout", str(tmp_path / "out")]) == 2
    assert "disk is full" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


# ------------------------------------------------------------------------------------- the lists


def requirements():
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    lines = [line.split("#")[0].strip() for line in lines]
    return {line for line in lines if line}


def test_both_lists_name_the_same_packages():
    conda = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))["dependencies"]
    pip = [line for item in conda if isinstance(item, dict) for line in item["pip"]]
    conda = [item for item in conda if isinstance(item, str) and item != "pip"]
    assert set(conda + pip) - {"python>=3.11", "-e ."} == requirements()
    assert "-e ." in pip, "kernels start in chapters/: without the package, import course_utils fails there"


def test_requirements_are_complete_and_bounded():
    lines = requirements()
    names = {re.match(r"[\w-]+", line).group() for line in lines}
    assert {"jupyterlab", "torch", "numpy", "seaborn", "nbval", "ipywidgets"} <= names
    assert "torch==2.13.0" in lines
    assert all("<" in line for line in lines if not line.startswith("torch"))


def test_there_is_one_list_of_requirements():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "dependencies" in project["project"]["dynamic"]
    assert not (ROOT / "uv.lock").exists()


# ----------------------------------------------------------------------- the whole way, once (slow)


@FULL
def test_a_stranger_succeeds_the_first_time(tmp_path):
    """A handout in a new folder, an empty home: set up, test a notebook, open Lab, Ctrl-C."""
    import nbformat

    home, target = tmp_path / "home", tmp_path / "a class"
    home.mkdir()
    load(ROOT).main(["handout", str(target)])
    (target / "chapters").mkdir(exist_ok=True)
    for notebook in (target / "chapters").glob("*.ipynb"):
        notebook.unlink()
    cell = nbformat.v4.new_code_cell("import torch, course_utils, seaborn; print(torch.ones(2))")
    notebook = nbformat.v4.new_notebook(cells=[cell])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, target / "chapters" / "00_start_here.ipynb")

    env = dict(os.environ, HOME=str(home), USERPROFILE=str(home), PYTHONPATH="nowhere")
    launcher = [sys.executable, str(target / "course.py")]
    subprocess.run(launcher + ["test"], env=env, cwd=tmp_path, check=True)

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = launcher + ["lab", "--no-browser", "--port", str(port)]
    group = {"creationflags": 0x200} if os.name == "nt" else {}  # a console group of its own
    server = subprocess.Popen(command, env=env, cwd=tmp_path, **group)
    try:
        for _ in range(300):
            try:
                answer = urllib.request.urlopen(f"http://localhost:{port}/api").read()
                break
            except OSError:
                assert server.poll() is None
                time.sleep(0.1)
        assert b"version" in answer
    finally:
        server.send_signal(signal.CTRL_BREAK_EVENT if os.name == "nt" else signal.SIGINT)
        code = server.wait(timeout=30)
    assert os.name == "nt" or code == 0
