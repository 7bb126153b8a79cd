"""What a submission may use up, what ends with it, and what the report says of claims, copies and per cents."""

from __future__ import annotations

import csv
import inspect
import io
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from classroom import RIGHT, WRONG, cell, notebook, with_answer

from course_checks.lookup import find
from course_tools.grading import wire
from course_tools.grading.__main__ import main
from course_tools.grading.bubblewrap import why_not
from course_tools.grading.collect import Submission
from course_tools.grading.likeness import likeness
from course_tools.grading.marks import Limits, Mark, exercises_of
from course_tools.grading.notebook_grader import grade_notebook
from course_tools.grading.run_folder import GradeRecord, RunFolder
from course_tools.grading.sandbox import Sandbox, SandboxError
from course_tools.grading.settings import Settings, load_settings
from course_tools.grading.students import CountedMark, Student, assigned, share, students_of
from course_tools.grading.write_results import write_results
from course_utils.paths import ROOT


def new_run(folder: Path) -> RunFolder:
    (folder / "run").mkdir()
    return RunFolder(folder / "run", False)


needs_sandbox = pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")
SAID = {"output_type": "display_data", "metadata": {}, "data": {"text/plain": "✓ 01.1 Gaussian weights: right (4 of 4 points)"}}


@pytest.fixture(scope="module")
def box():
    with Sandbox(memory=2**30) as sandbox:
        yield sandbox


def marks_of(sandbox, book: bytes, **limits):
    graded = grade_notebook(sandbox, book, exercises_of(("01",)), "secret", Limits(**{"timeout": 20.0, **limits}))
    assert not graded.problem
    return graded.marks


# ---- what nobody may use up ------------------------------------------------------------------------------------

HIDDEN_MEMORY = """
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
shm, sem, msg, memfd = (29, 64, 68, 319) if platform.machine() == "x86_64" else (194, 190, 186, 279)
got = {"shm": libc.syscall(shm, 0, 2**28, 0o1600), "sem": libc.syscall(sem, 0, 1, 0o1600), "msg": libc.syscall(msg, 0, 0o1600),
       "memfd": libc.syscall(memfd, b"x", 0)}
assert all(n == -1 for n in got.values()), got
raise LookupError("nothing to hide in")
"""
MANY_FILES = """
made = 0
try:
    for made in range(300_000):
        open(f"/scratch/{made}", "w").close()
except OSError:
    pass
raise LookupError(f"made {made}")
"""
LEFT_FILES = """
import os
raise LookupError("left " + str(sorted(os.listdir("/scratch")) + sorted(os.listdir("/dev/shm")) + sorted(os.listdir("/home/student"))))
"""


@needs_sandbox
def test_memory_of_the_kernel_is_refused(box):
    mark = marks_of(box, with_answer(HIDDEN_MEMORY))["01.1"]
    assert "nothing to hide in" in mark.message, mark.message


@needs_sandbox
def test_files_are_counted_and_end_with_their_exercise(box):
    notes = "open('/home/student/note', 'w').close()\nopen('/dev/shm/note', 'w').close()\n"
    marks = marks_of(box, notebook(cell(notes + MANY_FILES, "01.1"), cell(LEFT_FILES, "01.2")))
    made = int(marks["01.1"].message.split("made ")[1].split()[0])
    assert 0 < made < 10_000
    assert "left []" in marks["01.2"].message


@needs_sandbox
def test_a_busy_neighbour_costs_no_mark(box):
    """An answer that needs two seconds of the processor while every core is burnt by others."""
    slow = RIGHT.replace(
        "    return",
        "    import time\n    until = time.process_time() + 0.15\n    while time.process_time() < until:\n        pass\n    return",
    )
    spin = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4 * (os.cpu_count() or 1))]
    try:
        mark = marks_of(box, with_answer(slow), timeout=60.0)["01.1"]
    finally:
        for process in spin:
            process.kill()
            process.wait()
    assert mark.points == 4, mark.message


def test_a_sandbox_that_dies_at_start_is_tried_again_and_named(monkeypatch):
    started = []

    def launch(self, control, errors):
        started.append(1)
        return subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import sys, os; print('Fontconfig error: no default', file=sys.stderr); "
                "print('the true cause', file=sys.stderr); os.kill(os.getpid(), 9)",
            ],
            stderr=errors,
        )

    monkeypatch.setattr(Sandbox, "_launch", launch)
    box = Sandbox()
    with pytest.raises(SandboxError, match="three times .killed by signal 9.: the true cause"):
        box._start()
    assert len(started) == 3


@needs_sandbox
def test_workers_end_with_the_run(tmp_path):
    for number in range(12):
        (tmp_path / "class" / f"s{number}").mkdir(parents=True)
        (tmp_path / "class" / f"s{number}" / "01_kernel_regression.ipynb").write_bytes(with_answer(RIGHT))
    process = subprocess.Popen(
        [sys.executable, "-m", "course_tools.grading", str(tmp_path / "class"), "--out", str(tmp_path / "out"), "--quiet", "--jobs", "2"],
        cwd=ROOT,
        start_new_session=True,
        env={**os.environ, "GRADING_TEST": str(tmp_path)},
    )
    until = time.monotonic() + 120
    while time.monotonic() < until and not ((tmp_path / "out" / "grades.jsonl").exists()):
        time.sleep(0.05)
    process.kill()
    process.wait()

    def left() -> list[str]:
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    if f"GRADING_TEST={tmp_path}".encode() in (entry / "environ").read_bytes():
                        found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:120])
                except OSError:
                    continue
        return found

    until = time.monotonic() + 60
    while left() and time.monotonic() < until:
        time.sleep(0.2)
    assert left() == []


# ---- forged and endless reports ----------------------------------------------------------------------------------

FORGED = """
import os, sys
from course_tools.grading import wire
from course_checks.observation import Observation
from course_utils.paths import ROOT
frame = sys._getframe()
while frame and frame.f_code.co_name != "_in_a_child":
    frame = frame.f_back
seen = Observation(SEEN).to_plain()
report = {"problems": [], "status": "observed", "seen": [seen] * len(frame.f_locals["task"].cases), "line": "", "number": None,
          "likeness": ""}
data = frame.f_locals["seal"] + wire.pack(report)
while data:
    data = data[os.write(frame.f_locals["writer"], data):]
os._exit(0)
"""
LIES = (
    "type='tuple of 2', value=5",
    "type='list of 1', value=[]",
    "value={'object': 'x' * 7_000_000}",
    "value=None",
    "value={'a': {'b': None}}",
    "type='x' * 500_000, printed='y' * 500_000",
    "value=[0] * 300_000",
    "status='raised'",
    "changed=('query',) * 5",
)


@needs_sandbox
@pytest.mark.parametrize("lie", LIES)
def test_forged_reports_win_nothing_and_blame_nobody(box, lie):
    mark = marks_of(box, with_answer(FORGED.replace("SEEN", lie)))["01.1"]
    assert mark.points == 0 and "fault of the course" not in mark.message and len(mark.html) < 200_000 and len(mark.message) <= 2000
    assert mark.stage != "raised" or mark.mistake in ("tampering", "not an observation"), (mark.mistake, mark.message)


# ---- claims, copies, per cents -----------------------------------------------------------------------------------


@needs_sandbox
def test_what_the_saved_output_claims(box):
    """A claim has everything above the check run, and gives no points; what is still wrong is marked for the report."""
    check = cell('result = check("01.1", gaussian_weights)', "01.1", "check")
    book = [cell("two = 3"), cell("get_ipython().user_ns['t' + 'wo'] = 2"), cell(RIGHT.replace("** 2)", "** two)"), "01.1")]
    assert marks_of(box, notebook(*book, check | {"outputs": [SAID]}))["01.1"].points == 4
    assert marks_of(box, notebook(*book, check))["01.1"].points < 4  # nobody can tell from the text that the second cell matters
    assert marks_of(box, notebook(*book[1:], check))["01.1"].points == 4  # a name that nobody defines: everything is run
    lie = marks_of(box, notebook(cell(WRONG, "01.1"), check | {"outputs": [SAID]}))["01.1"]
    assert lie.points == 0 and lie.claimed


@needs_sandbox
def test_the_courses_own_code_is_recognised(box):
    taken = (
        "import inspect, importlib, textwrap\nfrom course_utils.models import kernels\n"
        "exec(textwrap.dedent(inspect.getsource(kernels.gaussian_weights)), vars(kernels) | globals(), space := {})\n"
        "gaussian_weights = space['gaussian_weights']\n"
    )
    reference = find("01.1").reference
    marks = marks_of(box, with_answer(taken)) if reference.__module__.startswith("course_utils.models") else None
    assert marks is None or marks["01.1"].copied or not likeness(reference)
    plain = marks_of(box, with_answer(RIGHT))["01.1"]
    assert plain.points == 4 and not plain.copied


def test_likeness_sees_through_comments_docstrings_and_layout():
    source = inspect.getsource(wire.read)
    space = dict(vars(wire))
    exec(source.replace('"""', '"""Another text. ', 1), space)
    assert likeness(wire.read) == likeness(space["read"]) != ""
    assert likeness(wire.read) != likeness(wire.pack) and likeness(lambda x: x) == ""


def full(name: str, *chapters: str) -> Student:
    marks = {
        key: CountedMark(key, e.points, e.points, "passed", None, "", "", counts=e.points) for key, e in exercises_of(chapters).items()
    }
    return Student(name, marks=marks)


def test_per_cents_mean_what_people_think():
    settings = Settings()
    ann, eve, mal = full("ann", "01", "03"), full("eve", "06"), full("mal", "01", "03", "06", "07a", "09")
    everybody = assigned([ann, full("bob", "01", "03"), eve, mal], settings)
    assert {key.split(".")[0] for key in everybody} == {"01", "03", "06"}
    assert share(eve, everybody, settings) > 0.2  # never 0.0 beside full marks
    alone = assigned([ann, full("bob", "01", "03"), eve], settings)
    assert share(ann, alone, settings) == 1.0
    assert share(eve, everybody, Settings(missing="empty")) == 1.0
    assert share(Student("nobody"), everybody, Settings(missing="empty")) is None and share(Student("nobody"), everybody, settings) == 0.0
    listed = Settings(exercises=("01", "03.1"))
    assert assigned([eve], listed) == [*exercises_of(("01",)), "03.1"] and share(ann, assigned([eve], listed), listed) == 1.0
    assert share(full("max", "01"), list(exercises_of(("01",))), settings, ("01",)) == 1.0


def test_settings_name_what_was_assigned(tmp_path):
    rules = tmp_path / "rules.toml"
    rules.write_text('exercises = ["03", "06.1"]\nmissing = "empty"\n')
    found = load_settings(rules)
    assert found.assigned("03.2") and found.assigned("06.1") and not found.assigned("06.2") and found.missing == "empty"
    for text, word in (('exercises = ["3"]', "'3'"), ('missing = "none"', "none"), ("exercises = 3", "list")):
        rules.write_text(text)
        with pytest.raises(ValueError, match=word):
            load_settings(rules)


@needs_sandbox
def test_the_report_says_what_to_look_at_and_how_it_went_on(tmp_path):
    check = cell('result = check("01.1", gaussian_weights)', "01.1", "check") | {"outputs": [SAID]}
    for name, book in {"ann": with_answer(WRONG), "ben": with_answer(WRONG), "lia": notebook(cell(WRONG, "01.1"), check)}.items():
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "01_kernel_regression.ipynb").write_bytes(book)
    arguments = [str(tmp_path / "class"), "--out", str(tmp_path / "out"), "--quiet", "--seed", "fixed"]
    assert main(arguments) == 0
    (tmp_path / "class" / "ann" / "01_kernel_regression.ipynb").write_bytes(with_answer(RIGHT))
    assert main([*arguments, "--resume"]) == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    look, tomorrow = page.index("Please look at these yourself</h2>"), page.index("What to talk about tomorrow</h2>")
    assert look < page.index("lia: 01.1") < tomorrow < page.index("normalised over the queries") < page.index("Handed in again</h2>")
    assert page.index("</span> 0.0<") < page.index("</span> 4.0<")
    assert "ben" not in page[tomorrow : page.index("Students</h2>")]  # examples have no names
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / "gradebook.csv").read_text(encoding="utf-8-sig"))))
    assert {row["Student"]: row["01.1 (4)"] for row in rows} == {"ann": "4", "ben": "0", "lia": "0"}
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


def test_pages_can_be_read_with_a_keyboard_and_on_a_phone(tmp_path):
    """One h1, no level left out, headings of columns and rows, every link inside the page leads somewhere, tables scroll by themselves."""
    run = new_run(tmp_path)
    panel = "<div style='x'><div style='font-weight:600'>✗ 01.1 Weights: not yet</div></div>"
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
        assert path.name == "report.html" or "<h3>✗ 01.1 Weights: not yet</h3>" in page
