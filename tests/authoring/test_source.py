"""A chapter's text: the conventions of a source, its load, and outputs fit to be stored."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from tiny_chapter import TEXT, write

from course_tools.authoring.errors import SourceError
from course_tools.authoring.execute import kernel_environment
from course_tools.authoring.ledger import strip_markers
from course_tools.authoring.outputs import clean_outputs, output_problem, stable_png
from course_tools.authoring.source import CHAPTER, SOLUTION, coloured, read_chapter

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


def test_formulas_have_the_three_colours() -> None:
    assert coloured(r"$\query{q_i}\cdot\key{k}$, \keys{} and $\value{V}$") == (
        r"$\textcolor{#b85f0e}{q_i}\cdot\textcolor{#2c6aa6}{k}$, \keys{} and $\textcolor{#1c7a45}{V}$"
    )


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
        ('"03.1", "role": "answer"', '"03.1", "role": "anwser"', 27, "(one of answer, check, hint)"),
        ('python course={"exercise": "03.1", "role": "check"}', 'python course={"exercise', 36, "JSON"),
        ('course={"exercise": "03.1", "role": "check"}', 'corse="x"', 36, "unknown cell settings corse"),
        ("<!-- #endregion -->", "", 1, "but 0 <!-- #endregion -->"),
        ("And goes on.\n", "Text\n## Deeper: x\n", 1, "leave a blank line above"),
        ("And goes on.", "<details>\n\n```python\n1\n```\n\n</details>", 1, "cut in two"),
        ("```python\n1 + 1\n```\n\n```python\n1 + 1", '```python tags=["raises-exception"]\n1', 94, "traceback"),
    ],
)
def test_bad_sources_say_what_and_where(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    assert old in TEXT
    path = write(tmp_path, TEXT.replace(old, new))
    with pytest.raises(SourceError) as caught:
        read_chapter(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"solutions/03_tiny.md:{line}:"), caught.value


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
