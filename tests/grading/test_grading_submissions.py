"""Forty notebooks as students hand them in, with blanks, mistakes and habits of all kinds: grading says what the notebook's check said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from classroom import blank, cell, needs_sandbox, notebook, solved

from course_tools.grading.__main__ import main
from course_tools.grading.run_folder import RunFolder
from course_tools.metadata import tag_of
from course_utils.paths import ROOT

pytestmark = needs_sandbox
FULL = os.environ.get("COURSE_FULL") == "1"
FILES = {"01": "01_kernel_regression", "03": "03_self_attention", "04": "04_multi_head_attention", "06": "06_masking"}
PARTS = {  # what these notebooks hold of a chapter
    "01": ("01.1", "01.2", "01.3", "01.4"),
    "03": ("03.1", "03.2", "03.3", "03.6"),
    "04": ("04.2", "04.3", "04.4"),
    "06": ("06.1", "06.3"),
}
Cells = list[dict[str, Any]]


def source(book: dict[str, Any], exercise: str, role: str) -> str:
    return next("".join(item["source"]) for item in book["cells"] if tag_of(item) == (exercise, role))


SOLVED = {chapter: solved(chapter) for chapter in PARTS}
RIGHT = {key: source(SOLVED[chapter], key, "answer") for chapter, keys in PARTS.items() for key in keys}
BLANK = {key: source(blank(chapter), key, "answer") for chapter, keys in PARTS.items() for key in keys}
CHECK = {key: source(SOLVED[chapter], key, "check") for chapter, keys in PARTS.items() for key in keys}


def answer(key: str, text: str | None = None) -> dict[str, Any]:
    return cell(RIGHT[key] if text is None else text, key)


def check(key: str, text: str | None = None) -> dict[str, Any]:
    return cell(CHECK[key] if text is None else text, key, "check")


def wrong(key: str, *change: str) -> str:
    """A right answer with one change, which is there exactly once."""
    assert RIGHT[key].count(change[0]) == 1, key
    return RIGHT[key].replace(*change)


def whole(chapter: str, changed: dict[str, Cells | str] | None = None) -> Cells:
    """The answers and checks of a chapter; of some exercises another answer, or other cells."""
    found: Cells = [cell('from course_checks import mine\nscaled_dot_product_attention = mine("03.2")')] if chapter in ("04", "06") else []
    for key in PARTS[chapter]:
        new = (changed or {}).get(key, RIGHT[key])
        found += [answer(key, new), check(key)] if isinstance(new, str) else new
    return found


def without_tags(cells: Cells) -> Cells:
    return [item | {"metadata": {}} for item in cells]


NO_ROOT = wrong("03.1", " / math.sqrt(query.shape[-1])", "")
TWICE = wrong("03.1", "math.sqrt(query.shape[-1])", "query.shape[-1]")
DIM0 = RIGHT["03.2"].replace("dim=-1", "dim=-2")
LATE = wrong("06.1", "key <= query", "key >= query")
NO_RESULT = 'check("03.1", attention_scores)'
V2 = RIGHT["03.1"].replace("attention_scores", "attention_scores_v2")
IN_FILE = "%%writefile my_scores.py\nimport math\n" + RIGHT["03.1"]
ALSO = "def attention_scores_of(q, k):\n    return attention_scores(q, k)\n"

# name → chapter, cells
SUBMISSIONS: dict[str, tuple[str, Cells]] = {
    "everything right": ("03", whole("03")),
    "nothing done": ("03", whole("03", {key: BLANK[key] for key in PARTS["03"]})),
    "a helper left blank": ("03", whole("03", {"03.1": BLANK["03.1"]})),
    "two helpers left blank": ("03", whole("03", {"03.1": BLANK["03.1"], "03.2": BLANK["03.2"]})),
    "only the last exercise": ("03", whole("03", {key: BLANK[key] for key in PARTS["03"][:3]})),
    "a helper of 01 left blank": ("01", whole("01", {"01.1": BLANK["01.1"]})),
    "a helper of 06 left blank": ("06", whole("06", {"06.1": BLANK["06.1"]})),
    "a helper of 04 left with its bug": ("04", whole("04", {"04.2": BLANK["04.2"]})),
    "both helpers of 04 left": ("04", whole("04", {"04.2": BLANK["04.2"], "04.3": BLANK["04.3"]})),
    "a helper without the root": ("03", whole("03", {"03.1": NO_ROOT})),
    "a helper with another root": ("03", whole("03", {"03.1": TWICE})),
    "two wrong ones, one upon the other": ("03", whole("03", {"03.1": NO_ROOT, "03.2": DIM0})),
    "wrong in the middle": ("03", whole("03", {"03.2": DIM0})),
    "a mask the wrong way round": ("06", whole("06", {"06.1": LATE})),
    "a helper that raises": ("03", whole("03", {"03.1": wrong("03.1", "math.sqrt", "math.sqroot")})),
    "a helper with a typing error": ("03", whole("03", {"03.1": wrong("03.1", "return query", "return qurey")})),
    "a helper that never ends": (
        "03",
        whole("03", {"03.1": wrong("03.1", "    return query", "    while True:\n        pass\n    return query")}),
    ),
    "a helper that does not parse": ("06", whole("06", {"06.1": RIGHT["06.1"] + "    return )\n"})),
    "a helper whose cell was emptied": ("03", whole("03", {"03.1": ""})),
    "a blank below its helper": ("01", whole("01", {"01.2": BLANK["01.2"]})),
    "wrong with a blank helper": ("03", whole("03", {"03.1": BLANK["03.1"], "03.2": DIM0})),
    "the result is not taken": ("03", whole("03", {"03.1": [answer("03.1"), check("03.1", NO_RESULT)]})),
    "use in one line": (
        "03",
        whole("03", {"03.1": [answer("03.1", BLANK["03.1"]), check("03.1", 'attention_scores = check("03.1", attention_scores).use')]}),
    ),
    "another name handed to the check": (
        "03",
        whole(
            "03",
            {"03.1": [answer("03.1", V2), check("03.1", 'result = check("03.1", attention_scores_v2)\nattention_scores = result.use')]},
        ),
    ),
    "another name beside the blank": (
        "03",
        whole(
            "03",
            {
                "03.1": [
                    answer("03.1", BLANK["03.1"]),
                    cell(V2),
                    check("03.1", 'result = check("03.1", attention_scores_v2)\nattention_scores = result.use'),
                ]
            },
        ),
    ),
    "another name in one line": (
        "03",
        whole("03", {"03.1": [answer("03.1", V2), check("03.1", 'attention_scores = check("03.1", attention_scores_v2).use')]}),
    ),
    "another name, and wrong": (
        "03",
        whole(
            "03",
            {
                "03.1": [
                    answer("03.1", NO_ROOT.replace("attention_scores", "attention_scores_v2")),
                    check("03.1", 'result = check("03.1", attention_scores_v2)\nattention_scores = result.use'),
                ]
            },
        ),
    ),
    "written to a file": (
        "03",
        whole("03", {"03.1": [cell(IN_FILE), answer("03.1", "from my_scores import attention_scores"), check("03.1")]}),
    ),
    "written to a file in two pieces": (
        "03",
        whole(
            "03",
            {
                "03.1": [
                    cell("%%writefile my_scores.py\nimport math\n"),
                    cell("%%writefile -a my_scores.py\n" + RIGHT["03.1"]),
                    answer("03.1", "import my_scores\nattention_scores = my_scores.attention_scores"),
                    check("03.1"),
                ]
            },
        ),
    ),
    "a helper from a file": (
        "03",
        whole(
            "03",
            {
                "03.1": [
                    cell("%%writefile roots.py\nimport math\n\ndef root(x):\n    return math.sqrt(x)\n"),
                    answer("03.1", "from roots import root\n" + wrong("03.1", "math.sqrt", "root")),
                    check("03.1"),
                ]
            },
        ),
    ),
    "a helper between": (
        "03",
        whole("03", {"03.2": [cell(ALSO), answer("03.2", wrong("03.2", "= attention_scores(", "= attention_scores_of(")), check("03.2")]}),
    ),
    "a helper between, and a blank below it": (
        "03",
        whole(
            "03",
            {
                "03.1": BLANK["03.1"],
                "03.2": [cell(ALSO), answer("03.2", wrong("03.2", "= attention_scores(", "= attention_scores_of(")), check("03.2")],
            },
        ),
    ),
    "a class that takes a blank helper as its own": (
        "03",
        whole("03", {"03.2": BLANK["03.2"], "03.6": RIGHT["03.6"] + "\n    attend = staticmethod(scaled_dot_product_attention)\n"}),
    ),
    "metadata lost": ("03", without_tags(whole("03"))),
    "metadata lost, a helper blank": ("03", without_tags(whole("03", {"03.1": BLANK["03.1"]}))),
    "all answers in one cell": ("03", [cell("\n\n".join(RIGHT[key] for key in PARTS["03"]), "03.1"), *(check(key) for key in PARTS["03"])]),
    "the answer in the check cell": ("06", whole("06", {"06.1": [check("06.1", RIGHT["06.1"] + "\n" + CHECK["06.1"])]})),
    "tried twice, the second is wrong": ("06", whole("06", {"06.1": [answer("06.1"), answer("06.1", LATE), check("06.1")]})),
    "half of a prediction": ("01", whole("01", {"01.3": wrong("01.3", '"nearest"', '"mean"')})),
    "wrong in two chapters' manner": ("01", whole("01", {"01.1": wrong("01.1", "2 * bandwidth**2", "bandwidth"), "01.4": BLANK["01.4"]})),
    "only magics and notes besides": ("06", [cell("%matplotlib inline\n%load_ext autoreload"), *whole("06"), cell("to do: sleep")]),
    "a check asked for again at the end": (
        "03",
        [*whole("03", {"03.1": NO_ROOT}), check("03.2", 'check("03.2", scaled_dot_product_attention)')],
    ),
}

# Here the check of the helper never came to run, and nothing took its place; grading puts the course's there all the same.
KINDER = {("a helper that does not parse", "06.3")}

IN_IPYTHON = """
import json, os, sys, warnings
warnings.simplefilter("ignore")
import course_checks
from course_checks import engine
from IPython.core.interactiveshell import InteractiveShell
books, out, asked = json.load(open(sys.argv[1])), {}, course_checks.check
for number, (name, cells) in enumerate(books.items()):
    noted = out[name] = {}
    def noting(exercise, *answers, **named):
        result = asked(exercise, *answers, **named)
        noted[exercise] = result.points
        return result
    course_checks.check = noting
    engine._last.clear()  # another notebook, another kernel
    os.makedirs(f"kernel{number}")
    os.chdir(f"kernel{number}")
    sys.path.insert(0, os.getcwd())
    shell = InteractiveShell()
    for source in cells:
        shell.run_cell(source, store_history=True)
    InteractiveShell.clear_instance()
    for module in ("my_scores", "roots"):
        sys.modules.pop(module, None)
    sys.path.pop(0)
    os.chdir("..")
json.dump(out, open(sys.argv[2], "w"))
"""


@pytest.mark.skipif(not FULL, reason="runs in `python course.py test --full`; a quarter of it below")
def test_forty_submissions(tmp_path):
    compare(tmp_path, SUBMISSIONS)


def test_a_quarter_of_the_submissions(tmp_path):
    names = (
        "a helper left blank",
        "a helper of 04 left with its bug",
        "two wrong ones, one upon the other",
        "a helper with a typing error",
    )
    more = (
        "wrong with a blank helper",
        "another name beside the blank",
        "written to a file in two pieces",
        "metadata lost, a helper blank",
    )
    compare(tmp_path, {name: SUBMISSIONS[name] for name in names + more + ("tried twice, the second is wrong", "half of a prediction")})


def compare(folder, submissions: dict[str, tuple[str, Cells]]) -> None:
    """The points of each exercise in each notebook, from the notebook's own checks and from grading."""
    books = {name: json.loads(notebook(*cells)) for name, (_, cells) in submissions.items()}
    (folder / "in.json").write_text(json.dumps({name: [item["source"] for item in book["cells"]] for name, book in books.items()}))
    done = subprocess.run(
        [sys.executable, "-c", IN_IPYTHON, "in.json", "out.json"],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COURSE_PROGRESS": "off", "IPYTHONDIR": str(folder / "ipython"), "MPLBACKEND": "Agg"},
        timeout=1200,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    noted = json.loads((folder / "out.json").read_text())
    for number, (name, book) in enumerate(books.items()):
        place = folder / "class" / f"s{number:03d}"
        place.mkdir(parents=True)
        (place / f"{FILES[submissions[name][0]]}.ipynb").write_text(json.dumps(book))
    assert main([str(folder / "class"), "--out", str(folder / "out"), "--quiet", "--seed", "fixed"]) == 0
    graded = {record.submission.student: record.marks for record in RunFolder(folder / "out", True).records()}
    other, count = {}, 0
    for number, name in enumerate(books):
        marks = graded[f"s{number:03d}"]
        for exercise, points in noted[name].items():
            count += 1
            mark = marks.get(exercise)
            if mark is None or (mark.points != points and not ((name, exercise) in KINDER and mark.points > points)):
                other[name, exercise] = points, mark and (mark.points, mark.stage, mark.message, mark.notes)
    print(f"{len(books)} notebooks, {count} marks, {len(other)} differ")
    assert other == {}
