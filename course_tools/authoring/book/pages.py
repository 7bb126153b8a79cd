"""Notebooks as pages: what a reader of the site sees instead of live cells."""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from ...metadata import tag_of
from ..errors import AuthoringError
from ..ledger import DEEPER, find_companions, find_sources, name_of, parse_markers
from ..source import with_headings
from .links import CrossReferences, launch_links, papers_of
from .live import shown

HEADING = re.compile(r"(?m)^(#{1,4}) +(.+?)\s*$")
EXERCISE = re.compile(r"Exercise (?P<id>\d\d[a-z]?\.\d+) (?P<stars>★+) (?P<title>.+?) \((?P<minutes>\d+) minutes?\)")
WAY = re.compile(r"\[(?P<words>[^\[\]]+)\]\((?:\.\./|deeper/)?(?P<stem>\d\d[a-z]?_\w+)\.ipynb(?P<place>#[^)\s]+)?\)")
_FENCE = re.compile(r"(?ms)^(```|~~~).*?^\1")
DOWNLOAD = (
    '<p class="notebook-link"><a href="../notebooks/{stem}.ipynb" download>Download this chapter as a notebook</a> {launch}'
    "<span>(.ipynb; it runs in the course's folder <code>{folder}</code>)</span></p>"
)
FOLD_INPUT, FOLD_OUTPUT = "hide-input", "hide-output"  # MyST-NB's tags


@dataclass(frozen=True)
class Section:
    """A heading of a chapter: its text, its label on the site, and the line of the source it stands on."""

    text: str
    label: str
    line: int


@dataclass(frozen=True)
class Page:
    """A chapter or a companion: its number, the stem of its files, its title, its sections in order, and the ledger rows of each.

    On the site both lie in ``chapters``: their stems differ.
    """

    number: str
    stem: str
    title: str
    sections: tuple[Section, ...]
    rows: dict[str, Section]  # the first place a row is marked
    is_companion: bool = False

    @property
    def label(self) -> str:
        """``03``, or ``03-deeper`` for its companion."""
        return f"{self.number}-{DEEPER}" if self.is_companion else self.number

    @property
    def place(self) -> str:
        """Its notebook below ``chapters`` and ``solutions``, without its ending."""
        return f"{DEEPER}/{self.stem}" if self.is_companion else self.stem


def headings(text: str) -> list[tuple[int, int, str]]:
    """``(position, level, text)`` of each Markdown heading outside fenced code."""
    hidden = [found.span() for found in _FENCE.finditer(text)]
    return [
        (found.start(), len(found[1]), found[2])
        for found in HEADING.finditer(text)
        if not any(start <= found.start() < end for start, end in hidden)
    ]


def label(number: str, position: int) -> str:
    """The name of a chapter's heading for links, such as ``s-03-12``."""
    return f"s-{number}-{position}"


def answer_label(exercise: str) -> str:
    """The name of an exercise's answer for links, such as ``a-03-1``."""
    return f"a-{exercise.replace('.', '-')}"


def read_pages(root: Path) -> list[Page]:
    """Every chapter that has a notebook, then every companion, with its sections and where it teaches which row of the ledger."""
    found = [*find_sources(root).items(), *find_companions(root).items()]
    return [page for number, path in found if (page := _read_page(number, path, root)) is not None]


def _read_page(number: str, path: Path, root: Path) -> Page | None:
    """The page of a source; None where it has no notebook."""
    is_companion = path.parent.name == DEEPER
    page = Page(number, path.stem, "", (), {}, is_companion)
    if not (root / "chapters" / f"{page.place}.ipynb").exists():
        return None
    text = with_headings(path.read_text(encoding="utf-8"), name_of(path))
    text = text[text.index("\n---", 3) + 4 :] if text.startswith("---") else text
    sections = tuple(
        Section(words, label(page.label, place), text.count("\n", 0, at) + 1) for place, (at, _, words) in enumerate(headings(text))
    )
    rows: dict[str, Section] = {}
    for marker in parse_markers(text, name_of(path)):
        above = [section for section in sections if section.line <= marker.line] or [sections[0]]
        for row in marker.ids:
            rows.setdefault(row, above[-1])
    return replace(page, title=sections[0].text, sections=sections, rows=rows)


def references(pages: list[Page]) -> CrossReferences:
    """What turns mentions of chapters and exercises into links."""
    return CrossReferences(pages, {found["id"]: section.label for page in pages for found, section in exercises(page)})


def stage_chapter(page: Page, root: Path, out: Path, links: CrossReferences) -> None:
    """Write ``out/chapters/STEM.ipynb`` and its pictures: headings with labels, links, no panels, pictures as files,
    drawing code folded; the learner's notebook beside it."""
    delivered = root / "chapters" / f"{page.place}.ipynb"
    notebook = nbformat.read(delivered, as_version=4)
    solution = root / "solutions" / f"{page.place}.ipynb"
    solved = {cell.id: cell.get("outputs", []) for cell in nbformat.read(solution, as_version=4).cells} if solution.exists() else {}
    static = out / "static"
    papers = papers_of([cell.source for cell in notebook.cells if cell.cell_type == "markdown"])
    position, cells, answer = 0, [], None
    for cell in notebook.cells:
        if answer is not None and tag_of(cell).role != "hint":  # first the hints, then the way to the answer
            cells.append(answer)
            answer = None
        if cell.cell_type == "markdown":
            if cell.id == "links-top":
                cell.source = cell.source.split("\n\n")[0]  # below the links stands how to run cells
            source = links.link(WAY.sub(_way, cell.source), page.label, papers)
            cell.source, position = _labelled(source, page.label, position)
        else:
            tags = cell.metadata.get("tags", [])
            stored = solved.get(cell.id, cell.outputs) if "revealing" in tags else cell.outputs
            outputs = [] if _personal(cell) else stored
            cell.outputs = [shown(output, f"{page.stem}-{cell.id}-{place}", static) for place, output in enumerate(outputs)]
            if _silent(cell):
                continue
            if "revealing" in tags:
                cell.metadata["tags"] = [*tags, FOLD_OUTPUT]
            if cell.metadata.get("jupyter", {}).get("source_hidden"):
                cell.metadata["tags"] = [*cell.metadata.get("tags", []), FOLD_INPUT]
        exercise, role = tag_of(cell)
        cells.append(cell)
        if exercise and role == "check":
            answer = nbformat.v4.new_markdown_cell(f"[Answer to exercise {exercise}](#{answer_label(exercise)})")
    cells += [answer] if answer is not None else []
    if position != len(page.sections):
        raise AuthoringError(f"{page.stem}: the notebook has {position} headings, its source {len(page.sections)}; build it again")
    first = next((i for i, cell in enumerate(cells) if headings(cell.source)), 0)
    download = DOWNLOAD.format(stem=page.stem, launch=launch_links(root, page.place), folder=delivered.parent.relative_to(root).as_posix())
    cells.insert(first + 1, nbformat.v4.new_markdown_cell(download))
    notebook.cells = cells
    target = out / "chapters" / f"{page.stem}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, target)
    (out / "extra" / "notebooks").mkdir(parents=True, exist_ok=True)
    shutil.copy(delivered, out / "extra" / "notebooks")


def _way(found: re.Match[str]) -> str:
    """A link to another notebook as one to its page; the places it may name are raw ``<a id>``, which MyST does not know."""
    return f'<a href="{found["stem"]}.html{found["place"] or ""}">{found["words"]}</a>'


def _personal(cell: NotebookNode) -> bool:
    """Whether a cell's output speaks to whoever runs it: the panel of a check that nobody attempted, somebody's progress."""
    return tag_of(cell).role == "check" or "live" in cell.metadata.get("tags", [])


def _silent(cell: NotebookNode) -> bool:
    """Whether a folded cell shows nothing and only makes sure of something: a reader of the page would open it in vain."""
    folded = cell.metadata.get("jupyter", {}).get("source_hidden") and not cell.outputs
    return bool(folded) and isinstance(ast.parse(cell.source).body[-1], ast.Assert)


def _labelled(source: str, number: str, position: int) -> tuple[str, int]:
    parts, end = [], 0
    for at, _, _ in headings(source):
        parts += [source[end:at], f"({label(number, position)})=\n"]
        end, position = at, position + 1
    return "".join(parts) + source[end:], position


def exercises(page: Page) -> Iterator[tuple[re.Match[str], Section]]:
    """The exercises of a chapter, read from their headings."""
    for section in page.sections:
        found = EXERCISE.fullmatch(section.text)
        if found:
            yield found, section


def has_answers(page: Page) -> bool:
    """Whether it has exercises; a companion may have none."""
    return any(exercises(page))


def stage_answers(page: Page, root: Path, out: Path) -> None:
    """Write ``out/answers/STEM.md``: each answer of the solved notebook, with a way back to its exercise."""
    notebook = nbformat.read(root / "solutions" / f"{page.place}.ipynb", as_version=4)
    answers: dict[str, list[str]] = {}
    for cell in notebook.cells:
        exercise, role = tag_of(cell)
        if exercise and role == "answer":
            answers.setdefault(exercise, []).append(cell.source)
    lines = [
        f"# Answers to chapter {page.number}{', deeper' if page.is_companion else ''}",
        "",
        f"Chapter: [{page.title}](#{page.sections[0].label}). Try first; a check tells "
        "more than an answer. There is more than one right way.",
        "",
    ]
    for found, section in exercises(page):
        lines += [f"({answer_label(found['id'])})=", f"## {found['id']} {found['title']}", "", f"[To the exercise](#{section.label})", ""]
        for source in answers[found["id"]]:
            lines += ["```python", source, "```", ""]
    target = out / "answers" / f"{page.stem}.md"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join(lines), encoding="utf-8")
