"""The clock: what a chapter asks of its reader, and the minutes that follow from it.

What is counted is what stands in the open: not in the companion, not in a folded "Deeper" section, not in ``<details>``, not in a hint.

- *words*: of the Markdown cells. A formula is one word; tags, addresses of links and the rows of tables are none.
- *lines*: lines of code that the blank chapter shows and that are not empty, comments, docstrings and stubs among them. A folded cell
  (``source_hidden``) shows none.
- *cells*: for each cell that shows code, its lines without docstrings.
- *tables*: for each table, its numbers: the entries with a digit, the names of its rows and columns apart. A table is one that the
  solved notebook shows (``show.table``, a data frame) or one of Markdown.
- *pictures*: outputs of the solved notebook that are a figure, a slider or a viewer, of folded cells, too, and images in Markdown. One
  figure is one picture, however many panels it has. What a cell tagged ``live`` draws is not stored, so it is not counted.
- *claims*: paragraphs that begin with **Claim check.**
- *core* and *optional*: minutes that the exercises of this text state. All exercises of a chapter are core, except those that
  ``docs/teaching.md`` calls optional; all exercises of a companion are optional.

A minute of reading is 110 words; a line of code takes 6 s, a table 70 s, a picture 40 s. An exercise states what a practised student
needs; the clock gives 1.4 times as much.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from nbformat import NotebookNode

from course_utils.paths import ROOT
from course_utils.show.pieces import LIVE

from .chapter import CHAPTER, FOLDED, Chapter

WORDS_A_MINUTE, SECONDS_A_LINE, SECONDS_A_TABLE, SECONDS_A_PICTURE, PRACTISED = 110, 6, 70, 40, 1.4

_HEADING = re.compile(r'(?:<a id="[^"]*"></a>\n\n)?(#{1,6}) ')  # build puts an address above an exercise's heading
_DETAILS = re.compile(r"<details.*?</details>", re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_WORD = re.compile(r"\w[\w'’.-]*")
_ROWS = re.compile(r"(?m)^\|.*\|[ \t]*\n\|[ :|-]+\|[ \t]*\n((?:\|.*\|[ \t]*(?:\n|\Z))*)")
_DRAWN = ("image/png", "image/svg+xml", LIVE)
_OPTIONAL = re.compile(r"(?m)^\| (\d\d[abc]?\.\d+) .*\| optional \|")


@dataclass(frozen=True)
class Figures:
    """What stands in the open; see the module."""

    words: int
    lines: int
    cells: tuple[int, ...]
    tables: tuple[int, ...]
    pictures: int
    claims: int
    core: int
    optional: int

    @property
    def longest(self) -> int:
        """Lines of the longest cell."""
        return max(self.cells, default=0)

    @property
    def median(self) -> float:
        """Lines of the middle one of all cells that show code."""
        return median(self.cells) if self.cells else 0.0

    @property
    def reading(self) -> float:
        """Minutes without exercises."""
        seconds = SECONDS_A_LINE * self.lines + SECONDS_A_TABLE * len(self.tables) + SECONDS_A_PICTURE * self.pictures
        return self.words / WORDS_A_MINUTE + seconds / 60

    @property
    def with_core(self) -> float:
        """Minutes with the core exercises."""
        return self.reading + PRACTISED * self.core

    @property
    def total(self) -> float:
        """Minutes with every exercise of this text."""
        return self.with_core + PRACTISED * self.optional

    @property
    def head(self) -> str:
        """What the chapter's head says of its minutes."""
        return f"About {rounded(self.total)} minutes with the exercises, {rounded(self.reading)} without."


def rounded(minutes: float) -> int:
    """To five minutes, as heads and tables state them."""
    return 5 * round(minutes / 5)


def figures(chapter: Chapter, solved: NotebookNode, optional: frozenset[str] | None = None) -> Figures:
    """Count a text and its solved notebook; ``optional`` are the exercises not to be counted as core (None: as docs/teaching.md says)."""
    from course_checks.engine import find  # brings torch

    shown = list(outside_folds(chapter.notebook(CHAPTER, "")))
    prose = [open_text(cell) for cell in shown if cell.cell_type == "markdown"]
    code = [cell.source for cell in shown if cell.cell_type == "code" and not hidden(cell)]
    outputs = [output.get("data", {}) for cell in outside_folds(solved) for output in cell.get("outputs", [])]
    spare = optional_exercises() if optional is None else optional
    minutes = {True: 0, False: 0}  # whether it is core
    for exercise in chapter.stubs:
        minutes[not chapter.is_companion and exercise not in spare] += find(exercise).minutes
    return Figures(
        words=sum(count_words(_ROWS.sub("", text)) for text in prose),
        lines=sum(bool(line.strip()) for source in code for line in source.splitlines()),
        cells=tuple(code_lines(source) for source in code),
        tables=(*(n for text in prose for n in _in_markdown(text)), *(n for data in outputs for n in _in_frame(data))),
        pictures=sum(any(kind in data for kind in _DRAWN) for data in outputs) + sum(text.count("![") for text in prose),
        claims=sum(text.count("**Claim check") for text in prose),
        core=minutes[True],
        optional=minutes[False],
    )


def optional_exercises(root: Path = ROOT) -> frozenset[str]:
    """Exercises that ``docs/teaching.md`` calls optional; none where that page is missing."""
    page = root / "docs" / "teaching.md"
    return frozenset(_OPTIONAL.findall(page.read_text(encoding="utf-8")) if page.exists() else ())


def hidden(cell: NotebookNode) -> bool:
    """Whether a cell's code is folded away: it draws, or asserts what was just shown."""
    return bool(cell.metadata.get("jupyter", {}).get("source_hidden"))


def outside_folds(nb: NotebookNode) -> Iterator[NotebookNode]:
    """The cells outside folded sections, without the links that build adds; a fold ends at a heading of its own level or above."""
    fold = 0
    for cell in nb.cells:
        level = heading_level(cell)
        if level and (not fold or level <= fold):
            fold = level if cell.metadata.get(FOLDED) else 0
        if not fold and cell.get("id") not in ("links-top", "links-end"):
            yield cell


def heading_level(cell: NotebookNode) -> int:
    """1 to 6 for a cell that begins with a heading, else 0."""
    heading = _HEADING.match(cell.source) if cell.cell_type == "markdown" else None
    return len(heading[1]) if heading else 0


def open_text(cell: NotebookNode) -> str:
    """What a Markdown cell says in the open: nothing where it is a hint."""
    hint = cell.metadata.get("course", {}).get("role") == "hint"
    return "" if hint else _DETAILS.sub("", cell.source)


def count_words(markdown: str) -> int:
    """Words of a text; a formula counts as one."""
    text = _LINK.sub(r"\1", _TAG.sub(" ", _FORMULA.sub(" formula ", markdown)))
    return len(_WORD.findall(text))


def docstring_lines(source: str) -> set[int]:
    """Numbers (from 1) of docstring lines; none when the code cannot be parsed."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return set()
    lines: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        first = node.body[0]
        if ast.get_docstring(node, clean=False) is not None:
            lines.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


def code_lines(source: str) -> int:
    """Lines of code that are neither empty nor part of a docstring."""
    docstrings = docstring_lines(source)
    return sum(1 for number, line in enumerate(source.splitlines(), 1) if line.strip() and number not in docstrings)


def _in_markdown(text: str) -> Iterator[int]:
    """For each table of a Markdown text, its numbers."""
    for found in _ROWS.finditer(text):
        yield sum(any(map(str.isdigit, entry)) for row in found[1].splitlines() for entry in row.strip().strip("|").split("|")[1:])


def _in_frame(data: NotebookNode) -> Iterator[int]:
    """For each data frame in an output, its numbers."""
    html = "".join(data.get("text/html", ""))
    for table in re.findall(r'<table[^>]*class="dataframe".*?</table>', html, re.DOTALL):
        yield sum(any(map(str.isdigit, _TAG.sub("", entry))) for entry in re.findall(r"<td.*?</td>", table, re.DOTALL))
