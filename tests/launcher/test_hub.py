"""A course on a hub, without a hub: shared and read-only, a ready Python, handing in, the wrapper that starts a student's server."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from test_launcher import chapter_text, course, load, started, tree  # noqa: F401  (fixtures)

from course_checks import check, hand_in, record
from course_tools.grading.nbgrader import lay_out
from course_utils import paths
from course_utils.launcher.notebooks import course_of, read
from course_utils.launcher.work import Work
from course_utils.paths import ROOT

HUB = ROOT / "deploy" / "hub"
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="hubs run on Linux")
AS_ROOT = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can act as a second user")


def answer(path: Path, exercise: str, text: str) -> None:
    """Type an answer into a notebook and save it."""
    notebook = read(path)
    for cell in notebook["cells"]:
        if course_of(cell).get("exercise") == exercise and course_of(cell).get("role") == "answer":
            cell["source"] = text
    path.write_text(json.dumps(notebook), encoding="utf-8")


# ------------------------------------------------------------------------------- one course, many users


@pytest.fixture
def shared(monkeypatch):
    """A course that everybody can read and nobody else can write to, and a home; as a program of that user."""
    root = Path(tempfile.mkdtemp(dir="/tmp"))
    leave = shutil.ignore_patterns("__pycache__")
    for name in ("course_utils", "course_checks"):
        shutil.copytree(ROOT / name, root / "course" / name, ignore=leave)
    for name in ("course.py", "pyproject.toml", "requirements.txt", "requirements.lock"):
        shutil.copy(ROOT / name, root / "course")
    (root / "course" / "chapters").mkdir()
    shutil.copy(ROOT / "chapters" / "03_self_attention.ipynb", root / "course" / "chapters")
    (root / "home").mkdir()
    subprocess.run(["chmod", "-R", "a+rX", root], check=True)
    os.chown(root / "home", 65534, 65534)
    env = {"PATH": os.environ["PATH"], "HOME": str(root / "home"), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    python = "/usr/bin/python3"  # another user cannot always enter the folder of ours

    def run(*words, **more):
        where = {"cwd": root / "home", "env": dict(env, **more), "user": 65534, "group": 65534, "extra_groups": []}
        return subprocess.run([python, *map(str, words)], capture_output=True, text=True, **where)

    yield SimpleNamespace(root=root / "course", home=root / "home", run=run)
    shutil.rmtree(root)


@AS_ROOT
@LINUX
def test_progress_and_copies_of_a_shared_course_are_the_users_own(shared):
    done = shared.run(shared.root / "course.py", "refresh")
    assert done.returncode == 0 and "Permission" not in done.stdout + done.stderr
    own = shared.home / "attention"
    assert (own / "work" / "03_self_attention.ipynb").exists() and f"They are in {own / 'work'}" in done.stdout
    code = f"import sys; sys.path.insert(0, {str(shared.root)!r}); from course_checks import record; print(record.record('03.1', 4, True))"
    assert shared.run("-c", code).stdout == "\n"
    assert re.search(r"\n1 of \d+ exercises, 4 of \d+ points", shared.run(shared.root / "course.py", "progress").stdout)
    done = shared.run(shared.root / "course.py", "restart", "03")
    assert f"Yours lies in {own}/work/.backup/03_self_attention." in done.stdout and not done.stderr
    done = shared.run(shared.root / "course.py", "mine")
    assert (own / "my_transformer.py").exists() and not done.stderr
    assert not (shared.root / "work").exists() and not (shared.root / ".course").exists()


@AS_ROOT
@LINUX
def test_a_home_that_cannot_be_written_to_is_said(shared):
    shared.home.chmod(0o500)
    os.chown(shared.home, 0, 0)
    shared.home.chmod(0o755)
    done = shared.run(shared.root / "course.py", "restart", "03")
    assert done.returncode == 2 and "your copy stays as it is: nothing can be written in" in done.stderr and "Traceback" not in done.stderr


def test_a_result_that_cannot_be_kept_is_said_in_the_panel(monkeypatch, tmp_path):
    monkeypatch.delenv("COURSE_PROGRESS", raising=False)
    monkeypatch.setattr(record, "ROOT", tmp_path)

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(record.kept, "write", full)
    result = check("03.1", lambda query, key: query @ key.mT / key.shape[-1] ** 0.5)
    (note,) = [text for text in result.remarks if "points were not kept" in text]
    assert result.passed and str(tmp_path / ".course") in note and "(No space left on device)" in note


def test_where_the_users_own_folder_is(monkeypatch, tmp_path):
    closed = {tmp_path / "shared"}
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) not in closed)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    (tmp_path / "shared").mkdir()
    (tmp_path / "mine" / "work").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "mine" / "work")
    assert paths.own_folder(tmp_path / "shared") == tmp_path / "home" / "attention"
    (tmp_path / "mine" / "course.py").touch()  # the student's own copy of the course
    assert paths.own_folder(tmp_path / "shared") == tmp_path / "mine"
    assert paths.own_folder(tmp_path / "mine") == tmp_path / "mine"
    (tmp_path / "mine" / ".course").mkdir()
    closed.add(tmp_path / "mine" / ".course")  # somebody else's
    assert paths.own_folder(tmp_path / "mine") == tmp_path / "home" / "attention"


# ------------------------------------------------------------------------------- nothing is installed


def test_setup_makes_the_environment_and_starts_nothing(course, started, capsys):  # noqa: F811
    assert course.main(["setup"]) == 0 and not started
    assert str(course.setup.VENV_PYTHON) in capsys.readouterr().out


def test_refresh_starts_nothing_and_needs_no_environment(course, capsys):  # noqa: F811
    assert course.main(["refresh"]) == 0
    assert (course.ROOT / "work" / "03_self_attention.ipynb").exists() and not course.setup.VENV.exists()
    assert f"They are in {course.ROOT / 'work'}" in capsys.readouterr().out


def test_a_named_python_is_used_and_nothing_is_installed(tree, monkeypatch, capsys):  # noqa: F811
    monkeypatch.setenv("COURSE_PYTHON", sys.executable)
    launcher = load(tree)
    monkeypatch.setattr(launcher.setup, "run_quietly", lambda *words: pytest.fail(f"started {words}"))
    seen = []
    monkeypatch.setattr(launcher.setup, "run_visibly", lambda command, env: seen.append((command, env)) or 0)
    shutil.rmtree(tree / "course_tools")
    assert launcher.main(["test", "3"]) == 0 and not launcher.setup.VENV.exists()
    ((command, env),) = seen
    assert command[0] == Path(sys.executable) and env["PYTHONPATH"] == str(tree)
    with open(tree / "requirements.txt", "a") as file:
        file.write("\nno-such-package>=1\ntorch==1.0\n")
    assert launcher.main(["test", "3"]) == 2
    assert re.search(r"(?s)packages that are not in .*no-such-package, torch\nInstall them there", capsys.readouterr().err)


@pytest.mark.parametrize("made", [False, True])
def test_no_hub_terminal_installs_anything(tree, monkeypatch, made, capsys):  # noqa: F811
    """1.6 GB in every student's home would fill the hub's disk."""
    monkeypatch.setenv("JUPYTERHUB_USER", "ada")
    monkeypatch.setattr(os, "geteuid", lambda: 1001, raising=False)
    if made:  # a shared environment, of another Python or an older list
        (tree / ".venv").mkdir()
        (tree / ".venv" / "course.json").write_text("{}")
    with open(tree / "requirements.txt", "a") as file:
        file.write("\nno-such-package>=1\n")
    launcher = load(tree)
    monkeypatch.setattr(launcher.setup, "run_quietly", lambda *words: pytest.fail(f"started {words}"))
    for words in (["test"], ["lab"], ["setup"]):
        assert launcher.main(words) == 2
        said = capsys.readouterr().err
        assert ("cannot be run" in said) if made else ("not in " in said and "ask whoever runs the hub" in said), words


# ------------------------------------------------------------------------------- package and notebooks

SESSION = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell(open(sys.argv[1]).read()) if len(sys.argv) > 1 else None
shell.run_cell({cell!r})
"""


@pytest.mark.parametrize("startup", [True, False], ids=["lab", "elsewhere"])
@pytest.mark.parametrize(
    "cell, told",
    [
        ("from course_checks import check\nfrom course_utils.models import of_next_week", "cannot import name 'of_next_week'"),
        ("from course_checks import check\nimport course_utils.of_next_week", "No module named 'course_utils.of_next_week'"),
        ("from course_checks import check\nimport of_next_week", None),
    ],
)
def test_a_notebook_newer_than_its_package_is_told_so(startup, cell, told):
    words = [ROOT / "course_utils" / "show" / "lab" / "kernel_startup.py"] if startup else []
    env = dict(os.environ, PYTHONPATH=str(ROOT))
    done = subprocess.run([sys.executable, "-c", SESSION.format(cell=cell), *words], capture_output=True, text=True, env=env)
    assert ("newer than the course's package" in done.stdout) == bool(told), done.stdout + done.stderr
    assert ("Traceback" in done.stdout) != bool(told) and (told or "of_next_week") in done.stdout


def test_only_the_chapters_that_were_named_become_assignments(tmp_path):
    assert lay_out(ROOT, tmp_path / "nb", ["06"]) == ["06_masking", "06_what_masks_leave"]
    assert sorted(path.name for path in (tmp_path / "nb" / "source").iterdir()) == ["06_masking", "06_what_masks_leave"]


# ------------------------------------------------------------------------------- handing in


@pytest.fixture
def answered(tmp_path, monkeypatch):
    """A course with one answer, and an exchange."""
    root = tmp_path / "course"
    (root / "chapters").mkdir(parents=True)
    shutil.copy(ROOT / "chapters" / "03_self_attention.ipynb", root / "chapters")
    Work(root).bring_up_to_date()
    answer(root / "work" / "03_self_attention.ipynb", "03.1", "attention_scores = 1")
    (tmp_path / "exchange").mkdir()
    monkeypatch.setenv("COURSE_EXCHANGE", str(tmp_path / "exchange"))
    monkeypatch.setenv("JUPYTERHUB_USER", "ada")
    return root


def test_handing_in_from_a_cell(answered, tmp_path, capsys):
    for _ in range(2):  # within a second
        hand_in(root=answered)
    one, two = sorted((tmp_path / "exchange").iterdir())
    assert re.fullmatch(r"ada_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_[0-9a-f]{16}\.zip", one.name) and one.name != two.name
    assert zipfile.ZipFile(one).namelist() == ["ada/03_self_attention.ipynb"]
    said = capsys.readouterr().out
    assert "1 answer of ada is in " + str(one) in said and "Handed in. It holds what you had saved by " in said


def test_what_a_failed_save_has_left_keeps_nobody_from_handing_in(answered, tmp_path):
    """On a full disk JupyterLab leaves half a file behind, beside the whole one."""
    (answered / "work" / ".~03_self_attention.ipynb").write_text('{"cells": [')
    hand_in(root=answered)
    assert len(list((tmp_path / "exchange").iterdir())) == 1


def test_without_an_exchange_the_zip_lies_in_the_own_folder(answered, monkeypatch, capsys):
    monkeypatch.delenv("COURSE_EXCHANGE")
    hand_in("Ada Löw", root=answered)
    (made,) = answered.glob("Ada_L_w_*.zip")
    assert zipfile.ZipFile(made).namelist() == ["Ada Löw/03_self_attention.ipynb"]
    assert "Ready: hand in this file" in capsys.readouterr().out


@pytest.mark.parametrize("trouble", ["nowhere", "blank"])
def test_what_cannot_be_handed_in_is_said(answered, monkeypatch, trouble, capsys):
    if trouble == "nowhere":
        monkeypatch.setenv("COURSE_EXCHANGE", str(answered / "nowhere"))
    else:
        shutil.rmtree(answered / "work")
    hand_in(root=answered)
    assert capsys.readouterr().out.startswith("Nothing was handed in: ")


@LINUX
@AS_ROOT
def test_collecting_goes_by_the_owner_and_takes_the_newest(tmp_path):
    exchange, out = tmp_path / "exchange", tmp_path / "out"
    exchange.mkdir()
    for name, owner, text in (("bob_1.zip", "nobody", "old"), ("bob_2.zip", "nobody", "new"), ("nobody_3.zip", "root", "other")):
        (exchange / name).write_text(text)
        shutil.chown(exchange / name, owner)
    os.utime(exchange / "bob_2.zip", (1, 1))  # a student may turn this clock back
    (exchange / "secret.zip").symlink_to("/etc/passwd")
    (exchange / "two words.zip").write_text("")
    (exchange / "mallory").mkdir()
    (exchange / "mallory" / "a.zip").write_text("x")
    done = subprocess.run(["sh", HUB / "collect.sh", exchange, out], capture_output=True, text=True)
    assert done.returncode == 0 and "2 students" in done.stdout, done
    assert {p.parent.name: p.read_text() for p in out.glob("*/*.zip")} == {"nobody": "new", "root": "other"}
    assert (out / "nobody" / "answers.zip").stat().st_mtime > 1e9
    subprocess.run(["sh", HUB / "collect.sh", exchange, tmp_path / "by", "--by-folder"], check=True, capture_output=True)
    assert [str(p.relative_to(tmp_path / "by")) for p in (tmp_path / "by").glob("*/*")] == ["mallory/answers.zip"]


# ------------------------------------------------------------------------------- the wrapper

SINGLEUSER = "import json, os, sys; json.dump([sys.argv[1:], dict(os.environ)], open(os.environ['SEEN'], 'w'))"


@pytest.fixture
def student(tmp_path):
    """A home, a class's repository with a hand-out of one chapter, and a server that only notes how it was started."""
    home, out, git, fake = (tmp_path / name for name in ("home", "out", "class.git", "fake"))
    home.mkdir()

    def singleuser(folder):
        (folder / "jupyterhub").mkdir(parents=True)
        (folder / "jupyterhub" / "__init__.py").touch()
        (folder / "jupyterhub" / "singleuser.py").write_text(SINGLEUSER)

    singleuser(fake)
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", git], check=True)
    env = dict(os.environ, HOME=str(home), PYTHONPATH=str(fake), SEEN=str(tmp_path / "seen"), ATTENTION_REPO=git.as_uri())
    for name in ("JUPYTERHUB_DEFAULT_URL", "COURSE_PYTHON"):
        env.pop(name, None)

    def publish(change=None):
        shutil.rmtree(out, ignore_errors=True)
        subprocess.run([sys.executable, ROOT / "course.py", "handout", out, "03"], check=True, capture_output=True)
        for big in ("docs", "benchmarks", "course_checks", "course_utils/models"):  # which nothing here needs
            shutil.rmtree(out / big)
        singleuser(out)  # where the wrapper's PYTHONPATH leads
        if change:
            path = out / "chapters" / "03_self_attention.ipynb"
            notebook = read(path)
            notebook["cells"].insert(2, {"cell_type": "markdown", "id": "new", "metadata": {}, "source": change})
            path.write_text(json.dumps(notebook))
        theirs = dict(os.environ, GIT_DIR=str(git), GIT_WORK_TREE=str(out))
        for words in (["add", "-A"], ["-c", "user.name=p", "-c", "user.email=p@example.org", "commit", "-q", "-m", "hand-out"]):
            subprocess.run(["git", *words], cwd=out, env=theirs, check=True)

    def start(**more):
        """The server's arguments, its variables, and what the hub's log says."""
        command = [sys.executable, HUB / "attention-singleuser", "--port=1"]
        done = subprocess.run(command, env={**env, **more}, cwd=home, capture_output=True, text=True, check=True)
        return *json.loads((tmp_path / "seen").read_text()), done.stderr

    return SimpleNamespace(home=home, course=home / "attention", publish=publish, start=start)


@LINUX
def test_the_wrapper_starts_a_server_as_the_launcher_does(student):
    student.publish()
    words, env, log = student.start()
    assert not log and words[-1] == "--port=1" and "--LabApp.custom_css=True" in words
    assert f"--LabApp.extra_labextensions_path={student.course / 'course_utils' / 'show' / 'lab'}" in words
    assert env["JUPYTERHUB_DEFAULT_URL"] == "/lab/tree/attention/work/03_self_attention.ipynb"
    assert env["PYTHONPATH"] == str(student.course) and env["COURSE_PYTHON"] == sys.executable and env["OMP_NUM_THREADS"] == "1"
    assert env["IPYTHONDIR"].startswith(str(student.course)) and not env["JUPYTER_RUNTIME_DIR"].startswith(str(student.home))
    os.rmdir(env["JUPYTER_RUNTIME_DIR"])


@LINUX
def test_an_update_arrives_while_answers_stand(student):
    student.publish()
    student.start()
    answer(student.course / "work" / "03_self_attention.ipynb", "03.1", "in work")
    answer(student.course / "chapters" / "03_self_attention.ipynb", "03.2", "in chapters")
    (student.course / "course_utils" / "paths.py").open("a").write("# changed by hand")
    student.publish("A sentence of next week.")
    _, _, log = student.start()
    text = (student.course / "work" / "03_self_attention.ipynb").read_text()
    assert all(words in text for words in ("A sentence of next week.", '"in work"', '"in chapters"')), log
    kept = {path.name for path in (student.course / "work" / ".backup").rglob("*") if path.is_file()}
    assert {"paths.py", "03_self_attention.ipynb"} <= kept and "by hand" not in (student.course / "course_utils" / "paths.py").read_text()
    assert "in chapters" not in (student.course / "chapters" / "03_self_attention.ipynb").read_text()


@LINUX
@pytest.mark.parametrize("before", [False, True], ids=["first start", "later"])
def test_a_repository_that_does_not_answer_keeps_nobody_out(student, before):
    if before:
        student.publish()
        student.start()
    words, env, log = student.start(ATTENTION_REPO="file:///nowhere.git")
    assert words[-1] == "--port=1" and "pull: " in log and "nowhere.git" in log
    assert ("JUPYTERHUB_DEFAULT_URL" in env) == before


# ------------------------------------------------------------------------------- the files


def test_the_files_of_the_hub_say_the_same():
    config = SimpleNamespace(Spawner=SimpleNamespace(), JupyterHub=SimpleNamespace())
    exec((HUB / "jupyterhub_config.py").read_text("utf-8"), {"get_config": lambda: config})
    values = yaml.safe_load((HUB / "zero-to-jupyterhub.yaml").read_text("utf-8"))
    assert values["hub"]["config"]["Spawner"]["args"] == config.Spawner.args
    assert values["singleuser"]["cmd"] == config.Spawner.cmd == ["/srv/attention/.venv/bin/python", "/srv/hub/attention-singleuser"]
    assert set(values["singleuser"]["extraEnv"]) == set(config.Spawner.environment)
    small = yaml.safe_load((HUB / "tljh.yaml").read_text("utf-8"))
    assert {small["limits"]["memory"], values["singleuser"]["memory"]["limit"]} == {config.Spawner.mem_limit}
    assert small["services"]["cull"]["timeout"] == values["cull"]["timeout"] == 7200
    image = (HUB / "Containerfile").read_text("utf-8")
    assert "RUN python course.py setup --torch cpu" in image and image.count("pip install") == 1  # no second list


def test_no_file_of_the_hub_promises_what_was_not_run():
    page = (ROOT / "docs" / "classroom.md").read_text("utf-8")
    for name in ("zero-to-jupyterhub.yaml", "tljh.yaml", "Containerfile"):
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{name}`")]
        assert "not run" in row or "never built" in row
