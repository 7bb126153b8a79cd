"""The tables of a run: what spreadsheets, Canvas and Moodle make of them, and what per cents mean."""

from __future__ import annotations

import csv
import io
import re

import pytest
from classroom import RIGHT, WRONG, cell, needs_sandbox, notebook, packed, read_table, with_answer

from course_tools.grading.__main__ import main
from course_tools.grading.class_report import class_report
from course_tools.grading.feedback import feedback
from course_tools.grading.gradebook import canvas, gradebook, moodle
from course_tools.grading.gradebook import cell as csv_cell
from course_tools.grading.marks import exercises_of, extra, places
from course_tools.grading.settings import Settings
from course_tools.grading.students import CountedMark, Student, assigned, settle

ATTENTION = "def attention_scores(query, key):\n    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])\n"
FIRST, THIRD = "01_kernel_regression.ipynb", "03_self_attention.ipynb"


def test_formulas_do_not_reach_a_spreadsheet():
    assert [csv_cell(text) for text in ("=1+1", "+1", "-1", "@x", "\tx", "x=1", 3)] == ["'=1+1", "'+1", "'-1", "'@x", "'\tx", "x=1", 3]
    assert csv_cell("x;=1+1") == "x;'=1+1"  # where a spreadsheet's cells end at a semicolon


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
        12: {"Attention 01": "4", "Attention 03": "4"},
        13: {"Attention 01": "0", "Attention 03": ""},
    }
    worksheet = (tmp_path / "out" / "moodle.csv").read_bytes().decode("utf-8")
    assert as_moodle_reads(worksheet, {4711}, 25) == {4711: 4.0}
    possible, jane, joe = read_table(tmp_path / "out" / "canvas.csv")
    assert list(jane)[:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert "Points Possible" in possible["Student"]
    assert float(possible["Attention 01"]) == points_of("01")
    assert (jane["ID"], jane["Attention 01"], joe["Attention 01"], joe["Attention 03"]) == ("12", "4", "0", "")
    (row,) = read_table(tmp_path / "out" / "moodle.csv")
    assert (row["Identifier"], row["Full name"], row["Grade"]) == ("Participant 4711", "Jane Doe", "4")
    (page,) = (tmp_path / "out" / "feedback").glob("roejoe*")
    assert f"<b>0</b> of {points_of('01'):g} points" in page.read_text(encoding="utf-8")


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


ODD_NAMES = ["Groß, Jürgen", 'Ann "Nan" O\'Hara', "=1+1", "+49 30", "-5", "@sum", "x;=1+1", "a; +1", "＝1+1", "Points Possible"]
ODD_NAMES += ["Øre|=2", "李 雷"]


def student(number: int, name: str, identity: str, points: float | None) -> Student:
    marks = {} if points is None else {"03.1": CountedMark("03.1", points, 4.0, "values", None, "", "", counts=points)}
    return Student(name, identity, marks, [] if marks else ["work.pdf: is no notebook"])


def test_odd_names_and_empty_grades_survive_both_imports():
    """Whatever a student is called, each finds the own grade; nothing handed in is empty and not 0; no cell begins a formula."""
    points = [None if n == 3 else float(n % 5) for n in range(len(ODD_NAMES))]
    most = points_of("03")
    in_canvas = [student(n, name, str(100 + n), points[n]) for n, name in enumerate(ODD_NAMES)]
    in_moodle = [student(n, name, f"Participant {n}", points[n]) for n, name in enumerate(ODD_NAMES)]
    settle(in_canvas, Settings())
    settle(in_moodle, Settings())
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


def points_of(*chapters: str) -> float:
    """Points of the exercises of chapters, without their companions."""
    return sum(e.points for key, e in exercises_of(chapters).items() if not extra(key))


def full_marks(name: str, *places_: str, points: float = 1.0) -> Student:
    """Somebody who handed in these notebooks, ``"03"`` or ``"03, deeper"``, with so many of the points."""
    known = {key: e for key, e in exercises_of().items() if places()[key] in places_}
    marks = {key: CountedMark(key, e.points, e.points, "passed", None, "", "", counts=points * e.points) for key, e in known.items()}
    return Student(name, marks=marks)


def test_per_cents_mean_what_people_think():
    ann, bob, eve, mal = (
        full_marks(*words) for words in (("ann", "01", "03"), ("bob", "01", "03"), ("eve", "06"), ("mal", "01", "03", "06"))
    )
    everybody, settings = [ann, bob, eve, mal], Settings()
    assert {key.split(".")[0] for key in assigned(everybody, settings)} == {"01", "03", "06"}
    settle(everybody, settings)
    assert mal.share == 1.0 and eve.share > 0.2  # never 0.0 beside full marks
    settle([ann, bob, eve], settings)
    assert ann.share == 1.0
    nobody, empty = Student("nobody"), Settings(missing="empty")
    settle([*everybody, nobody], empty)
    assert eve.share == 1.0 and nobody.share is None
    settle([*everybody, nobody], settings)
    assert nobody.share == 0.0
    listed = Settings(exercises=("01", "03.1"))
    assert assigned([eve], listed) == [*(key for key in exercises_of(("01",)) if not extra(key)), "03.1"]
    settle([ann], listed)
    assert ann.share == 1.0 and assigned([ann], listed, ("03",)) == ["03.1"]


@pytest.mark.parametrize(
    ("rules", "only", "most"),
    [
        (Settings(), (), 24),
        (Settings(), ("03",), 24),
        (Settings(exercises=("03", "03, deeper")), ("03",), 29),
        (Settings(exercises=("03.1", "03.2")), (), 10),
        (Settings(weights={"predictions": 0}), ("03",), 20),
        (Settings(weights={"predictions": 0, "03.3": 1, "03": 2}), (), 42),
    ],
)
def test_every_table_says_the_same(rules, only, most):
    """What counts is one rule. A perfect chapter is 100 %; a companion that nobody assigned is shown, and counts in nothing."""
    people = [Student(kind, number, full_marks("", *handed_in).marks) for kind, number, *handed_in in PEOPLE]
    for person in people:
        for key, mark in person.marks.items():
            mark.counts = rules.points(key, mark.points, mark.possible)
    settle(people, rules, only)
    rows = {row["Student"]: row for row in csv.DictReader(io.StringIO(gradebook(people, rules)))}
    possible, grades = as_canvas_reads(canvas(people, rules), {11: "ann", 12: "ben", 13: "cy"}, {})
    worksheet = csv.DictReader(io.StringIO(moodle(people, rules, only)))
    assert possible == {"Attention 03": str(most)} and {float(row["Maximum Grade"]) for row in worksheet} == {most}
    in_moodle = as_moodle_reads(moodle(people, rules, only), {21, 22, 23}, most)
    for number, person in enumerate(people):
        row, page = rows[person.name], feedback(person, rules)
        got = most if "03, deeper" in PEOPLE[number] or most != 29 else 24
        assert (row["Total"], row["Possible"], row["Percent"]) == (str(got), str(most), f"{100 * got / most:.1f}")
        assert f"<b>{got}</b> of {most} points" in page and ("extra" in page) == any(key not in person.counted for key in person.marks)
        assert grades[int(person.identity)] == {"Attention 03": str(got)} if person.canvas else in_moodle[int(person.identity[-2:])] == got
        if got == most:
            assert "Well done!" in page
    report = class_report(people, rules, only)
    assert ("03.8, 03.9" in report) == (most != 29) and f"{100 * most / most:.0f} %" in report
    assert any(head.startswith("03.8 (extra, ") for head in rows["ben"]) == (most != 29)


PEOPLE = [
    ("ann", "11", "03"),
    ("ben", "12", "03", "03, deeper"),
    ("cy", "13", "03"),
    ("dee", "Participant 21", "03"),
    ("eve", "Participant 22", "03", "03, deeper"),
]
