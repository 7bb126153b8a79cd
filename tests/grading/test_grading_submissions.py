"""Forty notebooks as students hand them in, with blanks, mistakes and habits of all kinds: grading says what the notebook's check said."""

from __future__ import annotations

import json
from typing import Any

from classroom import blank, cell, full, needs_sandbox, notebook, noted_and_graded, solved

from course_tools.metadata import tag_of

pytestmark = needs_sandbox
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


def wrong(key: str, old: str, new: str) -> str:
    """A right answer with one change, which is there exactly once."""
    assert RIGHT[key].count(old) == 1, key
    return RIGHT[key].replace(old, new)


def whole(chapter: str, changed: dict[str, Cells | str] | None = None) -> Cells:
    """The answers and checks of a chapter; of some exercises another answer, or other cells."""
    found: Cells = [cell('from course_checks import mine\nscaled_dot_product_attention = mine("03.2")')] if chapter in ("04", "06") else []
    for key in PARTS[chapter]:
        new = (changed or {}).get(key, RIGHT[key])
        found += [answer(key, new), check(key)] if isinstance(new, str) else new
    return found


def without_tags(cells: Cells) -> Cells:
    return [item | {"metadata": {}} for item in cells]


def of(changed: dict[str, Cells | str]) -> tuple[str, Cells]:
    """A chapter with these changes."""
    chapter = next(iter(changed)).split(".")[0]
    return chapter, whole(chapter, changed)


def blanks(*keys: str) -> dict[str, Cells | str]:
    return {key: BLANK[key] for key in keys}


def scores(*cells: dict[str, Any], asked: str = CHECK["03.1"]) -> tuple[str, Cells]:
    """Chapter 03 with these cells for 03.1, and its check."""
    return of({"03.1": [*cells, check("03.1", asked)]})


NO_ROOT = wrong("03.1", " / math.sqrt(query.shape[-1])", "")
DIM0 = RIGHT["03.2"].replace("dim=-1", "dim=-2")
LATE = wrong("06.1", "key <= query", "key >= query")
V2 = RIGHT["03.1"].replace("attention_scores", "attention_scores_v2")
WRONG_V2 = NO_ROOT.replace("attention_scores", "attention_scores_v2")
ASK_V2 = CHECK["03.1"].replace("attention_scores)", "attention_scores_v2)")
SHORT = 'attention_scores = check("03.1", attention_scores_v2).use'
IN_FILE = "%%writefile my_scores.py\nimport math\n"
ROOTS = "%%writefile roots.py\nimport math\n\ndef root(x):\n    return math.sqrt(x)\n"
ALSO = cell("def attention_scores_of(q, k):\n    return attention_scores(q, k)\n")
BETWEEN: Cells = [ALSO, answer("03.2", wrong("03.2", "= attention_scores(", "= attention_scores_of(")), check("03.2")]
ENDLESS = wrong("03.1", "    return query", "    while True:\n        pass\n    return query")
OWN = RIGHT["03.6"] + "\n    attend = staticmethod(scaled_dot_product_attention)\n"

# name → chapter, cells
SUBMISSIONS: dict[str, tuple[str, Cells]] = {
    "everything right": ("03", whole("03")),
    "nothing done": of(blanks(*PARTS["03"])),
    "a helper left blank": of(blanks("03.1")),
    "two helpers left blank": of(blanks("03.1", "03.2")),
    "only the last exercise": of(blanks(*PARTS["03"][:3])),
    "a helper of 01 left blank": of(blanks("01.1")),
    "a helper of 06 left blank": of(blanks("06.1")),
    "a helper of 04 left with its bug": of(blanks("04.2")),
    "both helpers of 04 left": of(blanks("04.2", "04.3")),
    "a helper without the root": of({"03.1": NO_ROOT}),
    "a helper with another root": of({"03.1": wrong("03.1", "math.sqrt(query.shape[-1])", "query.shape[-1]")}),
    "two wrong ones, one upon the other": of({"03.1": NO_ROOT, "03.2": DIM0}),
    "wrong in the middle": of({"03.2": DIM0}),
    "a mask the wrong way round": of({"06.1": LATE}),
    "a helper that raises": of({"03.1": wrong("03.1", "math.sqrt", "math.sqroot")}),
    "a helper with a typing error": of({"03.1": wrong("03.1", "return query", "return qurey")}),
    "a helper that never ends": of({"03.1": ENDLESS}),
    "a helper that does not parse": of({"06.1": RIGHT["06.1"] + "    return )\n"}),
    "a helper whose cell was emptied": of({"03.1": ""}),
    "a blank below its helper": of(blanks("01.2")),
    "wrong with a blank helper": of({"03.1": BLANK["03.1"], "03.2": DIM0}),
    "the result is not taken": scores(answer("03.1"), asked='check("03.1", attention_scores)'),
    "use in one line": scores(answer("03.1", BLANK["03.1"]), asked='attention_scores = check("03.1", attention_scores).use'),
    "another name handed to the check": scores(answer("03.1", V2), asked=ASK_V2),
    "another name beside the blank": scores(answer("03.1", BLANK["03.1"]), cell(V2), asked=ASK_V2),
    "another name in one line": scores(answer("03.1", V2), asked=SHORT),
    "another name, and wrong": scores(answer("03.1", WRONG_V2), asked=ASK_V2),
    "written to a file": scores(cell(IN_FILE + RIGHT["03.1"]), answer("03.1", "from my_scores import attention_scores")),
    "written to a file in two pieces": scores(
        cell(IN_FILE),
        cell("%%writefile -a my_scores.py\n" + RIGHT["03.1"]),
        answer("03.1", "import my_scores\nattention_scores = my_scores.attention_scores"),
    ),
    "a helper from a file": scores(cell(ROOTS), answer("03.1", "from roots import root\n" + wrong("03.1", "math.sqrt", "root"))),
    "a helper between": of({"03.2": BETWEEN}),
    "a helper between, and a blank below it": of({"03.1": BLANK["03.1"], "03.2": BETWEEN}),
    "a class that takes a blank helper as its own": of({"03.2": BLANK["03.2"], "03.6": OWN}),
    "metadata lost": ("03", without_tags(whole("03"))),
    "metadata lost, a helper blank": ("03", without_tags(whole("03", blanks("03.1")))),
    "all answers in one cell": ("03", [cell("\n\n".join(RIGHT[key] for key in PARTS["03"]), "03.1"), *map(check, PARTS["03"])]),
    "the answer in the check cell": of({"06.1": [check("06.1", RIGHT["06.1"] + "\n" + CHECK["06.1"])]}),
    "tried twice, the second is wrong": of({"06.1": [answer("06.1"), answer("06.1", LATE), check("06.1")]}),
    "half of a prediction": of({"01.3": wrong("01.3", '"nearest"', '"mean"')}),
    "a wrong helper, and a blank": of({"01.1": wrong("01.1", "2 * bandwidth**2", "bandwidth"), "01.4": BLANK["01.4"]}),
    "magics and notes besides": ("06", [cell("%matplotlib inline\n%load_ext autoreload"), *whole("06"), cell("to do: sleep")]),
    "a check asked for again": ("03", [*whole("03", {"03.1": NO_ROOT}), check("03.2", 'check("03.2", scaled_dot_product_attention)')]),
}

# Here the check of the helper never came to run, and nothing took its place; grading puts the course's there all the same.
KINDER = {("a helper that does not parse", "06.3")}


@full  # a quarter of it below
def test_forty_submissions(tmp_path):
    compare(tmp_path, SUBMISSIONS)


def test_a_quarter_of_the_submissions(tmp_path):
    names = "a helper left blank; a helper of 04 left with its bug; two wrong ones, one upon the other; a helper with a typing error"
    more = "wrong with a blank helper; another name beside the blank; written to a file in two pieces; metadata lost, a helper blank"
    last = "tried twice, the second is wrong; half of a prediction"
    compare(tmp_path, {name: SUBMISSIONS[name] for name in "; ".join((names, more, last)).split("; ")})


def compare(folder, submissions: dict[str, tuple[str, Cells]]) -> None:
    """The points of each exercise in each notebook, from the notebook's own checks and from grading."""
    books = {name: (f"{FILES[chapter]}.ipynb", json.loads(notebook(*cells))) for name, (chapter, cells) in submissions.items()}
    other, count = {}, 0
    for name, noted, marks in noted_and_graded(folder, books):
        for exercise, points in noted.items():
            count += 1
            mark = marks.get(exercise)
            if mark is None or (mark.points != points and not ((name, exercise) in KINDER and mark.points > points)):
                other[name, exercise] = points, mark and (mark.points, mark.stage, mark.message, mark.notes)
    print(f"{len(books)} notebooks, {count} marks, {len(other)} differ")
    assert other == {}
