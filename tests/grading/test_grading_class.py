"""Back to the students and about them: the list of the class, feedback in bulk, answers that are alike, the time that each may take."""

from __future__ import annotations

import csv
import io
import zipfile
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from classroom import RIGHT, read_table

from course_tools.grading import run as run_module
from course_tools.grading.__main__ import main
from course_tools.grading.answer_text import text_digest
from course_tools.grading.by_hand import load_changes
from course_tools.grading.collect import Submission
from course_tools.grading.helper_text import helper_text, may_help
from course_tools.grading.marks import Mark, exercises_of
from course_tools.grading.names import whose
from course_tools.grading.roster import Roster, load_roster
from course_tools.grading.run import Budget
from course_tools.grading.run_folder import GradeRecord, RunFolder
from course_tools.grading.settings import Settings
from course_tools.grading.write_results import write_results

DAY = 86400.0


def record(path: str, when: float | None = None, sha: str = "", **marks: dict[str, Any]) -> GradeRecord:
    """A line of ``grades.jsonl``: what was handed in as ``path``, with marks by exercise (``ex01_1``)."""
    student, identity, label, _, back = whose(PurePosixPath(path))
    plain = {"points": 4, "possible": 4, "stage": "passed", "mistake": None, "message": "", "html": "<p>panel</p>"}
    keys = {name.removeprefix("ex").replace("_", "."): mark for name, mark in marks.items()}
    made = {key: Mark(**{"exercise": key, **plain, **mark}) for key, mark in keys.items()}
    return GradeRecord(path, sha or path, Submission(student, label, path, "", identity, when, back=back), "", made)


def results(
    folder: Path, records: list[GradeRecord], settings: Settings | None = None, roster: Roster | None = None, changes: str = ""
) -> tuple[Path, str]:
    """A run's folder with everything written, and the class report."""
    out = folder / "run"
    out.mkdir(exist_ok=True)
    run = RunFolder(out, True)
    for one in records:
        run.append(one)
    (folder / "marks.csv").write_text(f"student,exercise,points,why\n{changes}", encoding="utf-8")
    write_results(run, settings or Settings(), roster=roster, changes=load_changes(folder / "marks.csv"))
    return out, (out / "report.html").read_text(encoding="utf-8")


def test_the_list_of_the_class(tmp_path):
    """Who handed in nothing has a row and a page; who has more time loses nothing; a name is compared as people compare names."""
    path = tmp_path / "roster.csv"
    path.write_text("Name;ID;Deadline\nADA  Byron;s1;\nBob;s2;1970-01-11T00:00:00+00:00\nCy Roe;s3;\nZoe\u0308;s4;\n", encoding="utf-8")
    late = 9.5 * DAY
    handed_in = [record(f"{name}/01_kernel_regression.ipynb", late, ex01_1={}) for name in ("Ada Byron", "s2", "Zo\u00eb", "Eve")]
    out, page = results(tmp_path, handed_in, Settings(deadline=9.0 * DAY, per_day=0.25), load_roster(path))
    rows = {row["Student"]: (row["01.1 (4)"], row["Total"]) for row in read_table(out / "gradebook.csv")}
    assert rows == {"Ada Byron": ("3", "3"), "s2": ("4", "4"), "Zo\u00eb": ("3", "3"), "Eve": ("3", "3"), "Cy Roe": ("", "0")}
    assert "<li>Cy Roe</li>" in page and "<li>Eve</li>" in page and "<li>Ada Byron</li>" not in page
    assert page.index("Write to 1 who handed in nothing") < page.index("Please look at these yourself</h2>")
    assert any("Nothing of yours was among" in one.read_text("utf-8") for one in out.glob("feedback/*.html"))


def test_who_is_absent_has_the_number_of_canvas_and_no_grade(tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text("Student,ID,SIS Login ID\n    Points Possible,,\nDoe\\, Jane,11,jd\nRoe,12,r\n", encoding="utf-8")
    out, _ = results(tmp_path, [record("doejane_11_911_01_kernel_regression.ipynb", ex01_1={})], None, load_roster(path))
    rows = list(csv.reader(io.StringIO((out / "canvas.csv").read_text(encoding="utf-8"))))
    assert [(row[0], row[1], row[5]) for row in rows[2:]] == [("doejane", "11", "4"), ("Roe", "12", "")]


CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,Homework (9)
    Points Possible,,,,,24
"Doe, Jane",11,u11,jdoe,A,
"Roe, Zoë",12,u12,zroe@example.org,A,
"Poe, Max",13,u13,mpoe,B,
"Coe, Al",14,u14,acoe,B,
"Student, Test",99,,x,A,
"""
MOODLE = """Identifier,Full name,Email address,Status,Grade
Participant 11,Jane Doe,jdoe@example.org,,
Participant 12,Zoë Roe,zroe@example.org,,
Participant 13,Max Poe,mpoe@example.org,,
Participant 14,Al Coe,acoe@example.org,,
"""


@pytest.mark.parametrize(("text", "system"), [(CANVAS, "canvas"), (MOODLE, "moodle")])
def test_a_hub_and_the_list_of_canvas_or_moodle(tmp_path, text, system):
    """A class collected by login, e-mail or name, once with an accent less: the table for the system has everybody's number."""
    (tmp_path / "roster.csv").write_text(text, encoding="utf-8")
    who = {"jdoe": 4, "zoe roe": 3, "mpoe": 2, "stranger": 1}
    handed_in = [record(f"{name}/01_kernel_regression.ipynb", ex01_1={"points": points}) for name, points in who.items()]
    out, page = results(tmp_path, handed_in, None, load_roster(tmp_path / "roster.csv"))
    rows = read_table(out / f"{system}.csv")
    number, grade = ("ID", "Attention 01") if system == "canvas" else ("Identifier", "Grade")
    assert {row[number][-2:]: row[grade] for row in rows} == {"11": "4", "12": "3", "13": "2", "14": ""} | (
        {"": "22"} if system == "canvas" else {}
    )
    if system == "canvas":
        (jane,) = (row for row in rows if row["ID"] == "11")
        assert [jane[name] for name in ("Student", "SIS Login ID", "Section")] == ["Doe, Jane", "jdoe", "A"]
    book = {row["Student"]: row["ID"][-2:] for row in read_table(out / "gradebook.csv")}
    assert {name: book[name] for name in who} == {"jdoe": "11", "zoe roe": "12", "mpoe": "13", "stranger": ""}
    assert "<li>stranger</li>" in page and "Two rows" not in page
    _, page = results(tmp_path, [record("Jane Doe/01_kernel_regression.ipynb", ex01_1={})], None, load_roster(tmp_path / "roster.csv"))
    assert "Two rows for one line of the list" in page


def test_marks_changed_by_hand(tmp_path):
    """They count in every table, weights and lateness as before, and their reason is told; what was to be looked at has been."""
    changes = "ADA,01.1,3,asked at the desk\nbob,01.2,3,on paper\n"
    handed_in = [
        record("ada/01_kernel_regression.ipynb", 9.5 * DAY, ex01_1={"points": 0, "stage": "values", "claimed": True}),
        record("bob/01_kernel_regression.ipynb", None, ex01_1={}),
    ]
    rules = Settings(weights={"01.1": 2}, deadline=9.0 * DAY, per_day=0.25)
    out, page = results(tmp_path, handed_in, rules, None, changes)
    rows = {row["Student"]: row for row in read_table(out / "gradebook.csv")}
    assert (rows["ada"]["01.1 (8)"], rows["ada"]["Total"]) == ("4.5", "4.5") and rows["bob"]["Total"] == "11"
    assert "ada: 01.1. Changed by hand from 0 to 3 of 4 points: asked at the desk" in page and "saved output" not in page
    pages = {one.name[:3]: one.read_text("utf-8") for one in out.glob("feedback/*.html")}
    assert "Changed by hand from 0 to 3 of 4 points: asked at the desk" in pages["ada"] and "<b>4.5</b>" in pages["ada"]
    assert "01.2 Attention pooling" in pages["bob"] and "on paper" in pages["bob"] and "2 of 7 exercises are right" in pages["bob"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ada,01.1,5,x", "line 2: points = '5' must be a number from 0 to 4"),
        ("ada,01.1,much,x", "line 2: points = 'much'"),
        ("ada,01.99,1,x", "line 2: there is no exercise '01.99'"),
        ("ada,01.1,1,", "line 2: the column why is empty"),
        (",01.1,1,x", "line 2: the column student is empty"),
        ("ada,01.1,1,x\nAda,01.1,2,y", "line 3: 'Ada' has a line for 01.1 already"),
        ("eve,01.1,1,x", "line 2: nobody is called 'eve'"),
    ],
)
def test_changes_that_cannot_be_made_are_refused(tmp_path, line, said):
    with pytest.raises(ValueError, match=f"marks.csv: {said}"):
        results(tmp_path, [record("ada/01_kernel_regression.ipynb", ex01_1={})], changes=line)
    (tmp_path / "other.csv").write_text("name,points\n")
    with pytest.raises(ValueError, match="other.csv: the first line has no column student"):
        load_changes(tmp_path / "other.csv")


@pytest.mark.parametrize(
    ("text", "said"),
    [("id,deadline\n1,\n", "nobody is on this list"), ("name,deadline\nada,soon\n", "line 2: 'soon' is no date"), ("", "nobody")],
)
def test_a_list_that_cannot_be_used_is_refused(tmp_path, capsys, text, said):
    (tmp_path / "roster.csv").write_text(text)
    assert main([str(tmp_path), "--out", str(tmp_path / "out"), "--roster", str(tmp_path / "roster.csv")]) == 2
    assert said in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_deadlines_without_a_penalty_are_refused(tmp_path, capsys):
    (tmp_path / "roster.csv").write_text("name,deadline\nada,2027-01-31T00:00:00+00:00\n")
    assert main([str(tmp_path), "--out", str(tmp_path / "out"), "--roster", str(tmp_path / "roster.csv")]) == 2
    assert "[late]" in capsys.readouterr().err


def test_feedback_goes_back_as_the_systems_name_it(tmp_path):
    places = (
        "Jane Doe_4711_assignsubmission_file/01_kernel_regression.ipynb",
        "doejane_LATE_11_911_01_kernel_regression.ipynb",
        "Doe_Jane_jdoe_12345/01_kernel_regression.ipynb",
        "ann/01_kernel_regression.ipynb",
        "ben_01_kernel_regression.ipynb",
    )
    out, _ = results(tmp_path, [record(place, ex01_1={}) for place in places])
    names = {}
    for path in sorted(out.glob("*.zip")):
        with zipfile.ZipFile(path) as archive:
            names[path.name] = archive.namelist()
            assert all(b"panel" in archive.read(name) for name in archive.namelist())
    assert names == {
        "feedback_canvas.zip": ["doejane_LATE_11_911_feedback.html"],
        "feedback_folders.zip": ["Doe_Jane_jdoe_12345/feedback.html", "ann/feedback.html", "ben/feedback.html"],
        "feedback_moodle.zip": ["Jane Doe_4711_assignsubmission_file/feedback.html"],
    }
    before = (out / "feedback_folders.zip").read_bytes()
    results(tmp_path, [])
    assert (out / "feedback_folders.zip").read_bytes() == before


def test_answers_that_are_alike(tmp_path):
    """The same file, one mistake in common, two right answers; not what many write, not one right answer, not what was handed out."""
    usual, blank = {"text": "usual"}, {"text": "stub", "points": 0, "stage": "not attempted"}
    bad = {"text": "odd", "points": 0, "stage": "values"}
    class_of = [record(f"many{i}/a.ipynb", ex01_1=usual, ex01_2=usual) for i in range(12)]
    class_of += [record("ann/a.ipynb", ex01_4=bad), record("ben/a.ipynb", ex01_4=bad)]
    class_of += [record(f"{name}/a.ipynb", ex01_1={"text": "x"}, ex01_2={"text": "y"}) for name in ("cy", "dee")]
    class_of += [record(f"{name}/a.ipynb", ex01_1={"text": "z"}) for name in ("eve", "fay")]
    class_of += [record(f"{name}/a.ipynb", sha="same", ex01_1={}) for name in ("gil", "hal")]
    class_of += [record(f"{name}/a.ipynb", sha="stub", ex01_1=blank) for name in ("ida", "jo")]
    _, page = results(tmp_path, class_of)
    part = page[page.index("Answers that are alike</h2>") :]
    assert "3 pairs" in part
    for line in ("ann and ben: 01.4 (not right)", "cy and dee: 01.1, 01.2", "gil and hal: the same file"):
        assert f"<li>{line}</li>" in part


def test_what_does_not_count_when_texts_are_compared():
    other = RIGHT.replace("query", "q").replace("def gaussian_weights(", "def gaussian_weights(  # mine\n    ").replace("keys", "some_keys")
    assert text_digest(RIGHT, "gaussian_weights") == text_digest("import torch\n" + other, "gaussian_weights") != ""
    assert text_digest(RIGHT, "gaussian_weights") != text_digest(RIGHT.replace("dim=1", "dim=0"), "gaussian_weights") != ""
    assert text_digest("def f(x):\n    return x", "f") == text_digest("def f(:", "f") == ""


def test_nobody_holds_the_class_up(monkeypatch):
    monkeypatch.setattr(run_module, "EACH", 100.0)
    one, other = (Submission(name, "a.ipynb", f"{name}/a.ipynb") for name in ("mallory", "ann"))
    budget = Budget([record("mallory/b.ipynb", ex01_1={"seconds": 60.0})])
    assert budget.admit(one) == one
    budget.spend(record("mallory/c.ipynb", ex01_1={"seconds": 60.0}))
    assert "not tried" in budget.admit(one).problem and budget.admit(other) == other
    assert budget.admit(replace(one, problem="is no notebook")).problem == "is no notebook"


def test_the_versions_that_go_inside_hold_no_later_answer():
    """What takes a wrong helper's place: it runs by itself, and never holds what is being judged."""
    exercises = exercises_of()
    for number, (key, exercise) in enumerate(exercises.items()):
        if not (text := helper_text(key)):
            assert not exercise.runs or key == "08a.3", key
            continue
        space: dict[str, Any] = {"__name__": "given"}
        exec(compile(text, key, "exec"), space)
        assert callable(space["version"]) and "course_checks" not in text, key
        for later in list(exercises)[number + 1 :]:
            name = exercises[later].name
            assert not may_help(key, later) or (f"def {name}(" not in text and f"class {name}(" not in text)
    assert not may_help("11a.5", "11a.7") and may_help("11a.5", "11a.10") and may_help("03.1", "03.2")
