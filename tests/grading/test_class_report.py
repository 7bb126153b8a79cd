"""The class report and the pages of students: what they say, in which order, of whom."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from classroom import RIGHT, SAID, WRONG, cell, grade, needs_sandbox, notebook, put, with_answer

from course_tools.grading import resubmissions as resubmissions_module
from course_tools.grading import students as students_module
from course_tools.grading.collect import Submission
from course_tools.grading.marks import Mark, exercises_of
from course_tools.grading.run_folder import GradeRecord, RunFolder
from course_tools.grading.settings import Settings
from course_tools.grading.students import students_of
from course_tools.grading.write_results import write_results


def new_run(folder: Path) -> RunFolder:
    (folder / "run").mkdir()
    return RunFolder(folder / "run", False)


@needs_sandbox
def test_the_report_says_what_to_look_at_and_how_it_went_on(tmp_path):
    check = cell('result = check("01.1", gaussian_weights)', "01.1", "check") | {"outputs": [SAID]}
    for name, book in {"ann": with_answer(WRONG), "ben": with_answer(WRONG), "lia": notebook(cell(WRONG, "01.1"), check)}.items():
        put(tmp_path / "class", name, book)
    grade(tmp_path / "class", tmp_path / "out")
    put(tmp_path / "class", "ann", with_answer(RIGHT))
    rows = grade(tmp_path / "class", tmp_path / "out", "--resume")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    look, tomorrow = page.index("Please look at these yourself</h2>"), page.index("What to talk about tomorrow</h2>")
    assert (
        look < page.index("lia: 01.1") < tomorrow < page.index("normalised over the queries", tomorrow) < page.index("Handed in again</h2>")
    )
    first = page.index("First of all</h2>")
    assert first < page.index("Talk about 01.1") < page.index("what the machine cannot decide") < look
    assert page.index("</span> 0.0<") < page.index("</span> 4.0<")
    assert "ben" not in page[tomorrow : page.index("Students</h2>")]  # examples have no names
    assert {student: row["01.1"] for student, row in rows.items()} == {"ann": "4", "ben": "0", "lia": "0"}
    assert len(list(RunFolder(tmp_path / "out", True).records())) == 4 and json.dumps(rows)


def record(student: str, name: str, when: float | None, marks: dict[str, dict[str, Any]], sha: str = "", problem: str = "") -> GradeRecord:
    """A line of ``grades.jsonl`` as grading writes it."""
    plain = {"possible": 4, "stage": "values", "mistake": None, "message": "", "html": ""}
    made = {key: Mark(**{"exercise": key, **plain, **mark}) for key, mark in marks.items()}
    submission = Submission(student, name, name, handed_in=when)
    return GradeRecord(student + name, sha or f"{name}{when}", submission, problem, made)


def test_examples_have_no_names_and_the_rows_add_up(tmp_path):
    """Somebody who writes the own name into an answer is not shown as the example, or else without the name."""

    def wrong(text: str) -> dict:
        return {
            "points": 0,
            "mistake": "normalised over the queries",
            "html": f"<div><b>Mistake.</b> Normalised over the queries. {text}</div>",
        }

    run = new_run(tmp_path)
    passed, blank = {"points": 4, "stage": "passed"}, {"points": 0, "stage": "not attempted"}
    half = {"points": 0, "mistake": "one half missing", "html": "<p class='planck'>by PLANCK</p>"}
    for student, marks in {
        "Ada Byron": {"01.1": wrong("stopped at ada_file"), "01.2": {"points": 0, "follows": "01.1"}},
        "Zoe Zuse": {"01.1": wrong("the columns sum to 1"), "01.2": {"points": 1}},
        "Max Planck": {"01.1": passed, "01.2": half},
        "Eve": {"01.1": {"points": 0, "mistake": "tampering"}, "01.2": passed},
        "Bo": {"01.1": blank, "01.2": blank},
    }.items():
        run.append(record(student, "01.ipynb", 0.0, marks))
    run.append(record("Pia", "scan.pdf", None, {}, problem="is no notebook"))
    write_results(run, Settings())
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    look, tomorrow = page.index("Please look at these yourself</h2>"), page.index("What to talk about tomorrow</h2>")
    assert "5 of 6 students" in page and "the columns sum to 1" in page and "ada_file" not in page
    assert "<p class='planck'>by …</p>" in page and "(2 of 4 who tried)" in page
    assert all(look < page.index(words) < tomorrow for words in ("Eve: 01.1", "<li>Bo</li>", "Pia: scan.pdf"))
    assert not any(name in page[tomorrow : page.index("Students</h2>")] for name in ("Ada", "Zoe", "Planck", "PLANCK", "Eve", "tampering"))
    found = re.findall(r"<th scope='row'>(01\.\d)[^<]*</th>(.*?)</tr>", page)
    rows = {key: re.findall(r"<td class='n'>(\d+)</td>", row) for key, row in found}
    assert rows == {"01.1": ["5", "1", "0", "3", "1"], "01.2": ["5", "1", "1", "2", "1"]}
    assert all(handed_in == str(sum(map(int, kinds))) for handed_in, *kinds in rows.values())
    assert "<i>builds on a wrong answer (1)</i><br><i>other numbers (1)</i>" in page


def test_hand_ins_stand_in_the_order_of_their_dates(tmp_path):
    """However the files are called and whenever they were graded; what was handed in twice unchanged is one hand-in."""
    day = 86400.0
    run = new_run(tmp_path)
    for name, when, points in (("01 (1).ipynb", 10 * day, 2), ("01.ipynb", 8 * day, 0), ("01_final.ipynb", 13 * day, 4)):
        run.append(record("ada", name, when, {"01.1": {"points": points}}))
    for name in ("01.ipynb", "copy.ipynb"):
        run.append(record("bob", name, day, {"01.1": {"points": 1}}, sha="same"))
    for points in (1, 3):  # the same file of Canvas, graded again with --resume
        run.append(record("eve", "01.ipynb", None, {"01.1": {"points": points}}, sha=str(points)))
    students = {s.name: s for s in students_of(run, Settings())}
    series = {name: [sum(hand_in.points.values()) for hand_in in s.history["01"]] for name, s in students.items()}
    assert series == {"ada": [0, 2, 4], "bob": [1], "eve": [1, 3]}
    assert students["ada"].marks["01.1"].times == 3 and students["ada"].marks["01.1"].points == 4
    write_results(run, Settings())
    again = (tmp_path / "run" / "report.html").read_text(encoding="utf-8").split("Handed in again</h2>")[1]
    assert re.findall(r"</span> (\d\.\d)</span>", again) == ["0.5", "2.5", "3.5"] and "right in the end" in again
    assert "01.1 1 of 2" in again


def test_a_chapter_and_its_companion_are_not_handed_in_again(tmp_path, monkeypatch):
    """They are two notebooks of one chapter; each has a history of its own."""
    places = {key: "01, deeper" if key == "01.8" else key.split(".")[0] for key in exercises_of()}
    monkeypatch.setattr(students_module, "places", lambda: places)
    monkeypatch.setattr(resubmissions_module, "places", lambda: places)
    run = new_run(tmp_path)
    run.append(record("ada", "01_a.ipynb", 1.0, {"01.1": {"points": 2}}))
    run.append(record("ada", "01_more.ipynb", 2.0, {"01.8": {"points": 1}}))
    (ada,) = students_of(run, Settings())
    assert {place: len(series) for place, series in ada.history.items()} == {"01": 1, "01, deeper": 1} and len(ada.marks) == 2
    run.append(record("ada", "01_more (1).ipynb", 3.0, {"01.8": {"points": 3}}))
    write_results(run, Settings())
    again = (tmp_path / "run" / "report.html").read_text(encoding="utf-8").split("Handed in again</h2>")[1]
    assert (
        f"01, deeper ({exercises_of()['01.8'].points:g} points)" in again
        and "01.8 1 of 1" in again
        and "01.1" not in again.split("</p>")[1]
    )


def test_pages_can_be_read_with_a_keyboard_and_on_a_phone(tmp_path):
    """One h1, no level left out, headings of columns and rows, every link inside the page leads somewhere, tables scroll by themselves."""
    run = new_run(tmp_path)
    panel = "<div class='course-panel'><div class='head'>✗ 01.1 Weights: not yet</div></div>"
    for number in range(2):
        marks = {key: {"points": number, "html": panel} for key in ("01.1", "01.2")}
        run.append(record("ada", f"{number}.ipynb", float(number), marks))
    write_results(run, Settings())
    for path in (tmp_path / "run" / "report.html", *(tmp_path / "run" / "feedback").glob("*.html")):
        page = path.read_text(encoding="utf-8")
        levels = [int(level) for level in re.findall(r"<h([1-6])", page)]
        assert levels[0] == 1 and levels.count(1) == 1 and all(b <= a + 1 for a, b in zip(levels, levels[1:], strict=False)), levels
        assert "<html lang='en'>" in page and "<title>" in page and "<th>" not in page
        assert page.count("<table") == page.count("<div class='scroll' tabindex='0'")
        assert set(re.findall(r"href='#([^']+)'", page)) <= set(re.findall(r"id='([^']+)'", page))
        assert path.name == "report.html" or "<h3 class='head'>✗ 01.1 Weights: not yet</h3>" in page
