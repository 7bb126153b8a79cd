"""A companion works wherever a chapter works: built, run, copied for the learner, handed out and in, read in the book."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from tiny_chapter import write

from course_checks import lookup
from course_checks.record import Progress
from course_tools import handout, testing
from course_tools.authoring import build
from course_tools.authoring.book.__main__ import stage
from course_tools.authoring.book.verify import problems
from course_tools.authoring.build import build_chapter, check_chapter
from course_tools.authoring.errors import AuthoringError
from course_tools.authoring.ledger import find_texts
from course_tools.grading.collect import collect
from course_tools.grading.nbgrader import lay_out
from course_utils.launcher.export import export
from course_utils.launcher.notebooks import answers_of, chapters_in, read
from course_utils.launcher.work import Work, next_exercise
from course_utils.paths import ROOT

HEAD = """\
# {title}

{words}

```python
import os
from pathlib import Path

print(Path.cwd().name, os.environ.get("COURSE_STRICT"))


def check(exercise, answer):
    return f"○ {{exercise}}"
```
"""
EXERCISE = """
## Try

### Exercise {id}

```python course={{"exercise": "{id}", "role": "answer"}}
def {name}(x):
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION
```

```python course={{"exercise": "{id}", "role": "check"}}
result = check("{id}", {name})
```

<!-- #region course={{"exercise": "{id}", "role": "hint"}} -->
<details><summary>Hint</summary>

Twice.

</details>
<!-- #endregion -->
"""
NAMES = {"02_first": "", "03_tiny": "03.1", "deeper/03_more": "03.2", "04_last": "04.1"}


def text_of(stem: str, exercise: str) -> str:
    words = "As [04](../04_last.ipynb) and chapter 03 say." if "/" in stem else '<a id="map"></a>Some words, and exercise 03.2.'
    head = HEAD.format(title=stem.split("_")[1].capitalize(), words=words)
    return head + (EXERCISE.format(id=exercise, name="double") if exercise else "")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("companions")
    for stem, exercise in NAMES.items():
        write(root, text_of(stem, exercise), f"{stem}.md")
    assert build.main(["--root", str(root)]) == 0
    return root


@pytest.fixture
def course(built: Path, tmp_path: Path) -> Path:
    """A private copy of the built course."""
    return Path(shutil.copytree(built, tmp_path / "course"))


def source_of_last_cell(path: Path) -> str:
    return nbformat.read(path, as_version=4).cells[-1].source


def test_it_is_built_with_its_chapter_and_both_lead_to_each_other(built: Path) -> None:
    assert list(find_texts(built)) == ["02", "03", "03-deeper", "04"]
    for folder in ("chapters", "solutions"):
        assert [path.relative_to(built / folder).as_posix() for path in chapters_in(built / folder)] == [f"{name}.ipynb" for name in NAMES]
    assert "](deeper/03_more.ipynb)" in source_of_last_cell(built / "chapters/03_tiny.ipynb")
    assert "deeper" not in source_of_last_cell(built / "chapters/04_last.ipynb")
    companion = nbformat.read(built / "chapters/deeper/03_more.ipynb", as_version=4)
    assert all("](../03_tiny.ipynb)" in cell.source and "](../02_first.ipynb#map)" in cell.source for cell in companion.cells[1::11])
    printed = [nbformat.read(built / folder / "deeper/03_more.ipynb", as_version=4).cells[2] for folder in ("chapters", "solutions")]
    assert [cell.outputs[0].text for cell in printed] == ["deeper None\n", "deeper 1\n"]


def test_build_names_it_and_can_build_it_alone(course: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "execute", lambda *arguments: pytest.fail("a notebook was run"))
    assert build.main(["03", "--root", str(course)]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines() if line[0] != " "] == ["03", "03-deeper"]
    assert build.main(["03-deeper", "--check", "--root", str(course)]) == 0
    assert capsys.readouterr().out == "03-deeper belongs to its source\n"
    (course / "solutions/deeper/03_more.ipynb").unlink()
    assert build.main(["--check", "--root", str(course)]) == 1
    assert "solutions/deeper/03_more.ipynb is missing" in capsys.readouterr().out


def test_somebody_s_answer_in_it_is_not_overwritten(course: Path) -> None:
    solve(course / "chapters/deeper/03_more.ipynb")
    assert check_chapter(course / "solutions/deeper/03_more.md", course)[1] == ["03.2"]
    with pytest.raises(AuthoringError, match=r"chapters/deeper/03_more.ipynb holds answers to 03.2"):
        build_chapter(course / "solutions/deeper/03_more.md", course, force=True)
    with pytest.raises(ValueError, match=r"(?s)chapters/deeper/03_more.ipynb holds.*git checkout chapters/deeper/03_more.ipynb"):
        handout.blank_chapters(course)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("deeper/03_tiny.md", "deeper/03_tiny.md has its chapter's name"),
        ("deeper/05_alone.md", "there is no chapter 05"),
        ("deeper/03_other.md", "two companions of chapter 03: 03_more.md, 03_other.md"),
    ],
)
def test_a_companion_belongs_to_one_chapter(tmp_path: Path, name: str, says: str) -> None:
    write(tmp_path, "# a\n", "03_tiny.md")
    if "other" in name:
        write(tmp_path, "# a\n", "deeper/03_more.md")
    write(tmp_path, "# a\n", name)
    with pytest.raises(AuthoringError, match=says):
        find_texts(tmp_path)


def test_tests_of_a_chapter_run_it_and_a_solved_one_is_strict(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testing, "ROOT", course)
    assert testing.paths(["03"]) == [
        f"{folder}/{name}.ipynb" for folder in ("chapters", "solutions") for name in ("03_tiny", "deeper/03_more")
    ]
    shutil.copy(ROOT / "conftest.py", course)
    command = [
        "-m",
        "pytest",
        "-q",
        "--nbval",
        "--nbval-current-env",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(course),
        *testing.paths(["03"]),
    ]
    done = subprocess.run([sys.executable, *command], cwd=course, capture_output=True, text=True)
    assert done.returncode == 0 and "12 passed" in done.stdout, done.stdout[-3000:]


# ---- the learner


def solve(path: Path) -> None:
    notebook = read(path)
    for cell in answers_of(notebook).values():
        cell["source"] = "def double(x):\n    return x + x"
    path.write_text(json.dumps(notebook), encoding="utf-8")


def test_the_learner_has_a_copy_that_is_updated_restarted_and_handed_in(course: Path, tmp_path: Path) -> None:
    work = Work(course)
    assert work.bring_up_to_date() == []
    assert [path.relative_to(work.folder).as_posix() for path in work.copies()] == [f"{name}.ipynb" for name in NAMES]
    mine = work.folder / "deeper/03_more.ipynb"
    solve(mine)
    changed = course / "chapters/deeper/03_more.ipynb"
    changed.write_text(changed.read_text(encoding="utf-8").replace("and chapter 03 say", "and chapter 03 tell"), encoding="utf-8")
    (told,) = work.bring_up_to_date()
    assert told.startswith("03_more: the chapter has changed") and "chapter 03 tell" in mine.read_text(encoding="utf-8")
    assert answers_of(read(mine))["03.2"]["source"].endswith("return x + x")

    (tmp_path / "class").mkdir()
    assert export(tmp_path / "class" / "hand in.zip", "Ada L", course) == {"03_more": ["03.2"]}
    (found,) = collect(tmp_path / "class")
    assert (found.student, found.label, found.problem) == ("Ada L", "03_more.ipynb", "")
    shutil.copytree(work.folder, tmp_path / "folders" / "ada")
    labels = [one.label for one in collect(tmp_path / "folders")]
    assert labels.count("03_more.ipynb") == 1 and len(labels) == 4  # neither bases nor backups

    kept = work.restart("03")
    assert [path.name.split(".")[0] for path in kept] == ["03_tiny", "03_more"]
    assert answers_of(read(kept[1]))["03.2"]["source"].endswith("return x + x")
    assert "NotImplementedError" in answers_of(read(mine))["03.2"]["source"]


def test_the_way_on_leads_through_chapters_first(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "ROOT", course)
    exercises = [lookup.find(exercise) for exercise in ("03.1", "03.2", "04.1")]
    monkeypatch.setitem(lookup._chapters, "03", {e.id: e for e in exercises[:2]})
    monkeypatch.setitem(lookup._chapters, "04", {e.id: e for e in exercises[2:]})
    assert lookup.companions() == {"03.2": "deeper/03_more.ipynb"} and lookup.companions("04") == {}
    assert list(lookup.notebooks().values()) == ["02_first.ipynb", "03_tiny.ipynb", "04_last.ipynb"]
    assert [lookup.following(e) for e in exercises] == [("chapter 04 last", "04_last.ipynb"), ("chapter 04 last", "../04_last.ipynb"), None]

    work, file = Work(course), course / ".course" / "progress.json"
    work.bring_up_to_date()
    file.parent.mkdir()
    for done, following, place in ((["03.1"], "04.1", "04_last.ipynb"), (["03.1", "04.1"], "03.2", "deeper/03_more.ipynb")):
        passed = {key: {"points": 1.0, "passed": True} for key in done}
        file.write_text(json.dumps(passed), encoding="utf-8")
        assert next_exercise(work) == (work.folder / place, following)
        for folder, up in ((course / "work", ""), (course / "work" / "deeper", "../")):
            monkeypatch.chdir(folder)
            shown = Progress(passed, [e.page for e in exercises])._repr_html_()
            assert f"href='{up}{place}#exercise-{following}'" in shown and f"href='{up}03_tiny.ipynb'" in shown
    assert f"{len(done)} of 3 exercises" in shown


# ---- instructors, readers


def test_the_hand_out_takes_it_along(course: Path, tmp_path: Path) -> None:
    for numbers, names in ((["03"], ["03_tiny", "deeper/03_more"]), (["04"], ["04_last"]), (None, list(NAMES))):
        target = tmp_path / "-".join(numbers or ["all"])
        handout.write(target, course, numbers)
        assert [path.relative_to(target / "chapters").as_posix() for path in chapters_in(target / "chapters")] == [
            f"{n}.ipynb" for n in names
        ]


def test_it_is_an_assignment_of_nbgrader(course: Path, tmp_path: Path) -> None:
    assert lay_out(course, tmp_path / "class") == [Path(name).name for name in NAMES]
    assignment = json.loads((tmp_path / "class/source/03_more/03_more.ipynb").read_text(encoding="utf-8"))
    assert "`chapters/deeper/03_more.ipynb`" in assignment["cells"][0]["source"]
    marks = [cell["metadata"]["nbgrader"] for cell in assignment["cells"] if "nbgrader" in cell["metadata"]]
    assert [(mark["grade_id"], mark.get("points")) for mark in marks] == [
        ("ex-03-2-answer", None),
        ("ex-03-2-check", lookup.find("03.2").points),
    ]


def test_the_book_has_it_behind_the_chapters(course: Path, tmp_path: Path) -> None:
    """Pages, answers and links, made by Sphinx; a dead link would fail."""
    shutil.copytree(ROOT / "docs" / "book", course / "docs" / "book")
    (course / "docs" / "ledger.md").write_text("| id | chapter | claim | correction |\n|---|---|---|---|\n", encoding="utf-8")
    for name in ("claims", "judge"):
        (course / "docs" / f"{name}.md").write_text("# A page\n", encoding="utf-8")
    (course / "docs" / "faq.md").write_text("# Questions\n", encoding="utf-8")
    (course / "docs" / "terms.tsv").write_text("twice\ttwo times\t03-deeper\tExercise 03.2\n", encoding="utf-8")
    (course / "docs" / "symbols.tsv").write_text("$x$\ta number\t03\tExercise 03.1\n", encoding="utf-8")
    names = [name for _, name in stage(course, tmp_path / "pages")]
    own = ["chapters/02_first", "chapters/03_tiny", "chapters/04_last", "chapters/03_more"]
    assert names[1:5] == own and names[5:8] == ["answers/03_tiny", "answers/04_last", "answers/03_more"]
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "-d", tmp_path / "trees", tmp_path / "pages", tmp_path / "site"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert problems(tmp_path / "site") == []
    chapter, companion = ((tmp_path / f"site/chapters/{name}.html").read_text(encoding="utf-8") for name in ("03_tiny", "03_more"))
    assert 'Deeper: <a href="03_more.html">More</a>' in chapter and 'href="03_more.html#s-03-deeper-2"' in chapter
    assert '<a href="04_last.html">04</a>' in companion and '<a href="03_tiny.html">← Tiny</a>' in companion
    assert 'href="03_tiny.html#s-03-0"' in companion and "chapters/deeper</code>" in companion
    cover = (tmp_path / "site/index.html").read_text(encoding="utf-8")
    assert '<a href="chapters/03_tiny.html" title="' in cover and 'data-live="gpt_page"' in cover
    assert (tmp_path / "site/notebooks/03_more.ipynb").exists() and "Answer to exercise 03.2" in companion
