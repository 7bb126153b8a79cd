"""The clinic: what it shows of a class, that no name and no submitted code gets into it, and that it runs."""

from __future__ import annotations

import html
import json
import unicodedata
from pathlib import Path
from typing import Any

import nbformat
import pytest
from classroom import RIGHT, WRONG, grade, needs_sandbox, put, with_answer
from nbconvert.filters import markdown2html
from test_class_report import new_run, record

from course_tools.authoring.chapter import CHAPTER
from course_tools.authoring.execute import PatientClient, kernel_environment
from course_tools.grading.answer_text import LONGEST, bare
from course_tools.grading.run_folder import RunFolder
from course_tools.grading.settings import Settings
from course_tools.grading.write_results import write_results
from course_utils.paths import ROOT

NOT_SCALED = "def attention_scores(query, key):\n    return query @ key.mT"
TYPED = {
    "tags": "x = '''\n```\n\n</pre></details><script>alert(1)</script>\n![](http://x) $\\alpha$ \u202e\x1b[31m <!--\n'''",
    "a line": "x = 1\n" + "z" * 100_000,
    "lines": "y = '\ud800'\n" * 20_000,
    "a name": "Student_0 = 'student 0'\n</details>",
}


def wrong(mistake: str, answer: str = "", panel: str = "") -> dict[str, Any]:
    return {"points": 0, "mistake": mistake, "answer": answer, "html": f"<div class='course-panel failed'>{panel}</div>"}


def written(folder: Path, *marks: dict[str, dict[str, Any]]) -> Path:
    """The clinic of students with these marks, one after the other."""
    run = RunFolder(folder / "run", True) if (folder / "run").exists() else new_run(folder)
    for number, each in enumerate(marks):
        run.append(record(f"Student_{number}", "a.ipynb", 0.0, each))
    write_results(run, Settings())
    return folder / "run" / "clinic.ipynb"


def sources(path: Path, kind: str) -> list[str]:
    return [item["source"] for item in json.loads(path.read_text(encoding="utf-8"))["cells"] if item["cell_type"] == kind]


@needs_sandbox
def test_answers_of_a_class_without_its_names(tmp_path):
    """Through the whole command: two wordings of a mistake and a right answer that is not the course's; the same bytes when resumed."""
    said = "    print('{} was here')\n    return torch.softmax"
    typed = {"Zoë Müller": "# by Zoë\n" + WRONG.replace("    return torch.softmax", said.format(unicodedata.normalize("NFD", "zoë")))}
    typed["Groß, Jürgen"] = WRONG.replace("bandwidth):\n", 'bandwidth):\n    """Jürgen\'s."""\n') + "# J. GROß\njürgen_groß = 1\n"
    typed["ann"] = RIGHT.replace("return torch.softmax", "weights = torch.softmax") + "    return weights  # right\n"
    for name, source in typed.items():
        put(tmp_path / "class", name, with_answer(source))
    grade(tmp_path / "class", tmp_path / "out")
    book = (path := tmp_path / "out" / "clinic.ipynb").read_bytes()
    nbformat.validate(nbformat.reads(book.decode(), 4), relax_add_props=False)
    first, vote, fold, *_ = map(html.unescape, sources(path, "markdown"))
    assert "## 1 · 01.1 Gaussian weights" in vote and "2 of 3 who tried made" in vote and "    weights = torch.softmax(" in vote
    assert vote.count("dim=0)") == 2 and vote.count("dim=1)") == 1 and "'… was here'" in vote and "normalised" not in vote
    assert "share a mistake: *normalised over the queries*" in fold and "`chapters/01_kernel_regression.ipynb`, section “" in fold
    plain = unicodedata.normalize("NFC", html.unescape(book.decode())).casefold()
    assert not [word for word in ("zoë", "müller", "jürgen", "gross", "# by", "# right", "'s.\"") if word in plain]
    assert not [source for source in sources(path, "code") if "print('" in source or "weights = torch" in source]
    grade(tmp_path / "class", tmp_path / "out", "--resume")
    assert path.read_bytes() == book and "<code>clinic.ipynb</code>" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_the_three_that_most_share_and_nothing_that_nobody_shares(tmp_path):
    """What is no exercise's own mistake, such as an endless loop, is left out: the course has no version of it to mend."""
    names = {"06.1": "own position hidden", "03.1": "not scaled", "03.7": "shuffled, to find the source", "06.3": "or instead of and"}
    marks: list[dict[str, Any]] = [{key: wrong(name) for key, name in list(names.items())[: 4 - n // 2]} for n in range(8)]
    path = written(tmp_path, *({**each, "03.2": wrong("endless loop")} for each in marks))
    titles = [source.split("\n")[0] for source in sources(path, "markdown") if source.startswith("## ")]
    assert [title[:10] for title in titles] == ["## 1 · 06.", "## 2 · 03.", "## 3 · 03.", "## The clo"] and "03.1" in titles[1]
    assert "| 03.7 Design the control | 7:00 | 8:00 | 9:30 |" in sources(path, "markdown")[-1]
    assert "6 of 8 students made more than one" in sources(path, "markdown")[-1]
    passed = {key: {"points": 4, "stage": "passed"} for key in names}
    assert not written(tmp_path, marks[0], *[passed] * 7).exists()


@pytest.mark.parametrize("typed", TYPED.values(), ids=TYPED)
def test_what_was_typed_stays_text(tmp_path, typed):
    """However it is written, nothing of it is a tag, a fence, a formula or code; what is long is cut."""
    path = written(tmp_path, *[{"03.1": wrong("not scaled", typed, "a$b$ \\(c\\)")}] * 2, {"03.1": {"points": 4, "stage": "passed"}})
    drawn = "".join(map(markdown2html, sources(path, "markdown")))
    assert not [word for word in ("<script", "<img", "<!--", "tudent") if word in drawn] and "\u202e" not in html.unescape(drawn)
    assert drawn.count("<details") == drawn.count("</details") == 1 and len(drawn) < 30_000
    assert not [source for source in sources(path, "code") if typed[:5] in source]
    assert not [source for source in sources(path, "markdown") if "$" in source or "```" in source or "\\" in source]


def test_only_short_texts_are_kept():
    typed = "def f(x):  # mine\n    '''Of\n    Ada.'''\n\n    é = '# kept'; 'é'\n    return x"
    assert bare(typed) == "def f(x):\n    é = '# kept';\n    return x" and bare("x" * LONGEST) and not bare("x" * (LONGEST + 1))
    assert bare("x = 1\n" * 20_000) == bare("f(:") == bare("(" * 9_000) == ""


def test_it_runs_from_top_to_bottom(tmp_path):
    """A function, a module and a prediction: the mistake of each is shown to be one, on an input on which it is."""
    names = {"03.1": "not scaled", "03.6": "layers with bias", "03.7": "one matrix, to find the source"}
    book = nbformat.read(written(tmp_path, *[{key: wrong(name, NOT_SCALED) for key, name in names.items()}] * 2), 4)
    PatientClient(book, timeout=120).execute(env=kernel_environment(CHAPTER, ROOT))
    assert [item.id for item in book.cells if "not yet" in str(item.get("outputs"))] == ["1-check", "2-check", "3-check"]
    assert "shape (" in str(book.cells[5].outputs) and "right, shape (" in str(book.cells[8].outputs)
