"""What comes out of the sandbox, read with suspicion: floods, forgeries, claims, and the course's own code."""

from __future__ import annotations

import importlib
import json

import pytest
from classroom import RIGHT, SAID, WRONG, cell, mark_of, marks_of, needs_sandbox, notebook, with_answer

from course_tools.grading.marks import Limits, exercises_of
from course_tools.grading.notebook_grader import grade_notebook

FLOODS = {
    "a cell": "for _ in range(40):\n    print('x' * 2**22)\n" + WRONG,
    "a cell, by the system": "import os\nfor _ in range(40):\n    os.write(1, b'x' * 2**22)\n    os.write(2, b'x' * 2**22)\n" + WRONG,
    "the answer": WRONG.replace("    return", "    for _ in range(20):\n        print('x' * 2**20)\n    return"),
    "an error of the answer": "def gaussian_weights(query, keys, bandwidth):\n    raise ValueError('x' * 10**8)\n",
    "an error of a cell": "raise ValueError('x' * 10**8)\n",
    "the name of an error": "def gaussian_weights(query, keys, bandwidth):\n    raise type('x' * 10**7, (ValueError,), {})('y')\n",
    "a long line": "def gaussian_weights(query, keys, bandwidth): raise ValueError(" + "'x' " * 100_000 + ")\n",
    "the name of a result": "def gaussian_weights(query, keys, bandwidth): return type('x' * 10**7, (), {})()\n",
    "many lines for ever": "def gaussian_weights(query, keys, bandwidth):\n    while True:\n        print('x' * 1000)\n",
}


@needs_sandbox
@pytest.mark.parametrize("kind", FLOODS)
def test_a_flood_of_text_stays_small(box, kind):
    mark = mark_of(box, FLOODS[kind])
    assert mark.points == 0, mark.message[:300]
    assert mark.mistake not in ("judge stumbled", "tampering"), mark.message[:300]
    assert len(json.dumps(vars(mark))) < 20_000


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
          "likeness": []}
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
        "import ast, inspect, textwrap\nfrom course_utils.models import positions as home\n"
        "tree = ast.parse(inspect.getsource(home.rope))\ntree.body[0].body.insert(1, ast.parse('_unused = None').body[0])\n"
        "space = {**vars(home), '__name__': 'mine'}\nexec(compile(ast.fix_missing_locations(tree), 'mine', 'exec'), space)\n"
        "rotate = space['rope']\n"
    )
    graded = grade_notebook(box, with_answer(taken, "05.4"), exercises_of(("05",)), "secret", Limits(20.0))
    assert graded.marks["05.4"].copied and graded.marks["05.4"].points > 0
    plain = marks_of(box, with_answer(RIGHT))["01.1"]
    assert plain.points == 4 and not plain.copied


@pytest.mark.parametrize("module", ["course_utils.models.kernels", "course_checks.observe", "course_tools.grading.cells"])
def test_the_courses_own_code_is_no_answer(module):

    from course_tools.grading.worker import is_ours

    found = importlib.import_module(module)
    ours = [value for value in vars(found).values() if getattr(value, "__module__", "") == module and callable(value)]
    assert ours
    assert all(map(is_ours, ours))
    disguised = next(value for value in ours if hasattr(value, "__code__") and not value.__code__.co_freevars)
    assert is_ours(type(disguised)(disguised.__code__, {"__name__": "__main__"}))  # the same code under another name
