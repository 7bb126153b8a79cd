"""The zip that a learner hands in: what is in it, that grading finds it, and what is refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from course_tools.grading.collect import collect, load
from course_utils.launcher import export as handing_in
from course_utils.launcher.notebooks import answered
from course_utils.paths import ROOT


@pytest.fixture
def chapters(tmp_path):
    folder = tmp_path / "chapters"
    folder.mkdir()
    for name in ("01_kernel_regression", "03_self_attention"):
        shutil.copy(ROOT / "chapters" / f"{name}.ipynb", folder)
    return folder


def answer(path, exercise, text="def f():\n    return 1\n"):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cell = next(c for c in notebook["cells"] if c["metadata"].get("course") == {"exercise": exercise, "role": "answer", "schema": 1})
    cell["source"] = text.splitlines(keepends=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")


def test_only_what_is_answered_and_grading_finds_it(chapters, tmp_path):
    answer(chapters / "03_self_attention.ipynb", "03.2", "# é ü 漢\r\ndef f(): pass")
    target = tmp_path / "class" / "hand in.zip"
    target.parent.mkdir()
    assert handing_in.export(target, "Ada L", chapters.parent) == {"03_self_attention": ["03.2"]}
    (found,) = collect(target.parent)
    assert (found.student, found.problem) == ("Ada L", "")
    notebook = json.loads(load(found))
    assert not any(c.get("outputs") for c in notebook["cells"])
    assert any("é ü 漢" in "".join(c["source"]) for c in notebook["cells"])
    assert zipfile.ZipFile(target).namelist() == ["Ada L/03_self_attention.ipynb"]
    assert target.stat().st_size < 60_000


def test_stubs_count_as_open_even_with_other_line_ends(chapters, tmp_path):
    path = chapters / "03_self_attention.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert answered(notebook) == []
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")
    assert answered(notebook) == []
    del notebook["metadata"]["course"]
    assert len(answered(notebook)) == 7  # nothing to compare with: all


@pytest.mark.parametrize("name", ["", "a/b", "..", " x", "x" * 81, "a\nb", "con:"])
def test_names_that_cannot_be_folders(chapters, tmp_path, name):
    answer(chapters / "03_self_attention.ipynb", "03.2")
    with pytest.raises(ValueError, match="cannot be the name of a folder"):
        handing_in.export(tmp_path / "a.zip", name, chapters.parent)
    assert not (tmp_path / "a.zip").exists()


def test_what_is_refused_writes_nothing(chapters, tmp_path):
    target = tmp_path / "a.zip"
    with pytest.raises(ValueError, match="no exercise is answered yet"):
        handing_in.export(target, "ada", chapters.parent)
    answer(chapters / "03_self_attention.ipynb", "03.2")
    (chapters / "01_kernel_regression.ipynb").write_text("{ broken")
    with pytest.raises(ValueError, match="01_kernel_regression.ipynb cannot be read"):
        handing_in.export(target, "ada", chapters.parent)
    assert not target.exists()
    (chapters / "01_kernel_regression.ipynb").unlink()
    target.write_text("mine")
    with pytest.raises(ValueError, match="exists already"):
        handing_in.export(target, "ada", chapters.parent)
    assert target.read_text() == "mine"


def test_the_command(chapters, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="no exercise is answered yet"):
        handing_in.write_zip(None, "Ada L", tmp_path)
    answer(chapters / "01_kernel_regression.ipynb", "01.1")
    handing_in.write_zip(None, "Ada L", tmp_path)
    said = capsys.readouterr().out
    assert "01_kernel_regression: 01.1" in said
    assert "1 answer of Ada L is in" in said
    assert (tmp_path / "answers_Ada_L.zip").exists()
    handing_in.write_zip("my answers", "Ada L", tmp_path)
    assert (tmp_path / "my answers.zip").exists()


def test_python_alone_is_enough(tmp_path):
    """A learner hands in with the system's Python, which has no library of ours."""
    for name in ("course.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "course_utils", tmp_path / "course_utils", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "chapters").mkdir()
    path = shutil.copy(ROOT / "chapters" / "03_self_attention.ipynb", tmp_path / "chapters")
    answer(Path(path), "03.2")
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    for given, works in ((["-c", "import torch"], False), (["course.py", "export", "in.zip", "--name", "Ada"], True)):
        done = subprocess.run([sys.executable, "-S", *given], cwd=tmp_path, env=env, capture_output=True, text=True)
        assert (done.returncode == 0) == works, done.stderr
        assert "Traceback" not in done.stderr or given[0] == "-c"
    assert zipfile.ZipFile(tmp_path / "in.zip").namelist() == ["Ada/03_self_attention.ipynb"]
    again = subprocess.run([sys.executable, "-S", "course.py", "export", "in.zip"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert again.returncode == 2 and "Nothing was written: in.zip exists already" in again.stderr


def test_the_learners_copies_come_first(chapters, tmp_path):
    (tmp_path / "work").mkdir()
    mine = Path(shutil.copy(chapters / "03_self_attention.ipynb", tmp_path / "work"))
    shutil.copy(chapters / "01_kernel_regression.ipynb", tmp_path / "work")
    answer(chapters / "03_self_attention.ipynb", "03.2", "# in chapters")
    answer(chapters / "01_kernel_regression.ipynb", "01.1", "# in chapters")
    answer(mine, "03.1", "# in work")
    notebook = json.loads(mine.read_text(encoding="utf-8"))
    note = {"cell_type": "markdown", "id": "n", "metadata": {"course": {"role": "note"}}, "source": "The task has changed."}
    notebook["cells"].insert(5, note)  # as an update leaves it
    mine.write_text(json.dumps(notebook), encoding="utf-8")
    target = tmp_path / "class" / "a.zip"
    target.parent.mkdir()
    assert handing_in.export(target, "Ada", tmp_path) == {"01_kernel_regression": ["01.1"], "03_self_attention": ["03.1"]}
    found = collect(target.parent)
    assert len(found) == 2 and not any(item.problem for item in found) and b"# in work" in b"".join(load(item) for item in found)
