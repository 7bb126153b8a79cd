"""A chapter that has been read: its cells, in both their forms, and the two notebooks that are made of them."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode, v4

from course_utils.launcher.notebooks import digest

from ..metadata import KEY, NotebookMetadata, Tag, tag_of
from .blank import Line
from .errors import SourceError
from .ledger import DEEPER, SOURCE_NAME, name_of

SOLUTION, CHAPTER = "solution", "chapter"
FOLDED = "jp-MarkdownHeadingCollapsed"
_EXERCISE_TITLE = re.compile(r"^### Exercise (\S+) ", re.MULTILINE)


@dataclass(frozen=True)
class Cell:
    """One cell of a chapter, in its solved and in its blank form."""

    kind: str  # "code" or "markdown"
    id: str
    line: int  # of its first line in the source
    metadata: dict[str, Any]
    solved: tuple[Line, ...]
    blank: tuple[Line, ...]
    answer: tuple[str, ...]  # the lines of the solution alone

    @property
    def exercise(self) -> str | None:
        return self.tag.exercise

    @property
    def role(self) -> str | None:
        return self.tag.role

    @property
    def tag(self) -> Tag:
        """The exercise to which it belongs, and what it is in it."""
        return tag_of({"metadata": self.metadata})

    @property
    def measured(self) -> bool:
        """Prints times and the like, so that its output may differ from build to build."""
        return "measured" in self.metadata.get("tags", [])

    @property
    def live(self) -> bool:
        """Shows what depends on the reader or on the whole course: it is run, and its output is not stored."""
        return "live" in self.metadata.get("tags", [])

    @property
    def revealing(self) -> bool:
        """Shows what a prediction is about: its output is stored with the solutions only."""
        return "revealing" in self.metadata.get("tags", [])

    def lines(self, kind: str) -> tuple[Line, ...]:
        return self.solved if kind == SOLUTION else self.blank

    def source(self, kind: str) -> str:
        return "\n".join(text for _, text in self.lines(kind))


RUN_FIRST = (
    "*Run the cells from the top, with Shift+Enter. What stands below them was computed when the chapter was made. "
    "Are you reading this on GitHub? There nothing moves; [the README]({up}README.md) says how it runs, and how to make the book.*"
)


@dataclass(frozen=True)
class Chapter:
    """The text of a chapter or of a companion, read."""

    path: Path
    number: str
    slug: str
    sha256: str
    cells: tuple[Cell, ...]

    @property
    def name(self) -> str:
        return name_of(self.path)

    @property
    def is_companion(self) -> bool:
        return self.path.parent.name == DEEPER

    @property
    def label(self) -> str:
        """``03``, or ``03-deeper`` for its companion."""
        return f"{self.number}-{DEEPER}" if self.is_companion else self.number

    def notebook_in(self, kind: str) -> str:
        """Where its notebook lies, seen from the root: ``chapters/deeper/03_slug.ipynb``, say."""
        return f"{folder_of(kind)}/{DEEPER + '/' if self.is_companion else ''}{self.path.stem}.ipynb"

    @property
    def stubs(self) -> dict[str, str]:
        """Exercise id → hash of its blank answer cell."""
        return {str(cell.exercise): digest(cell.source(CHAPTER)) for cell in self.cells if cell.role == "answer"}

    def notebook(self, kind: str, package: str) -> NotebookNode:
        """The notebook without outputs; ``package`` is the hash of the code it was run with."""
        nb = v4.new_notebook()
        nb.metadata.kernelspec = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
        nb.metadata.language_info = language_info()
        nb.metadata[KEY] = NotebookMetadata(chapter=self.number, kind=kind, source=self.sha256, package=package, stubs=self.stubs)
        for cell in self.cells:
            if cell.kind == "code":
                nb.cells.append(v4.new_code_cell(cell.source(kind), id=cell.id, metadata=cell.metadata))
            else:  # an address to link to: JupyterLab finds no heading with stars in it
                text = _EXERCISE_TITLE.sub(r'<a id="exercise-\1"></a>\n\n\g<0>', cell.source(kind))
                nb.cells.append(v4.new_markdown_cell(text, id=cell.id, metadata=cell.metadata))
        ways = self.ways()
        if ways:
            nb.cells.insert(
                1, v4.new_markdown_cell(f"{ways}\n\n{RUN_FIRST.format(up='../../' if self.is_companion else '../')}", id="links-top")
            )
        end = [*filter(None, [ways]), *self.companion_link()]
        if end:
            nb.cells.append(v4.new_markdown_cell("\n\n".join(end), id="links-end"))
        return nb

    def ways(self) -> str:
        """Links to the chapter before, to the map in the first chapter, and to the chapter behind; empty where there is no other.

        A companion leads back to its chapter instead, and to the map.
        """
        if self.is_companion:
            beside = _texts(self.path.parents[1])
            own = next(path for path in beside if path.name.startswith(f"{self.number}_"))
            return f"[← {title(own)}](../{own.stem}.ipynb) | [map of the course](../{beside[0].stem}.ipynb#map)"
        beside = _texts(self.path.parent)
        at, first = beside.index(self.path), beside[0]
        parts = [f"[← {title(path)}]({path.stem}.ipynb)" for path in beside[:at][-1:]]
        parts += [f"[map of the course]({first.stem}.ipynb#map)"] if at else []
        parts += [f"[{title(path)} →]({path.stem}.ipynb)" for path in beside[at + 1 :][:1]]
        return " | ".join(parts)

    def companion_link(self) -> list[str]:
        """At a chapter's end: where its companion is, if it has one."""
        beside = [] if self.is_companion else _texts(self.path.parent / DEEPER)
        return [f"Deeper: [{title(path)}]({DEEPER}/{path.stem}.ipynb)" for path in beside if path.name.startswith(f"{self.number}_")]


def folder_of(kind: str) -> str:
    """Where the notebooks of a kind live."""
    return "solutions" if kind == SOLUTION else "chapters"


def _texts(folder: Path) -> list[Path]:
    """The sources in a folder, in order."""
    return [path for path in sorted(folder.glob("*.md")) if SOURCE_NAME.fullmatch(path.name)]


def title(path: Path) -> str:
    """What a chapter is called: the first heading of its source."""
    found = re.search(r"(?m)^# (.+)$", path.read_text(encoding="utf-8"))
    if found is None:
        raise SourceError(f"{path.parent.name}/{path.name}", 1, "a chapter begins with its title, a heading with one #")
    return found[1].strip()


def language_info() -> dict[str, Any]:
    """What the kernel says of its language: with less than all of it, merely opening a notebook would count as a change."""
    return {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": platform.python_version(),
    }
