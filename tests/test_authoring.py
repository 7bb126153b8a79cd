"""Text to notebooks: the conventions of a source, and a tiny course built for real."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from queue import Empty

import nbformat
import pytest
from jupyter_client.channels import AsyncZMQSocketChannel

from course_tools.authoring import build as command
from course_tools.authoring.build import build_chapter, check_chapter
from course_tools.authoring.errors import AuthoringError, BuildError, SourceError
from course_tools.authoring.execute import PatientClient, execute, kernel_environment
from course_tools.authoring.ledger import strip_markers
from course_tools.authoring.load import measure
from course_tools.authoring.outputs import clean_outputs, output_problem, stable_png
from course_tools.authoring.source import CHAPTER, SOLUTION, language_info, read_chapter
from course_tools.authoring.uses import package_key

PROJECT = Path(__file__).resolve().parents[1]

TEXT = """\
# A tiny chapter

It promises $x^2$.

<!-- ledger: 03-06 E-31 -->

And goes on.

## Drag

```python
import matplotlib.pyplot as plt
import ipywidgets

def show(n=3):
    print("n =", n)
    plt.plot(range(n))
    plt.show()

show()
ipywidgets.interact(show, n=(1, 5));
```

## Exercise

```python course={"exercise": "03.1", "role": "answer"}
def double(x):
    \"\"\"Return twice x.\"\"\"
    ### BEGIN SOLUTION
    twice = x + x
    return twice
    ### END SOLUTION
```

```python course={"exercise": "03.1", "role": "check"}
import os
try:
    print(double(2), os.environ.get("COURSE_STRICT"))
except NotImplementedError:
    print("not attempted", os.environ.get("COURSE_STRICT"))
```

<!-- #region course={"exercise": "03.1", "role": "hint"} -->
<details><summary>Hint</summary>

```python
1 + 1
```

</details>
<!-- #endregion -->

<!-- #region course={"exercise": "03.1", "role": "hint"} -->
<details><summary>Another hint</summary>

Add.

</details>
<!-- #endregion -->

```python course={"exercise": "03.2", "role": "answer"}
### BEGIN SOLUTION
guess = 4
### STUB
guess = None  # your number
### END SOLUTION
```

```python course={"exercise": "03.2", "role": "check"}
print(guess)
```

<!-- #region course={"exercise": "03.2", "role": "hint"} -->
<details><summary>Hint</summary>

Count.

</details>
<!-- #endregion -->

### Deeper: more

Folded words.

```python
print("folded")
```

## End

Twice the same:

```python
1 + 1
```

```python
1 + 1
```
"""


def write(root: Path, text: str = TEXT, name: str = "03_tiny.md") -> Path:
    path = root / "solutions" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def stored(root: Path) -> dict[Path, tuple[bytes, int]]:
    return {
        path: (path.read_bytes(), path.stat().st_mtime_ns)
        for folder in ("chapters", "solutions")
        for path in sorted((root / folder).glob("*.ipynb"))
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("built")
    build_chapter(write(root), root)
    return root


@pytest.fixture
def course(built: Path, tmp_path: Path) -> Path:
    """A private copy of the built course."""
    root = tmp_path / "course"
    shutil.copytree(built, root)
    return root


# The text


def test_blank_and_solved_answers(tmp_path: Path) -> None:
    chapter = read_chapter(write(tmp_path))
    answer, value = (cell for cell in chapter.cells if cell.role == "answer")
    head = 'def double(x):\n    """Return twice x."""\n'
    assert answer.source(SOLUTION) == head + "    twice = x + x\n    return twice"
    assert answer.source(CHAPTER) == head + "    raise NotImplementedError"
    assert value.source(SOLUTION) == "guess = 4"
    assert value.source(CHAPTER) == "guess = None  # your number"
    assert set(chapter.stubs) == {"03.1", "03.2"}


def test_cells_and_ids(tmp_path: Path) -> None:
    chapter = read_chapter(write(tmp_path))
    ids = [cell.id for cell in chapter.cells]
    assert len(set(ids)) == len(ids)
    for wanted in ("ex-03-1-answer", "ex-03-1-check", "ex-03-1-hint", "ex-03-1-hint-2"):
        assert wanted in ids
    assert ids[-1] == f"{ids[-2]}-2"
    assert chapter.cells[0].metadata == {}
    assert [cell.line for cell in chapter.cells[:3]] == [1, 9, 12]
    fold = next(cell for cell in chapter.cells if "Deeper" in cell.source(SOLUTION))
    assert fold.metadata == {"jp-MarkdownHeadingCollapsed": True}
    hint = next(cell for cell in chapter.cells if cell.role == "hint")
    assert "```python\n1 + 1\n```" in hint.source(CHAPTER)
    assert hint.metadata["course"] == {"exercise": "03.1", "role": "hint", "schema": 1}


def test_ids_survive_an_edit_elsewhere(tmp_path: Path) -> None:
    before = [cell.id for cell in read_chapter(write(tmp_path)).cells]
    edited = TEXT.replace("return twice", "return 2 * x").replace("And goes on.", "Goes on.")
    after = [cell.id for cell in read_chapter(write(tmp_path, edited)).cells]
    assert [a == b for a, b in zip(before, after, strict=True)].count(False) == 1


def test_windows_line_ends_change_nothing(tmp_path: Path) -> None:
    path = write(tmp_path)
    before = read_chapter(path)
    path.write_bytes(TEXT.replace("\n", "\r\n").encode())
    assert read_chapter(path) == before


def test_markers_are_stripped(tmp_path: Path) -> None:
    chapter = read_chapter(write(tmp_path))
    assert chapter.cells[0].source(CHAPTER) == ("# A tiny chapter\n\nIt promises $x^2$.\n\nAnd goes on.")
    assert strip_markers("a <!-- ledger: E-31 -->b") == "a b"
    assert strip_markers("a\n\n\n\nb") == "a\n\n\n\nb"
    alone = write(tmp_path, "# T\n\n```python\n1\n```\n\n<!-- ledger: E-31 -->\n\n```python\n2\n```\n")
    assert [cell.kind for cell in read_chapter(alone).cells] == ["markdown", "code", "code"]


def test_an_exercise_is_named_once(tmp_path: Path) -> None:
    """Title, stars and minutes come from the exercise; its heading in the text holds the number alone."""
    text = TEXT.replace("## Exercise\n", "### Exercise 03.1\n")
    chapter = read_chapter(write(tmp_path, text), heading=lambda exercise: f"Exercise {exercise} ★ Double (2 minutes)")
    assert [cell.source(kind) for cell in chapter.cells for kind in (SOLUTION, CHAPTER) if "Exercise 03.1" in cell.source(kind)] == [
        "### Exercise 03.1 ★ Double (2 minutes)"
    ] * 2
    with pytest.raises(SourceError, match=r"03_tiny.md:24: write '### Exercise 03.1' alone"):
        read_chapter(write(tmp_path, TEXT.replace("## Exercise\n", "### Exercise 03.1 ★ Double\n")))
    with pytest.raises(SourceError, match=r"03_tiny.md:24: .*no exercise '99.1'"):
        read_chapter(write(tmp_path, TEXT.replace("## Exercise\n", "### Exercise 99.1\n")))


HINT = TEXT[TEXT.index("<!-- #region") : TEXT.index('```python course={"exercise": "03.2"')]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("E-31 -->", "E-31 E-32 E-33 -->", 5, "4 ids in one marker, at most 3"),
        ("<!-- ledger: 03-06", "<!-- ledger 03-06", 5, "cannot read '<!-- ledger 03-06"),
        ("    ### END SOLUTION\n", "", 29, "'### BEGIN SOLUTION' without '### END SOLUTION'"),
        ("    ### BEGIN SOLUTION\n", "", 31, "'### END SOLUTION' does not belong here"),
        ("### STUB\n", "", 62, "give it a '### STUB'"),
        ("print(guess)", "### STUB", 70, "'### STUB' outside an answer cell"),
        ('"03.1", "role": "check"', '"03.2", "role": "check"', 27, "03.1 has 0 check cells"),
        ('"03.2", "role": "answer"', '"03.1", "role": "answer"', 27, "03.1 has 2 answer cells"),
        (HINT, "", 27, "exercise 03.1 has no hint cell"),
        ('"03.1", "role": "answer"', '"04.1", "role": "answer"', 27, 'look like "03.1"'),
        (
            '"03.1", "role": "answer"',
            '"03.1", "role": "anwser"',
            27,
            "(one of answer, check, hint)",
        ),
        (
            'python course={"exercise": "03.1", "role": "check"}',
            'python course={"exercise',
            36,
            "JSON",
        ),
        (
            'course={"exercise": "03.1", "role": "check"}',
            'corse="x"',
            36,
            "unknown cell settings corse",
        ),
        ("<!-- #endregion -->", "", 1, "but 0 <!-- #endregion -->"),
        ("And goes on.\n", "Text\n## Deeper: x\n", 1, "leave a blank line above"),
        ("And goes on.", "<details>\n\n```python\n1\n```\n\n</details>", 1, "cut in two"),
        (
            "```python\n1 + 1\n```\n\n```python\n1 + 1",
            '```python tags=["raises-exception"]\n1',
            94,
            "traceback",
        ),
    ],
)
def test_bad_sources_say_what_and_where(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    assert old in TEXT
    path = write(tmp_path, TEXT.replace(old, new))
    with pytest.raises(SourceError) as caught:
        read_chapter(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"solutions/03_tiny.md:{line}:"), caught.value


def test_load_leaves_folded_sections_out(tmp_path: Path) -> None:
    load = measure(read_chapter(write(tmp_path)).notebook(SOLUTION, ""))
    assert load.code_cells == 7
    assert load.code_lines[1] == 3  # the docstring does not count
    assert load.words < len(TEXT.split())


# Outputs


def test_outputs_are_cleaned() -> None:
    view = {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "interactive(…)"}
    outputs = [
        nbformat.v4.new_output("stream", name="stdout", text="10 %\r50 %"),
        nbformat.v4.new_output("display_data", data=view),
        nbformat.v4.new_output("stream", name="stdout", text="\r99 %\ndone\n"),
    ]
    cleaned = clean_outputs(outputs)
    assert [output.text for output in cleaned] == ["99 %\ndone\n"]


def test_png_text_is_stripped() -> None:
    import base64
    import io

    from matplotlib.figure import Figure

    def picture(software: str) -> str:
        stream = io.BytesIO()
        Figure(figsize=(1, 1)).savefig(stream, format="png", metadata={"Software": software})
        return base64.b64encode(stream.getvalue()).decode()

    one, other = picture("A"), picture("B")
    assert one != other
    assert stable_png(one) == stable_png(other)
    assert b"tEXt" not in base64.b64decode(stable_png(one))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("all is well, 3 warnings read", None),
        ("/tmpl or 5/tmp", None),
        ("x.py:1: UserWarning: mind this", "a Python warning"),
        ("<object object at 0x7f12ab34cd50>", "a memory address"),
        (f"saved in {Path.home() / 'x'}", "a path of"),
        ("saved in /home/someone/x", "a path of a machine"),
        (r"saved in C:\Users\someone", "a path of a machine"),
    ],
)
def test_output_problems(text: str, problem: str | None) -> None:
    output = nbformat.v4.new_output("stream", name="stdout", text=text)
    found = output_problem(output, [str(Path.home())])
    assert (found is None) if problem is None else (problem in str(found))


def test_environment_of_a_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COURSE_STRICT", "1")
    monkeypatch.setenv("MPLBACKEND", "agg")
    blank, solved = (kernel_environment(kind, tmp_path) for kind in (CHAPTER, SOLUTION))
    assert "COURSE_STRICT" not in blank and solved["COURSE_STRICT"] == "1"
    assert "MPLBACKEND" not in blank
    assert blank["COURSE_BUILD"] == "1" and blank["COURSE_PROGRESS"] == "off"


# Building for real


def test_both_notebooks(built: Path) -> None:
    blank = nbformat.read(built / "chapters/03_tiny.ipynb", as_version=4)
    solved = nbformat.read(built / "solutions/03_tiny.ipynb", as_version=4)
    outputs = {
        kind: {cell.id: cell.outputs for cell in nb.cells if cell.cell_type == "code"}
        for kind, nb in {"blank": blank, "solved": solved}.items()
    }
    assert outputs["blank"]["ex-03-1-check"][0].text == "not attempted None\n"
    assert outputs["solved"]["ex-03-1-check"][0].text == "4 1\n"
    drag = next(cell for cell in blank.cells if "interact" in cell.source)
    assert [output.output_type for output in drag.outputs] == ["stream", "display_data"]
    assert "image/png" in drag.outputs[1].data
    for nb, kind in ((blank, "chapter"), (solved, "solution")):
        nbformat.validate(nb)
        assert set(nb.metadata) == {"kernelspec", "language_info", "course"}
        assert nb.metadata.course.kind == kind
        counts = [cell.execution_count for cell in nb.cells if cell.cell_type == "code"]
        assert counts == list(range(1, len(counts) + 1))
        assert all("execution" not in cell.metadata for cell in nb.cells)


def test_unchanged_text_writes_nothing(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = stored(course)
    started = time.perf_counter()
    assert command.main(["03", "--root", str(course)]) == 0
    assert capsys.readouterr().out == "03 unchanged\n"
    assert stored(course) == before
    assert time.perf_counter() - started < 2


def test_forced_rebuild_gives_the_same_bytes(course: Path) -> None:
    before = {path: content for path, (content, _) in stored(course).items()}
    build_chapter(course / "solutions/03_tiny.md", course, force=True)
    assert {path: content for path, (content, _) in stored(course).items()} == before


PACKAGE = {
    "__init__.py": "",
    "checks/__init__.py": "from .engine import check\n",
    "checks/engine.py": "import json\n\n\ndef check(exercise):\n    return exercise\n",
    "exercises/__init__.py": "",
    "exercises/ch03/__init__.py": "from .one import HINT\n",
    "exercises/ch03/one.py": "HINT = 'three'\n",
    "exercises/ch04/__init__.py": "HINT = 'four'\n",
    "text/__init__.py": "",
    "text/words.py": "from pathlib import Path\n\nfrom . import letters\n\nHERE = Path(__file__).parent\n",
    "text/letters.py": "A = 1\n",
    "text/words.tsv": "a\tb\n",
    "text/unused.py": "A = 1\n",
}


@pytest.mark.parametrize(
    ("file", "flagged"),
    [
        ("exercises/ch03/one.py", "03"),  # a changed hint flags its own chapter
        ("exercises/ch04/__init__.py", "04"),
        ("checks/engine.py", "03 04"),
        ("text/letters.py", "04"),  # imported by what is imported
        ("text/words.tsv", "04"),  # data beside a module that reads files
        ("text/unused.py", ""),
        ("../course_tools/x.py", ""),
    ],
)
def test_a_change_flags_the_chapters_that_use_it(tmp_path: Path, file: str, flagged: str) -> None:
    for name, text in PACKAGE.items():
        path = tmp_path / "course_utils" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    three = TEXT.replace("import os\ntry:", "import os\nfrom course_utils.checks import check\ntry:")
    four = three.replace('"03.', '"04.').replace("import ipywidgets", "from course_utils.text.words import HERE")
    paths = {"03": write(tmp_path, three), "04": write(tmp_path, four, "04_tiny.md")}
    before = {number: package_key(read_chapter(path), tmp_path) for number, path in paths.items()}
    changed = tmp_path / "course_utils" / file
    changed.parent.mkdir(exist_ok=True)
    changed.write_text("A = 22\n")
    after = {number: package_key(read_chapter(path), tmp_path) for number, path in paths.items()}
    assert [number for number in paths if before[number] != after[number]] == flagged.split()


def test_changed_package_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    helper = tmp_path / "course_utils" / "helper.py"
    helper.parent.mkdir()
    helper.write_text("A = 1\n")
    write(tmp_path, "# T\n\n```python\nif False:\n    import course_utils.helper\n```\n")
    command.main(["--root", str(tmp_path)])
    helper.write_text("A = 2\n")
    capsys.readouterr()
    assert command.main(["--root", str(tmp_path)]) == 0
    assert "what 03 imports of course_utils has changed" in capsys.readouterr().out
    assert command.main(["--force", "--root", str(tmp_path)]) == 0
    assert command.main(["--root", str(tmp_path)]) == 0
    assert "has changed" not in capsys.readouterr().out.splitlines()[-1]


def test_an_output_that_depends_on_the_reader_is_run_and_not_stored(tmp_path: Path) -> None:
    path = write(tmp_path, '# T\n\n```python tags=["live"]\nprint("3 of 111 exercises")\n```\n')
    build_chapter(path, tmp_path)
    nb = nbformat.read(tmp_path / "chapters/03_tiny.ipynb", as_version=4)
    assert nb.cells[1].outputs == [] and nb.cells[1].execution_count == 1
    write(tmp_path, '# T\n\n```python tags=["live"]\n1 / 0\n```\n')
    with pytest.raises(BuildError, match="ZeroDivisionError"):
        build_chapter(path, tmp_path)


def test_check_with_run_finds_a_stale_output(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--check", "--run", "--root", str(course)]) == 0
    path = course / "chapters/03_tiny.ipynb"
    nb = nbformat.read(path, as_version=4)
    stale = next(cell for cell in nb.cells if cell.id == "ex-03-1-check")
    stale.outputs[0].text = "0 of 104 exercises\n"
    nbformat.write(nb, path)
    assert command.main(["--check", "--root", str(course)]) == 0  # without a run nobody can know
    capsys.readouterr()
    assert command.main(["--check", "--run", "--root", str(course)]) == 1
    said = capsys.readouterr().out
    assert "chapter, solutions/03_tiny.md:36 (ex-03-1-check): stored '0 of 104 exercises', now 'not attempted None'" in said


def test_a_notebook_that_was_merely_opened_still_belongs_to_its_text(course: Path) -> None:
    path = course / "chapters/03_tiny.ipynb"
    nb = nbformat.read(path, as_version=4)
    assert nb.metadata.language_info.pygments_lexer == "ipython3"  # all that a kernel tells, so that an editor has nothing to add
    nb.metadata.language_info.version = "3.99.0"
    nb.metadata.kernelspec.display_name = "Python 3"
    nbformat.write(nb, path)
    assert check_chapter(course / "solutions/03_tiny.md", course) == ([], [])
    nb.metadata.widgets = {}
    nbformat.write(nb, path)
    assert "its metadata" in check_chapter(course / "solutions/03_tiny.md", course)[0][0]


def test_the_language_is_described_as_the_kernel_describes_it(course: Path) -> None:
    client = PatientClient(nbformat.v4.new_notebook(), kernel_name="python3")
    with client.setup_kernel():
        reply = client.kc.kernel_info(reply=True, timeout=60)
        told = asyncio.get_event_loop().run_until_complete(reply) if asyncio.iscoroutine(reply) else reply
    assert told["content"]["language_info"] == language_info()


def test_failing_cell_is_named_and_nothing_is_touched(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = stored(course)
    write(course, TEXT.replace("print(guess)", "step = 1\nprint(guess / 0)"))
    assert command.main(["03", "--root", str(course)]) == 1
    message = capsys.readouterr().err
    for part in ("03 (solution): cell 10", "03_tiny.md:71:  print(guess / 0)", "ZeroDivisionError"):
        assert part in message, message
    assert "line 2 of the cell" in message
    assert len(message.splitlines()) <= 6
    assert stored(course) == before


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys; print('oh', file=sys.stderr)", "leaves output on stderr: oh"),
        ("import warnings; warnings.warn('oh')", "leaves output on stderr"),
        ("import os; print(os.getcwd())", "leaves a path of this machine"),
        (
            "ipywidgets.interact(lambda n: 1 / 0, n=(0, 3));",
            "leaves a traceback: ZeroDivisionError",
        ),
        ("import os; os._exit(1)", "ended the kernel"),
    ],
)
def test_unfit_cells_are_rejected(course: Path, code: str, message: str) -> None:
    before = stored(course)
    path = write(course, TEXT.replace("print(guess)", code))
    with pytest.raises(BuildError, match="cell 10, solutions/03_tiny.md:70") as caught:
        build_chapter(path, course)
    assert message in str(caught.value)
    assert stored(course) == before


def test_a_learners_answers_are_never_overwritten(course: Path) -> None:
    path = course / "chapters/03_tiny.ipynb"
    nb = nbformat.read(path, as_version=4)
    next(cell for cell in nb.cells if cell.id == "ex-03-1-answer").source = "double = abs"
    nbformat.write(nb, path)
    problems, answered = check_chapter(course / "solutions/03_tiny.md", course)
    assert (problems, answered) == ([], ["03.1"])
    before = stored(course)
    write(course, TEXT.replace("And goes on.", "It goes on."))
    for force in (False, True):
        with pytest.raises(BuildError, match=r"(?s)answers to 03\.1.*Move the file away"):
            build_chapter(course / "solutions/03_tiny.md", course, force=force)
    assert stored(course) == before


def test_foreign_notebook_is_not_overwritten(course: Path) -> None:
    nbformat.write(nbformat.v4.new_notebook(), course / "chapters/03_tiny.ipynb")
    with pytest.raises(BuildError, match="was not made by build"):
        build_chapter(course / "solutions/03_tiny.md", course)


def test_check_sees_what_no_longer_belongs(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = course / "solutions/03_tiny.md"
    assert check_chapter(source, course) == ([], [])
    path = course / "solutions/03_tiny.ipynb"
    nb = nbformat.read(path, as_version=4)
    nb.cells[2].source += "\nprint('edited')"
    nbformat.write(nb, path)
    assert "cell 3 " in check_chapter(source, course)[0][0]
    write(course, TEXT.replace("And goes on.", "It goes on."))
    assert all("another text" in problem for problem in check_chapter(source, course)[0])
    path.unlink()
    before = stored(course)
    assert command.main(["--check", "--root", str(course)]) == 1
    assert "solutions/03_tiny.ipynb is missing" in capsys.readouterr().out
    assert stored(course) == before


def test_only_measured_cells_may_change(tmp_path: Path) -> None:
    code = "import time\nprint(time.time())"
    path = write(tmp_path, f"# T\n\n```python\n{code}\n```\n")
    build_chapter(path, tmp_path)
    before = stored(tmp_path)
    with pytest.raises(BuildError, match=r"(?s)other outputs in\n.*03_tiny.md:4"):
        build_chapter(path, tmp_path, force=True)
    assert stored(tmp_path) == before
    write(tmp_path, f'# T\n\n```python tags=["measured"]\n{code}\n```\n')
    build_chapter(path, tmp_path)
    before = stored(tmp_path)
    assert "measured: new output" in "\n".join(build_chapter(path, tmp_path, force=True))
    assert stored(tmp_path) != before


def test_a_lost_reply_does_not_stall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    receive = AsyncZMQSocketChannel.get_msg

    async def lossy(self: AsyncZMQSocketChannel, timeout: float | None = None) -> dict:
        msg = await receive(self, timeout)
        if msg["msg_type"] == "execute_reply":
            raise Empty
        return msg

    monkeypatch.setattr(AsyncZMQSocketChannel, "get_msg", lossy)
    monkeypatch.setattr(PatientClient, "slice_s", 0.1)
    monkeypatch.setattr(PatientClient, "grace_s", 0.3)
    started = time.perf_counter()
    path = write(tmp_path, "# T\n\n```python\nprint(1)\n```\n\n```python\n1 / 0\n```\n")
    with pytest.raises(BuildError, match="(?s)cell 3, .*ZeroDivisionError"):
        execute(read_chapter(path), SOLUTION, "", tmp_path)
    write(tmp_path, "# T\n\n```python\nprint(1)\n```\n")
    nb = execute(read_chapter(path), SOLUTION, "", tmp_path)
    assert nb.cells[1].outputs[0].text == "1\n"
    assert time.perf_counter() - started < 20


def test_a_cell_that_takes_too_long(tmp_path: Path) -> None:
    path = write(tmp_path, "# T\n\n```python\nimport time\ntime.sleep(60)\n```\n")
    with pytest.raises(BuildError, match="took longer than 1 s"):
        build_chapter(path, tmp_path, timeout=1)


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_leaves_everything_in_place(course: Path) -> None:
    before = stored(course)
    code = "open('started', 'w').close()\nimport time\ntime.sleep(60)"
    write(course, TEXT.replace("print(guess)", code))
    module = "course_tools.authoring.build"
    process = subprocess.Popen(
        [sys.executable, "-m", module, "--root", str(course)],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    started = course / "solutions/started"
    deadline = time.monotonic() + 60
    while not started.exists() and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 130, output
    assert "the notebooks of 03 are as they were" in output
    assert "Traceback" not in output
    assert stored(course) == before


def test_command_names_unknown_chapters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--root", str(tmp_path)]) == 0
    assert command.main(["99", "--root", str(tmp_path)]) == 1
    assert "no source for 99" in capsys.readouterr().err
    write(tmp_path, "# a\n", "03_a.md"), write(tmp_path, "# b\n", "03_b.md")
    assert command.main(["--root", str(tmp_path)]) == 1
    assert "two sources for chapter 03" in capsys.readouterr().err
    assert issubclass(SourceError, AuthoringError)
