"""Which rows of ``docs/ledger.md`` the chapters cover.

Usage::

    python -m course_tools.authoring.ledger [NN ...]

A text marks the place that teaches a row with ``<!-- ledger: 03-06 E-31 -->`` (at most three ids). A
row counts as present when any chapter, any companion or ``docs/claims.md`` marks it: a neighbour may
take it where it teaches better.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from course_utils.paths import ROOT

from .errors import AuthoringError, LedgerError, SourceError

SOURCE_NAME = re.compile(r"(?P<number>\d\d[a-z]?)_(?P<slug>[a-z0-9_]+)\.md")
DEEPER = "deeper"  # the folder of companions, below that of the chapters
MAX_IDS = 3

_CHAPTER = re.compile(r"\d\d[a-z]?")
_ROW_ID = re.compile(r"\d\d[a-z]?-\d\d|[EQF]-\d{2,3}|C-\d\d-\d\d")
_ANY_MARKER = re.compile(r"<!--\s*ledger\b.*?-->", re.IGNORECASE | re.DOTALL)
_MARKER = re.compile(r"<!-- ledger: (?P<ids>[^\n]*?) -->")
_MARKER_LINE = re.compile(rf"^[ \t]*{_ANY_MARKER.pattern}[ \t]*\n?", re.IGNORECASE | re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Marker:
    """One ``<!-- ledger: … -->`` and where it stands."""

    name: str
    line: int
    ids: tuple[str, ...]


@dataclass(frozen=True)
class Coverage:
    """The rows of one chapter, and those that no existing chapter marks."""

    chapter: str
    rows: int
    missing: tuple[str, ...]

    @property
    def present(self) -> int:
        return self.rows - len(self.missing)


def find_sources(root: Path) -> dict[str, Path]:
    """``{"03": root/solutions/03_self_attention.md, …}`` in the course's order."""
    return _sources_in(root / "solutions", "two sources for chapter")


def find_companions(root: Path) -> dict[str, Path]:
    """``{"03": root/solutions/deeper/03_slug.md}``, by the chapter; AuthoringError where that is missing or has the same name."""
    found, chapters = _sources_in(root / "solutions" / DEEPER, "two companions of chapter"), find_sources(root)
    for number, path in found.items():
        if number not in chapters:
            raise AuthoringError(f"{name_of(path)} is the companion of no chapter: there is no chapter {number}")
        if path.name == chapters[number].name:
            raise AuthoringError(f"{name_of(path)} has its chapter's name; a companion has one of its own")
    return found


def find_texts(root: Path) -> dict[str, Path]:
    """Every source: ``{"03": …, "03-deeper": …}``, a chapter's companion behind it."""
    companions = find_companions(root)
    return {
        key: path
        for number, chapter in find_sources(root).items()
        for key, path in ((number, chapter), (f"{number}-{DEEPER}", companions.get(number)))
        if path is not None
    }


def name_of(path: Path) -> str:
    """What a source is called in messages: ``solutions/03_slug.md``, ``solutions/deeper/03_slug.md``."""
    return "/".join(["solutions", *([DEEPER] if path.parent.name == DEEPER else []), path.name])


def _sources_in(folder: Path, two: str) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in sorted(folder.glob("*.md")):
        match = SOURCE_NAME.fullmatch(path.name)
        if match is None:
            continue
        if match["number"] in found:
            raise AuthoringError(f"{two} {match['number']}: {found[match['number']].name}, {path.name}")
        found[match["number"]] = path
    return found


def parse_ledger(text: str) -> dict[str, str]:
    """The chapter of every row, from each table with the columns ``id`` and ``chapter``."""
    rows: dict[str, str] = {}
    columns: list[str] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.startswith("|"):
            columns = None
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if columns is None:
            columns = cells
            continue
        if "id" not in columns or "chapter" not in columns or set(line) <= set("|-: "):
            continue
        if len(cells) != len(columns):
            raise LedgerError(f"ledger line {number}: {len(cells)} cells, the table's header has {len(columns)}")
        row, chapter = cells[columns.index("id")], cells[columns.index("chapter")]
        if not _ROW_ID.fullmatch(row):
            raise LedgerError(f"ledger line {number}: {row!r} is not an id like 03-06, E-31, C-02-08, Q-03, F-12")
        if not _CHAPTER.fullmatch(chapter):
            raise LedgerError(f"ledger line {number}: {row} has the chapter {chapter!r}; write it like 03 or 08a")
        if row in rows:
            raise LedgerError(f"ledger line {number}: the id {row} occurs twice")
        rows[row] = chapter
    return rows


def read_ledger(root: Path = ROOT) -> dict[str, str]:
    """:func:`parse_ledger` of ``docs/ledger.md``."""
    return parse_ledger((root / "docs" / "ledger.md").read_text(encoding="utf-8"))


def parse_markers(text: str, name: str = "source") -> list[Marker]:
    """Every marker in a text; :class:`SourceError` for a malformed or overlong one."""
    markers = []
    for found in _ANY_MARKER.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        exact = _MARKER.fullmatch(found[0])
        ids = tuple(exact["ids"].split()) if exact else ()
        if not ids or not all(_ROW_ID.fullmatch(row) for row in ids):
            raise SourceError(name, line, f"cannot read {found[0]!r}; write it like <!-- ledger: 03-06 E-31 -->")
        if len(ids) > MAX_IDS:
            raise SourceError(name, line, f"{len(ids)} ids in one marker, at most {MAX_IDS}: put each where it is taught")
        markers.append(Marker(name, line, ids))
    return markers


def strip_markers(text: str) -> str:
    """The text of a cell without its markers and without the blank lines they leave behind."""
    without = _ANY_MARKER.sub("", _MARKER_LINE.sub("", text))
    return re.sub(r"\n{3,}", "\n\n", without).strip("\n") if without != text else text


def marked(root: Path = ROOT) -> dict[str, list[Marker]]:
    """``{row id: its markers}`` over all chapters, their companions and ``docs/claims.md``; :class:`LedgerError` for an unknown id."""
    rows = read_ledger(root)
    found: dict[str, list[Marker]] = {}
    unknown = []
    claims = [path for path in [root / "docs" / "claims.md"] if path.exists()]
    for path in [*find_texts(root).values(), *claims]:
        for marker in parse_markers(path.read_text(encoding="utf-8"), f"{path.parent.name}/{path.name}"):
            for row in marker.ids:
                found.setdefault(row, []).append(marker)
                if row not in rows:
                    unknown.append(f"{marker.name}:{marker.line}: {row}")
    if unknown:
        raise LedgerError("ids that docs/ledger.md does not have:\n  " + "\n  ".join(unknown))
    return found


def coverage(root: Path = ROOT) -> list[Coverage]:
    """One entry for each chapter that exists."""
    rows, present, sources = read_ledger(root), marked(root), find_sources(root)
    table = []
    for chapter in sources:
        own = [row for row, home in rows.items() if home == chapter]
        table.append(Coverage(chapter, len(own), tuple(row for row in own if row not in present)))
    return table


def missing(root: Path = ROOT) -> dict[str, list[str]]:
    """The rows nobody marks yet, for each chapter that exists; empty when all is covered."""
    return {entry.chapter: list(entry.missing) for entry in coverage(root) if entry.missing}


def main(argv: list[str] | None = None) -> int:
    """Print the coverage table; 1 when a row is missing or a marker is wrong."""
    parser = argparse.ArgumentParser(prog="python -m course_tools.authoring.ledger", description=__doc__.splitlines()[0])
    parser.add_argument("chapters", nargs="*", metavar="NN", help="only these chapters, for example 03 08a")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    try:
        table = coverage(options.root)
    except AuthoringError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    existing = {entry.chapter for entry in table}
    unknown = [number for number in options.chapters if number not in existing]
    if unknown:
        print(f"error: no source in solutions/ for {', '.join(unknown)}", file=sys.stderr)
        return 1
    table = [entry for entry in table if not options.chapters or entry.chapter in options.chapters]
    print(f"{'chapter':<8} {'rows':>4} {'present':>7}  missing")
    for entry in table:
        absent = " ".join(entry.missing) or "-"
        print(f"{entry.chapter:<8} {entry.rows:>4} {entry.present:>7}  {absent}")
    return 1 if any(entry.missing for entry in table) else 0


if __name__ == "__main__":
    sys.exit(main())
