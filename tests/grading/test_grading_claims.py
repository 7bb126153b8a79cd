"""Claims of the students' own: run in the sandbox as they stand and with their change, and shown to the instructor."""

import re

import pytest
from classroom import cell, grade, misconception_cell, needs_sandbox, notebook, put

from course_checks.engine import examine
from course_checks.lookup import find
from course_checks.misconceptions import source_of
from course_tools.grading.marks import Limits, exercises_of
from course_tools.grading.notebook_grader import grade_notebook
from course_tools.grading.sandbox import Sandbox
from course_utils.paths import ROOT
from tests.answers import run

pytestmark = needs_sandbox
CLAIM = find("00.8")
TEXT = source_of(CLAIM.right)


def mark(box: Sandbox, *cells: str):
    book = notebook(*(cell(text) for text in cells[:-1]), cell(cells[-1], "00.8"))
    return grade_notebook(box, book, exercises_of(("00",)), "secret", Limits(20.0)).marks["00.8"]


def test_a_claim_and_every_mistake_are_judged_as_in_the_notebook(box):
    assert mark(box, TEXT).passed
    for misconception in CLAIM.misconceptions:
        found = mark(box, misconception_cell(CLAIM, misconception))
        assert found.mistake == misconception.name and found.points < 6 and not found.claim, found.message


def test_a_claim_may_use_what_other_cells_define(box):
    helper = "def spread(x):\n    return x.std()"
    claim = '''def claim():
    """Dividing by the spread makes numbers of any size as wide as 1."""
    x = 7 * torch.randn(1000)
    y = x / spread(x)
    assert 0.9 < y.std() < 1.1
    return """
    - y = x / spread(x)
    + y = x
    """'''
    assert mark(box, helper, claim).passed


@pytest.mark.parametrize("line", ["import os; os._exit(0)", "while True: pass", "raise SystemExit", "raise KeyboardInterrupt"])
def test_a_change_that_ends_the_process_wins_nothing(box, line):
    change = f"    + {line}\n"
    found = mark(box, TEXT.replace("    + scores = query @ key.mT\n", change))
    assert not found.passed and found.points <= 2, found.message


def test_the_instructor_reads_the_claims_that_passed(tmp_path):
    """The program says what it cannot judge; what a student writes stays text."""
    hostile = TEXT.replace("no key with", "</pre><script>alert(1)</script> no key with")
    put(tmp_path / "class", "Ada", notebook(cell(hostile, "00.8")), "00_claims_and_changes.ipynb")
    for name in ("Bob", "Cy"):  # they share a mistake, so there is a clinic
        unsaid = notebook(cell(TEXT.replace(CLAIM.right.__doc__, "See above."), "00.8"))
        put(tmp_path / "class", name, unsaid, "00_claims_and_changes.ipynb")
    grade(tmp_path / "class", tmp_path / "out")
    clinic = (tmp_path / "out" / "clinic.ipynb").read_text("utf-8")
    assert "def claim()" in clinic and "new_input(" not in clinic.split("def claim()")[-1]
    report = (tmp_path / "out" / "report.html").read_text("utf-8")
    part = report.split("Claims that hold, and fall with their change")[1].split("<h2")[0]
    assert "does the change take away that cause and no other?" in part and "<summary>Ada</summary>" in part and "Bob" not in part
    assert "&lt;script&gt;" in part and "<script>" not in report


def test_the_model_claims_of_the_teaching_page_pass():
    """Each holds and falls; with a change that changes nothing, it does not."""
    texts = re.findall(r"(?ms)^```python\n(.*?)^```$", (ROOT / "docs" / "experiments.md").read_text("utf-8"))
    assert len(texts) == 3
    for text in texts:
        result = examine(CLAIM, run("00.8", text, "a model claim"))
        assert result.passed, str(result)
        same = re.sub(r"(?m)^    - (.*)\n    \+ .*$", r"    - \1\n    + \1  # nothing", text)
        assert examine(CLAIM, run("00.8", same, "a change of nothing")).mistake == "the claim does not depend on it"
