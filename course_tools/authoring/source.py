"""Read a chapter's text and derive the cells of its two notebooks.

The text is a jupytext markdown notebook; ``blank`` says how answers are marked in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jupytext
from nbformat import NotebookNode

from course_utils.launcher.notebooks import digest

from ..metadata import KEY, ROLES, SCHEMA, CellMetadata, tag_of
from .blank import Line, split_variants
from .chapter import CHAPTER, FOLDED, SOLUTION, Cell, Chapter
from .errors import SourceError
from .ledger import SOURCE_NAME, name_of, parse_markers, strip_markers

__all__ = ["CHAPTER", "SOLUTION", "Cell", "Chapter", "read_chapter", "with_headings"]

_ALLOWED_METADATA = {KEY, "tags", "deeper", "jupyter"}
_EXERCISE = re.compile(r"(?P<chapter>\d\d[a-z]?)\.(?P<number>\d+)")
_HEADING = re.compile(r"#{1,6} ")
_EXERCISE_HEADING = re.compile(r"^### Exercise (?P<id>\S+)(?P<rest>[ \t]+\S.*)?$", re.MULTILINE)
_COLOURS = {"query": "#b85f0e", "key": "#2c6aa6", "value": "#1c7a45"}  # as in live.css; dark themes replace them
_DEEPER = re.compile(r"^#{2,6} Deeper: ", re.MULTILINE)


def cell_id(exercise: str, role: str) -> str:
    """``("08a.3", "answer")`` → ``ex-08a-3-answer``."""
    return f"ex-{exercise.replace('.', '-')}-{role}"


def heading_of(exercise: str) -> str:
    """``"Exercise 04.3 ★ Heads side by side (4 minutes)"``: title, stars and minutes are typed once, in the exercise."""
    from course_checks.engine import find  # brings torch, which the ledger alone does not need

    return find(exercise).heading


def with_headings(text: str, name: str, heading: Callable[[str], str] = heading_of) -> str:
    """The text with every bare ``### Exercise 04.3`` completed; as many lines as before. SourceError for an unknown exercise."""

    def complete(found: re.Match[str]) -> str:
        line = text.count("\n", 0, found.start()) + 1
        if found["rest"]:
            raise SourceError(name, line, f"write '### Exercise {found['id']}' alone: build adds title, stars and minutes")
        try:
            return "### " + heading(found["id"])
        except LookupError as error:
            new = "A new exercise must be listed in EXERCISES, in its chapter's __init__.py."
            raise SourceError(name, line, f"{error.args[0]} ({new})") from None

    return _EXERCISE_HEADING.sub(complete, text)


def read_chapter(path: Path, heading: Callable[[str], str] = heading_of) -> Chapter:
    """Parse ``solutions/NN_slug.md`` or ``solutions/deeper/NN_slug.md``; :class:`SourceError` says where it breaks a convention."""
    name = name_of(path)
    match = SOURCE_NAME.fullmatch(path.name)
    if match is None:
        raise SourceError(name, 1, "a source is called NN_slug.md or NNa_slug.md, for example 08a_encoder_decoder.md")
    text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
    parse_markers(text, name)
    cells = _Reader(name, match["number"], with_headings(text, name, heading)).read()
    _check_exercises(name, cells)
    return Chapter(path, match["number"], match["slug"], digest(text), cells)


def coloured(text: str) -> str:
    r"""Formulas in the course's colours: ``\query{q_i}``, ``\key{k_j}`` and ``\value{v_j}`` are orange, blue and green."""
    return re.sub(r"\\(query|key|value)\{", lambda found: rf"\textcolor{{{_COLOURS[found[1]]}}}{{", text)


class _Reader:
    """Turns jupytext's cells into ours and keeps track of where each stands in the text."""

    def __init__(self, name: str, number: str, text: str) -> None:
        self.name, self.number = name, number
        self.text = text
        self.text_lines = text.split("\n")
        self.position = 0  # index of the first line that belongs to no cell yet
        self.seen: dict[str, int] = {}

    def read(self) -> tuple[Cell, ...]:
        opened = len(re.findall(r"^<!-- #region\b", self.text, re.MULTILINE))
        closed = len(re.findall(r"^<!-- #endregion -->", self.text, re.MULTILINE))
        if opened != closed:
            raise self._error(1, f"{opened} <!-- #region … --> but {closed} <!-- #endregion -->")
        nb = jupytext.reads(self.text, fmt={"extension": ".md", "split_at_heading": True})
        cells = []
        for index, raw in enumerate(nb.cells):
            lines = self._locate(raw.source)
            if raw.cell_type == "raw" and index == 0:
                continue  # the file's own header
            cell = self._cell(raw, lines)
            if cell is not None:
                cells.append(cell)
        return tuple(cells)

    def _error(self, line: int, message: str) -> SourceError:
        return SourceError(self.name, line, message)

    def _locate(self, source: str) -> list[Line]:
        """The cell's lines with their numbers in the text."""
        wanted = source.split("\n")
        for start in range(self.position, len(self.text_lines) - len(wanted) + 1):
            if self.text_lines[start : start + len(wanted)] == wanted:
                self.position = start + len(wanted)
                return [(start + 1 + offset, text) for offset, text in enumerate(wanted)]
        return [(self.position + 1, text) for text in wanted]

    def _cell(self, raw: NotebookNode, lines: list[Line]) -> Cell | None:
        line = lines[0][0]
        if raw.cell_type == "raw":
            raise self._error(line, "raw cells are not supported")
        if raw.cell_type == "markdown":
            source = coloured(strip_markers(raw.source))
            if source != raw.source:
                lines = [(line, text) for text in source.split("\n")]
            if not source.strip():
                return None
        elif not raw.source.strip():
            raise self._error(line, "an empty code cell")
        metadata = self._metadata(raw, line)
        if raw.cell_type == "markdown":
            self._check_markdown(source, metadata, line)
            if metadata.pop("deeper", False) or _DEEPER.match(source):
                metadata[FOLDED] = True
        is_answer = tag_of({"metadata": metadata}).role == "answer"
        variants = split_variants(self.name, lines, is_answer)
        identity = self._identity(raw.cell_type, variants.solved, metadata)
        return Cell(raw.cell_type, identity, line, metadata, tuple(variants.solved), tuple(variants.blank), tuple(variants.answer))

    def _metadata(self, raw: NotebookNode, line: int) -> dict[str, Any]:
        metadata = {key: value for key, value in raw.metadata.items() if key != "lines_to_next_cell"}
        broken = metadata.get("incorrectly_encoded_metadata")
        if broken:
            raise self._error(line, f"cannot read the cell's settings {broken!r}; write key=<JSON value>")
        unknown = sorted(set(metadata) - _ALLOWED_METADATA)
        if unknown:
            raise self._error(line, f"unknown cell settings {', '.join(unknown)}; known: {', '.join(sorted(_ALLOWED_METADATA))}")
        if "raises-exception" in metadata.get("tags", []):
            raise self._error(line, "a stored notebook shows no traceback: catch the exception and print it")
        if KEY in metadata:
            metadata[KEY] = self._course(dict(metadata[KEY]), raw.cell_type, line)
        return metadata

    def _course(self, course: dict[str, Any], kind: str, line: int) -> CellMetadata:
        if set(course) != {"exercise", "role"} or course["role"] not in ROLES:
            raise self._error(line, f'course needs "exercise" and "role" (one of {", ".join(ROLES)}), not {course}')
        match = _EXERCISE.fullmatch(str(course["exercise"]))
        if match is None or match["chapter"] != self.number:
            raise self._error(line, f'exercise ids here look like "{self.number}.1", not {course["exercise"]!r}')
        if (kind == "markdown") != (course["role"] == "hint"):
            raise self._error(line, f"the {course['role']} of an exercise cannot be a {kind} cell")
        return CellMetadata(exercise=course["exercise"], role=course["role"], schema=SCHEMA)

    def _check_markdown(self, source: str, metadata: dict[str, Any], line: int) -> None:
        if source.count("<details") != source.count("</details>"):
            raise self._error(
                line,
                "a <details> block was cut in two by a code block, a heading or two blank lines; "
                "put it between <!-- #region --> and <!-- #endregion -->",
            )
        deeper = _DEEPER.search(source)
        if deeper and deeper.start() > 0:
            raise self._error(line, f"leave a blank line above {deeper[0].strip()!r}, or it cannot be folded")
        if metadata.get("deeper") and not _HEADING.match(source):
            raise self._error(line, "a folded section begins with a heading, for example '## Deeper: …'")

    def _identity(self, kind: str, solved: list[Line], metadata: dict[str, Any]) -> str:
        exercise, role = tag_of({"metadata": metadata})
        if exercise and role:
            base = cell_id(exercise, role)
        else:
            base = digest(kind + "\n" + "\n".join(text for _, text in solved))[:12]
        self.seen[base] = self.seen.get(base, 0) + 1
        return base if self.seen[base] == 1 else f"{base}-{self.seen[base]}"


def _check_exercises(name: str, cells: tuple[Cell, ...]) -> None:
    """One answer, one check after it, at least one hint for every exercise."""
    for exercise in dict.fromkeys(cell.exercise for cell in cells if cell.exercise):
        own = [cell for cell in cells if cell.exercise == exercise]
        answers, checks, hints = ([cell for cell in own if cell.role == role] for role in ROLES)
        if len(answers) != 1:
            raise SourceError(name, own[0].line, f"exercise {exercise} has {len(answers)} answer cells, it needs exactly one")
        if len(checks) != 1:
            raise SourceError(name, answers[0].line, f"exercise {exercise} has {len(checks)} check cells, it needs exactly one")
        if cells.index(checks[0]) < cells.index(answers[0]):
            raise SourceError(name, checks[0].line, f"the check of exercise {exercise} stands above its answer")
        if not hints:
            raise SourceError(name, answers[0].line, f"exercise {exercise} has no hint cell")
        for hint in hints:
            if "<details" not in hint.source(SOLUTION):
                raise SourceError(name, hint.line, f"a hint of exercise {exercise} is not folded; put it in <details>")
