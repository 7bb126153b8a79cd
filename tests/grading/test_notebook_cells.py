"""Which cells of a notebook belong to which exercise, and what they need; a copy is told from an answer."""

from __future__ import annotations

import inspect
import json

import pytest
from classroom import RIGHT, WRONG, cell, grade, marks_of, needs_sandbox, notebook, put, solved

from course_checks import catalogue
from course_tools.grading import notebook_grader, wire
from course_tools.grading.cell_names import plain_python
from course_tools.grading.cells import Unreadable, read_notebook
from course_tools.grading.cells import find as find_in
from course_tools.grading.likeness import likeness, share
from course_tools.grading.marks import exercises_of, places
from course_tools.grading.run_folder import RunFolder
from course_tools.metadata import tag_of
from course_utils.paths import ROOT


@needs_sandbox
def test_helpers_imports_magics_and_failing_stories(tmp_path):
    helped = notebook(
        cell("%matplotlib inline\n!pip install nothing\nimport numpy as np"),
        cell("raise RuntimeError('a story that fails')"),
        cell("def squares(a, b):\n    return (a[:, None] - b) ** 2"),
        cell("unused = train_for_hours()"),
        cell(RIGHT.replace("(query[:, None] - keys) ** 2", "squares(query, keys)"), "01.1"),
    )
    below = notebook(
        cell(RIGHT.replace("(query[:, None] - keys) ** 2", "squares(query, keys)"), "01.1"),
        cell("def squares(a, b):\n    return (a[:, None] - b) ** 2"),
    )
    loud = RIGHT.replace("    return", "    warnings.warn('w'); print('x', file=sys.stderr)\n    return")
    noisy = notebook(cell("import sys, warnings\n" + loud, "01.1"))
    lost = notebook(cell(RIGHT))
    twice = notebook(cell(WRONG, "01.1"), cell(RIGHT, "01.1"))
    moved = notebook(cell("def gaussian_weights(query, keys, bandwidth):\n    raise NotImplementedError", "01.1"), cell(RIGHT))
    renamed = notebook(
        cell(RIGHT.replace("gaussian_weights", "my_weights"), "01.1"), cell('result = check("01.1", my_weights)', "01.1", "check")
    )
    broken = notebook(cell("def gaussian_weights(query keys):\n    return", "01.1"))
    for name, book in {
        "helped": helped,
        "below": below,
        "noisy": noisy,
        "lost": lost,
        "twice": twice,
        "moved": moved,
        "renamed": renamed,
        "broken": broken,
    }.items():
        put(tmp_path / "class", name, book)
    rows = grade(tmp_path / "class", tmp_path / "out")
    assert {name: row["01.1"] for name, row in rows.items()} == dict.fromkeys(rows, "4") | {"broken": "0"}
    notes = {record.submission.student: " ".join(record.marks["01.1"].notes) for record in RunFolder(tmp_path / "out", True).records()}
    assert "metadata was lost" in notes["lost"]
    assert "the last one counts" in notes["twice"]
    assert "its own cell is blank" in notes["moved"]
    assert notes["helped"] == notes["noisy"] == ""


def test_cells_and_what_they_need():
    cells = read_notebook(
        notebook(cell("a = 1"), cell("def f(x):\n    return x + a"), cell("x = 2"), cell("def g(x):\n    a = x\n    return f(a)", "01.1"))
    )
    found = find_in(cells, {"01.1": "g"}, {"01.1": "01"})
    assert found["01.1"].needs == [1, 2, 4]
    assert plain_python("%%bash\nls") == "# %%bash\n# ls"
    assert plain_python("x = 1\n%time f()\n%cd x") == "x = 1\nf()\nget_ipython().run_line_magic('cd', 'x')"
    assert plain_python("ok = (\n    a\n    != 0\n)") == "ok = (\n    a\n    != 0\n)"
    with pytest.raises(Unreadable):
        read_notebook(b"{}")


@pytest.mark.parametrize("chapter", ["03", "06", "13a"])
def test_without_metadata_a_notebook_counts_for_its_own_chapter(chapter):
    """Cells of the course define names that other chapters ask for: ``train`` in 03 and 06 is no answer to 00b.6."""
    book = json.loads(next((ROOT / "solutions").glob(f"{chapter}_*.ipynb")).read_text(encoding="utf-8"))
    for item in book["cells"]:
        item["metadata"] = {}
    book["metadata"] = {}
    found = find_in(read_notebook(json.dumps(book).encode()), {e.id: e.name for e in catalogue()}, places())
    assert set(found) == {key for key, place in places().items() if place == chapter}


def test_a_companion_answers_for_its_own_exercises_alone():
    """Its cells, and the course's versions that it names, are no answers to its chapter's exercises; nor the other way round."""
    names = {"03.1": "scores", "03.2": "attend", "03.8": "spread"}
    where = {"03.1": "03", "03.2": "03", "03.8": "03, deeper"}
    helpers = 'attend = mine("03.2")', "def scores(a, b):\n    return a @ b.mT"
    companion = notebook(*map(cell, helpers), cell("def spread(x):\n    return attend(x)", "03.8"))
    assert set(find_in(read_notebook(companion), names, where)) == {"03.8"}
    chapter = notebook(cell(helpers[1], "03.1"), cell("def attend(x):\n    return x", "03.2"), cell("def spread(x):\n    return x"))
    assert set(find_in(read_notebook(chapter), names, where)) == {"03.1", "03.2"}
    bare = json.loads(companion)
    for item in bare["cells"]:  # its metadata was lost
        item["metadata"] = {}
    assert "03.8" in find_in(read_notebook(json.dumps(bare).encode()), names, where)


@needs_sandbox
def test_a_helper_in_a_companion_wins_nothing(box, monkeypatch):
    """The sandbox knows which exercises stand in which notebook, whatever the notebook says."""
    keys = exercises_of(("01",))
    monkeypatch.setattr(notebook_grader, "places", lambda: {key: "01, deeper" if key == "01.4" else "01" for key in keys})
    (scores,) = (item for item in solved("01")["cells"] if tag_of(item) == ("01.4", "answer"))
    assert {key: mark.passed for key, mark in marks_of(box, notebook(cell(RIGHT), scores)).items()} == {"01.4": True}


def test_likeness_sees_through_comments_docstrings_layout_names_and_what_is_put_between():
    source = inspect.getsource(wire.read).replace('"""', '"""Another text. ', 1).replace("head", "first")
    more = source.replace("    text, numbers", "    _unused = None\n    text, numbers")
    for text in (source, more):
        space = dict(vars(wire))
        exec(text, space)
        assert share(likeness(space["read"]), likeness(wire.read)) > (0.99 if text == source else 0.85)
    assert share(likeness(wire.pack), likeness(wire.read)) < 0.3 and likeness(lambda x: x) == []
