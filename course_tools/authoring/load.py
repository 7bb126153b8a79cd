"""What a chapter asks of its reader, outside folded "Deeper" sections."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from statistics import median

from nbformat import NotebookNode

from .chapter import FOLDED

MAX_WORDS, MAX_CODE_CELLS, MAX_CODE_LINES, MAX_COLUMNS = 5_000, 45, 25, 80  # of a chapter twice, of a cell, of a line

_HEADING = re.compile(r"(#{1,6}) ")
_TAG = re.compile(r"<[^>]+>")
_FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_WORD = re.compile(r"\w[\w'’.-]*")


@dataclass(frozen=True)
class Load:
    """Counts outside folded sections."""

    words: int
    code_cells: int
    code_lines: tuple[int, ...]

    @property
    def median_lines(self) -> float:
        return median(self.code_lines) if self.code_lines else 0.0


def hidden(cell: NotebookNode) -> bool:
    """Whether a cell's code is folded away: it draws, or asserts what was just shown."""
    return bool(cell.metadata.get("jupyter", {}).get("source_hidden"))


def open_cells(nb: NotebookNode) -> list[NotebookNode]:
    """The cells outside folds, whose code is not folded either; a fold ends at a heading of its own level or above."""
    cells, fold = [], 0
    for cell in nb.cells:
        heading = _HEADING.match(cell.source) if cell.cell_type == "markdown" else None
        if heading and (not fold or len(heading[1]) <= fold):
            fold = len(heading[1]) if cell.metadata.get(FOLDED) else 0
        if not fold and not hidden(cell) and cell.get("id") not in ("links-top", "links-end"):  # what build adds is nothing to study
            cells.append(cell)
    return cells


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


def measure(nb: NotebookNode) -> Load:
    """The load of a notebook."""
    cells = open_cells(nb)
    code = tuple(code_lines(cell.source) for cell in cells if cell.cell_type == "code")
    return Load(sum(count_words(cell.source) for cell in cells if cell.cell_type == "markdown"), len(code), code)
