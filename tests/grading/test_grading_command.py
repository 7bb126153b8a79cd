"""The command line, the settings file and the folder of a run: typing errors are named, and nothing of anybody's is overwritten."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from classroom import RIGHT, cell, needs_sandbox, notebook, put, read_table, with_answer

from course_tools.grading import jobs
from course_tools.grading.__main__ import chapters, main
from course_tools.grading.settings import Settings, load_settings
from course_utils.paths import ROOT

ATTENTION = "def attention_scores(query, key):\n    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])\n"
THIRD = "03_self_attention.ipynb"


def test_chapters_as_people_type_them(tmp_path, capsys):
    assert chapters(["3", "08A", "01"]) == ("03", "08a", "01")
    assert chapters([]) == ()
    assert chapters(["7b", "3", "07B"]) == ("07b", "03")
    put(tmp_path / "class", "ada", with_answer(RIGHT))
    for word in ("99", "7", "03.1", "x"):
        assert main([str(tmp_path / "class"), "--out", str(tmp_path / "out"), "--quiet", "--only", word]) == 2
        assert f"no chapter {word} " in capsys.readouterr().err
    assert main([str(tmp_path / "class"), "--out", str(tmp_path / "class" / "grades" / "1")]) == 2
    assert "lies inside" in capsys.readouterr().err
    assert not (tmp_path / "out").exists() and not (tmp_path / "class" / "grades").exists()


def test_nothing_to_grade_is_said(tmp_path, capsys):
    assert main([str(tmp_path / "none"), "--out", str(tmp_path / "out")]) == 2
    assert "neither a folder nor a zip file" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main([str(tmp_path / "empty"), "--out", str(tmp_path / "out")]) == 2
    assert "no notebook" in capsys.readouterr().err


def test_settings(tmp_path):
    file = tmp_path / "rules.toml"
    late = "[late]\ndeadline = 2027-01-31T00:00:00+00:00\nper_day = 0.1\nmost = 0.25\n"
    file.write_text('partial = false\n[weights]\n"03" = 2\n"03.2" = 0.5\n' + late)
    rules = load_settings(file)
    assert rules.weight("03.1") == 2
    assert rules.weight("03.2") == 0.5
    assert rules.weight("04.1") == 1
    file.write_text('[weights]\n"03" = 2\npredictions = 0\n"03, deeper" = 3\n"03.7" = 4\n')
    names = ("03.1", "03.3", "03.7", "03.8", "03.9", "04.1", "04.2")  # 03.3, 03.7, 03.9 and 04.1 are predictions or controls
    assert [load_settings(file).weight(name) for name in names] == [2, 0, 4, 3, 0, 0, 1]
    assert rules.points("03.1", 3, 4) == 0
    assert rules.points("03.1", 4, 4) == 8
    assert Settings().points("03.1", 3, 4) == 3
    deadline = rules.deadline
    kept = [rules.kept(t) for t in (None, deadline, deadline + 1, deadline + 86401, deadline + 10**7)]
    assert kept == pytest.approx([1, 1, 0.9, 0.8, 0.75])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *[("partial = 3", "true or false"), ("x = 1", "unknown setting 'x'"), ("[late]\nper_day = 2", "deadline"), ("a =", "rules.toml")],
        *[('[weights]\n"03" = -1', "03 = -1"), ("late = 3", "tables"), ("weights = [1]", "tables"), ('[weights]\n"3" = 2', "'3'")],
        *[('[weights]\n"03.99" = 2', "03.99"), ('exercises = ["3"]', "'3'"), ('missing = "none"', "none"), ("exercises = 3", "list")],
    ],
)
def test_settings_of_the_wrong_form_are_refused(tmp_path, text, words):
    (tmp_path / "rules.toml").write_text(text)
    with pytest.raises(ValueError, match=words):
        load_settings(tmp_path / "rules.toml")


def test_settings_name_what_was_assigned(tmp_path):
    rules = tmp_path / "rules.toml"
    rules.write_text('exercises = ["03", "06.1"]\nmissing = "empty"\n')
    found = load_settings(rules)
    assert found.assigned("03.2") and found.assigned("06.1") and not found.assigned("06.2") and found.missing == "empty"


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
    (tmp_path / "changes.csv").write_text("student,exercise,points,why\nada,03.1,2,told\n")
    assert main([*command, "--resume", "--only", "1"]) == 0
    assert list(read_table(tmp_path / "out" / "gradebook.csv")[0])[5:7] == ["01.1 (4)", "Total"]
    assert main([*command, "--resume"]) == 0
    assert (tmp_path / "out" / "gradebook.csv").read_bytes() == whole
    assert main([*command, "--resume", "--marks", str(tmp_path / "changes.csv")]) == main([*command, "--resume"]) == 0
    (row,) = read_table(tmp_path / "out" / "gradebook.csv")  # the second of these keeps what the first has changed
    assert (row["01.1 (4)"], row["03.1 (4)"], row["Total"]) == ("4", "2", "6")
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


@pytest.mark.parametrize(
    "file",
    [
        *("course_checks/" + name for name in ("judge.py", "exercises/ch03/order.py", "exercises/ch03/order.md", "exercises/common.py")),
        *("course_tools/" + name for name in ("grading/judging.py", "grading/worker.py", "metadata.py")),
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
