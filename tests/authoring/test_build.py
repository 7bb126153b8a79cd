"""Building: a tiny course, turned into notebooks for real."""

from __future__ import annotations

import asyncio
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from queue import Empty
from typing import Any

import nbformat
import pytest
from jupyter_client.channels import AsyncZMQSocketChannel
from nbformat import NotebookNode
from tiny_chapter import TEXT, stored, write

from course_tools.authoring import build as command
from course_tools.authoring.build import build_chapter, check_chapter, check_outputs
from course_tools.authoring.chapter import SOLUTION, language_info
from course_tools.authoring.errors import AuthoringError, BuildError, SourceError
from course_tools.authoring.execute import PatientClient, execute
from course_tools.authoring.source import read_chapter
from course_tools.authoring.uses import package_key
from course_utils.paths import ROOT


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
        assert counts == ([None] * len(counts) if kind == "chapter" else list(range(1, len(counts) + 1)))
        assert all("execution" not in cell.metadata for cell in nb.cells)


def test_unchanged_text_runs_and_writes_nothing(course: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    before = stored(course)
    monkeypatch.setattr(command, "execute", lambda *arguments: pytest.fail("a notebook was run"))
    assert command.main(["03", "--root", str(course)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("03 unchanged\n") and re.search(r"words +\d+   at most 2,900\n", said)
    assert re.search(r"pictures +1   at least 8   <- not kept\n", said)
    assert stored(course) == before


def test_forced_rebuild_gives_the_same_bytes(course: Path) -> None:
    before = {path: content for path, (content, _) in stored(course).items()}
    build_chapter(course / "solutions/03_tiny.md", course, force=True)
    assert {path: content for path, (content, _) in stored(course).items()} == before


PACKAGES = {
    "course_checks/__init__.py": "from .engine import check\n",
    "course_checks/engine.py": "import json\n\n\ndef check(exercise):\n    return exercise\n",
    "course_checks/exercises/__init__.py": "",
    "course_checks/exercises/ch03/__init__.py": "from .one import EXERCISE\n",
    "course_checks/exercises/ch03/one.py": "EXERCISE = 'three', __file__\n",
    "course_checks/exercises/ch03/one.md": "## a mistake\n",
    "course_checks/exercises/ch04/__init__.py": "EXERCISE = 'four'\n",
    "course_utils/__init__.py": "",
    "course_utils/text/__init__.py": "",
    "course_utils/text/words.py": "from pathlib import Path\n\nfrom . import letters\n\nHERE = Path(__file__).parent\n",
    "course_utils/text/letters.py": "A = 1\n",
    "course_utils/text/words.tsv": "a\tb\n",
    "course_utils/text/unused.py": "A = 1\n",
}


@pytest.mark.parametrize(
    ("file", "flagged"),
    [
        ("course_checks/exercises/ch03/one.py", "03"),  # an exercise flags its own chapter
        ("course_checks/exercises/ch03/one.md", "03"),  # and so does a changed hint
        ("course_checks/exercises/ch04/__init__.py", "04"),
        ("course_checks/engine.py", "03 04"),
        ("course_utils/text/letters.py", "04"),  # imported by what is imported
        ("course_utils/text/words.tsv", "04"),  # data beside a module that reads files
        ("course_utils/text/unused.py", ""),
        ("course_tools/x.py", ""),
    ],
)
def test_a_change_flags_the_chapters_that_use_it(tmp_path: Path, file: str, flagged: str) -> None:
    for name, text in PACKAGES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    three = TEXT.replace("import os\ntry:", "import os\nfrom course_checks import check\ntry:")
    four = three.replace('"03.', '"04.').replace("import ipywidgets", "from course_utils.text.words import HERE")
    paths = {"03": write(tmp_path, three), "04": write(tmp_path, four, "04_tiny.md")}
    before = {number: package_key(read_chapter(path), tmp_path) for number, path in paths.items()}
    changed = tmp_path / file
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
    assert "what 03 imports of the course has changed" in capsys.readouterr().out
    assert command.main(["--check", "--root", str(tmp_path)]) == 0  # no fault, but worth a line
    assert "what 03 imports of the course has changed" in capsys.readouterr().out
    assert command.main(["--force", "--root", str(tmp_path)]) == 0
    assert command.main(["--root", str(tmp_path)]) == 0
    assert "has changed" not in capsys.readouterr().out.splitlines()[-1]


def test_an_output_that_depends_on_the_reader_is_run_and_not_stored(tmp_path: Path) -> None:
    path = write(tmp_path, '# T\n\n```python tags=["live"]\nprint("3 of 111 exercises")\n```\n')
    build_chapter(path, tmp_path)
    nb = nbformat.read(tmp_path / "chapters/03_tiny.ipynb", as_version=4)
    assert nb.cells[1].outputs == []
    write(tmp_path, '# T\n\n```python tags=["live"]\n1 / 0\n```\n')
    with pytest.raises(BuildError, match="ZeroDivisionError"):
        build_chapter(path, tmp_path)


def test_what_answers_a_prediction_is_shown_with_the_solutions_only(tmp_path: Path) -> None:
    path = write(tmp_path, '# T\n\n```python tags=["revealing"]\nprint("42")\n```\n')
    build_chapter(path, tmp_path)
    blank, solved = (nbformat.read(tmp_path / folder / "03_tiny.ipynb", as_version=4) for folder in ("chapters", "solutions"))
    assert blank.cells[1].outputs == []
    assert solved.cells[1].outputs[0].text == "42\n"
    assert check_outputs(path, tmp_path) == []


def test_a_new_text_around_the_same_code_runs_nothing(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "execute", lambda *arguments: pytest.fail("a notebook was run"))
    before = {folder: nbformat.read(course / folder / "03_tiny.ipynb", as_version=4) for folder in ("chapters", "solutions")}
    path = write(course, TEXT.replace("And goes on.", "It goes on.").replace("## End\n", "## Another end\n\nNew words.\n"))
    assert build_chapter(path, course)[0] == "03 has a new text; its code was not run again"
    assert check_chapter(path, course) == ([], [])
    for folder, old in before.items():
        new = nbformat.read(course / folder / "03_tiny.ipynb", as_version=4)
        assert [c.outputs for c in new.cells if c.cell_type == "code"] == [c.outputs for c in old.cells if c.cell_type == "code"]
    build_chapter(write(course, TEXT.replace("```python\nimport matplotlib", '```python tags=["revealing"]\nimport matplotlib')), course)
    books = {folder: nbformat.read(course / folder / "03_tiny.ipynb", as_version=4) for folder in before}
    shown = {folder: next(cell.outputs for cell in nb.cells if "interact" in cell.source) for folder, nb in books.items()}
    assert shown["chapters"] == [] and len(shown["solutions"]) == 2


@pytest.mark.parametrize("change", ["code", "order", "untagged", "package"])
def test_whatever_outputs_depend_on_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    text = '# T\n\n```python tags=["revealing"]\nprint(1)\n```\n\n```python\nprint(2)\n```\n'
    path = write(tmp_path, text)
    build_chapter(path, tmp_path)
    changed = {
        "code": text.replace("2", "3"),
        "order": text.replace("print(2)", "print(0)").replace("print(1)", "print(2)").replace("print(0)", "print(1)"),
        "untagged": text.replace(' tags=["revealing"]', ""),
        "package": text.replace("# T", "# Another"),
    }
    write(tmp_path, changed[change])
    if change == "package":
        monkeypatch.setattr("course_tools.authoring.stored.package_key", lambda *arguments: "another")
    assert " built: " in build_chapter(path, tmp_path)[0]


def test_build_says_where_a_prediction_is_answered(tmp_path: Path) -> None:
    path = write(tmp_path, '# T\n\nPredict the number.\n\n```python\nprint("42")\n```\n')
    said = "\n".join(build_chapter(path, tmp_path))
    assert "03_tiny.md:6: its stored output answers “Predict the number. …”; tag it revealing" in said


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
        kernel: Any = client.kc
        reply = kernel.kernel_info(reply=True, timeout=60)
        told = asyncio.get_event_loop().run_until_complete(reply) if asyncio.iscoroutine(reply) else reply
    assert told["content"]["language_info"] == language_info()


def test_failing_cell_is_named_and_nothing_is_touched(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = stored(course)
    write(course, TEXT.replace("print(guess)", "print('so far')\nprint(guess / 0)"))
    assert command.main(["03", "--root", str(course)]) == 1
    message = capsys.readouterr().err
    for part in ("03 (solution): cell 10", "03_tiny.md:71:  print(guess / 0)", "ZeroDivisionError", "it had printed: so far"):
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
        ("ipywidgets.interact(lambda n: 1 / 0, n=(0, 3));", "leaves a traceback: ZeroDivisionError"),
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
    made_up: list[NotebookNode] = []
    reply_from_outputs = PatientClient._reply_from_outputs

    def noted(cell: NotebookNode) -> dict[str, Any]:
        made_up.append(cell)
        return reply_from_outputs(cell)

    monkeypatch.setattr(PatientClient, "_reply_from_outputs", staticmethod(noted))
    path = write(tmp_path, "# T\n\n```python\nprint(1)\n```\n\n```python\n1 / 0\n```\n")
    with pytest.raises(BuildError, match="(?s)cell 3, .*ZeroDivisionError"):
        execute(read_chapter(path), SOLUTION, "", tmp_path, timeout=60)
    write(tmp_path, "# T\n\n```python\nprint(1)\n```\n")
    nb = execute(read_chapter(path), SOLUTION, "", tmp_path, timeout=60)
    assert nb.cells[1].outputs[0].text == "1\n"
    assert len(made_up) == 3  # every reply was lost, and none was waited for


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
        cwd=ROOT,
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
