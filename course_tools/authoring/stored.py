"""The notebooks on disk: whether they belong to their source, and how they are replaced."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course_utils.files import move
from course_utils.launcher.notebooks import answered as edited_answers

from .errors import BuildError
from .outputs import number, readable
from .source import CHAPTER, SOLUTION, Chapter
from .uses import package_key

KINDS = (SOLUTION, CHAPTER)


@dataclass
class Report:
    """How the stored notebooks of a chapter compare with its source."""

    problems: list[str] = field(default_factory=list)  # missing, out of date, edited
    answered: list[str] = field(default_factory=list)  # exercises a learner has filled in
    stale: bool = False  # missing, or made from another text
    package_changed: bool = False


def notebook_path(chapter: Chapter, kind: str, root: Path) -> Path:
    return root / chapter.notebook_in(kind)


def read_stored(path: Path) -> NotebookNode | None:
    """The notebook, or None when there is none; :class:`BuildError` when it cannot be read."""
    if not path.exists():
        return None
    try:
        return nbformat.read(path, as_version=4)
    except Exception as error:  # a broken file can raise nearly anything
        name = f"{path.parent.name}/{path.name}"
        kind = type(error).__name__
        raise BuildError(f"{name} is not a notebook any more ({kind}); move it away") from None


def compare(chapter: Chapter, root: Path) -> Report:
    """Read both notebooks of a chapter and report; nothing is run and nothing is written."""
    report, package = Report(), package_key(chapter, root)
    for kind in KINDS:
        path = notebook_path(chapter, kind, root)
        name = chapter.notebook_in(kind)
        stored = read_stored(path)
        if stored is None:
            report.problems.append(f"{name} is missing")
            report.stale = True
            continue
        course = stored.metadata.get("course", {})
        if kind == CHAPTER:
            report.answered = edited_answers(stored)
        if course.get("source") != chapter.sha256:
            report.problems.append(f"{name} was made from another text than {chapter.name}")
            report.stale = True
            continue
        report.package_changed |= course.get("package") != package
        wanted = chapter.notebook(kind, course.get("package", ""))
        skip = set(report.answered) if kind == CHAPTER else set()
        report.problems += [f"{name}: {text}" for text in _differences(stored, wanted, skip)]
    return report


def _differences(stored: NotebookNode, wanted: NotebookNode, answered: set[str]) -> Iterator[str]:
    """What was edited in the notebook and not in the text; a learner's answers do not count."""
    if stored.metadata.get("course") != wanted.metadata.course or "widgets" in stored.metadata:
        yield "its metadata is not what the text gives (saved by an editor?)"  # an editor may write the kernel's name and version
    for position, (have, want) in enumerate(zip(stored.cells, wanted.cells, strict=False), start=1):
        if have.id != want.id or have.cell_type != want.cell_type:
            yield f"cell {position} is {have.id}, the text gives {want.id}"
            return
        exercise = want.metadata.get("course", {})
        if exercise.get("role") == "answer" and exercise.get("exercise") in answered:
            continue
        if have.source != want.source:
            yield f"cell {position} ({have.id}) was edited"
        elif have.metadata != want.metadata:
            yield f"the metadata of cell {position} ({have.id}) was edited"
    if len(stored.cells) != len(wanted.cells):
        yield f"{len(stored.cells)} cells, the text gives {len(wanted.cells)}"


def with_new_text(chapter: Chapter, root: Path) -> dict[str, NotebookNode] | None:
    """Both notebooks with today's text and the outputs they have; None where the code, its order or what it imports has changed.

    A cell that is tagged ``revealing`` now loses its output in the blank chapter.
    """
    package, renewed = package_key(chapter, root), {}
    for kind in KINDS:
        stored = read_stored(notebook_path(chapter, kind, root))
        if stored is None or stored.metadata.get("course", {}).get("package") != package:
            return None
        renewed[kind] = chapter.notebook(kind, package)
        have, want = ([cell for cell in nb.cells if cell.cell_type == "code"] for nb in (stored, renewed[kind]))
        if list(map(_key, have)) != list(map(_key, want)):
            return None
        for before, after in zip(have, want, strict=True):
            was, now = ("revealing" in cell.metadata.get("tags", []) for cell in (before, after))
            if kind == CHAPTER and was and not now:
                return None  # its output is to be stored, and nobody has it
            after.outputs = [] if kind == CHAPTER and now else before.outputs
            number(after, None if kind == CHAPTER else before.execution_count)
    return renewed


def _key(cell: NotebookNode) -> tuple[str, str, list[str]]:
    """What a code cell's output depends on."""
    return cell.id, cell.source, [tag for tag in cell.metadata.get("tags", []) if tag != "revealing"]


def changed_outputs(stored: NotebookNode, fresh: NotebookNode) -> list[str]:
    """Ids of code cells whose outputs differ between two runs of the same text; the numbers of the runs do not count."""
    before, after = (
        {cell.id: [{**output, "execution_count": None} for output in cell.outputs] for cell in nb.cells if cell.cell_type == "code"}
        for nb in (stored, fresh)
    )
    return [identity for identity, outputs in after.items() if before.get(identity, outputs) != outputs]


def other_text(stored: NotebookNode, fresh: NotebookNode) -> Iterator[tuple[str, str, str]]:
    """Cells whose stored text is not what a fresh run prints: (id, stored, fresh); cells that measure do not count."""
    before = {cell.id: cell for cell in stored.cells if cell.cell_type == "code"}
    for cell in fresh.cells:
        if cell.cell_type != "code" or cell.id not in before or "measured" in cell.metadata.get("tags", []):
            continue
        texts = ["\n".join(readable(output) for output in one.get("outputs", [])) for one in (before[cell.id], cell)]
        if texts[0] != texts[1]:
            yield cell.id, texts[0], texts[1]


def replace_both(notebooks: dict[Path, NotebookNode]) -> None:
    """Put all notebooks in place, or none: each file is complete before the first is moved."""
    fresh: list[tuple[Path, Path]] = []
    old = {path: path.read_bytes() if path.exists() else None for path in notebooks}
    try:
        for path, nb in notebooks.items():
            nbformat.validate(nb)
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f".{path.name}.part")
            fresh.append((part, path))
            part.write_bytes((nbformat.writes(nb, version=4) + "\n").encode("utf-8"))
        for part, path in fresh:
            move(part, path)
    except BaseException:
        for path, content in old.items():
            if content is None:
                path.unlink(missing_ok=True)
            elif path.read_bytes() != content:
                path.write_bytes(content)
        raise
    finally:
        for part, _ in fresh:
            part.unlink(missing_ok=True)
