"""The ledger can be read, and the chapters that exist cover their rows of it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from course_tools.authoring import ledger
from course_tools.authoring.errors import LedgerError, SourceError
from course_utils.paths import ROOT

MOVED = {"00-13": "08b"}  # BLEU is computed where there is something to score
TABLE = "| id | chapter | what |\n|---|---|---|\n| 03-01 | 03 | a |\n| E-01 | 04 | b |\n"


def test_every_row_has_a_chapter() -> None:
    rows = ledger.read_ledger(ROOT)
    assert set(rows.values()) == set(ledger.find_sources(ROOT))
    kinds = Counter(row[0] if row[0] in "CEFQ" else "topic" for row in rows)
    assert kinds == {"topic": 397, "E": 136, "C": 37, "Q": 37, "F": 28}
    for row, chapter in rows.items():
        if row[0].isdigit():
            assert chapter.rstrip("abc") == row[:2] or MOVED.get(row) == chapter, row


def test_rows_that_are_mentioned_exist() -> None:
    """Cross-references inside the ledger (a range such as C-00-02…06 names its first)."""
    text = (ROOT / "docs" / "ledger.md").read_text(encoding="utf-8")
    rows = ledger.read_ledger(ROOT)
    mentioned = re.findall(r"\b(?:[EQF]-\d{2,3}|C-\d\d-\d\d)\b", text)
    assert not set(mentioned) - set(rows)


def test_the_ledger_speaks_of_the_course_alone() -> None:
    text = (ROOT / "docs" / "ledger.md").read_text(encoding="utf-8")
    assert not re.findall(r"(?i)\bseeds?\b.{0,40}|\bS[0-4]\b.{0,40}|\w+\.txt\b", text)


def test_existing_chapters_cover_their_rows() -> None:
    absent = ledger.missing(ROOT)
    lines = [f"{chapter}: {' '.join(rows)}" for chapter, rows in absent.items()]
    assert not lines, "rows of docs/ledger.md that no chapter marks:\n" + "\n".join(lines)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (TABLE.replace("| 04 |", "| 4 |"), "line 4: E-01 has the chapter '4'"),
        (TABLE.replace("E-01", "03-01"), "line 4: the id 03-01 occurs twice"),
        (TABLE.replace("E-01", "X-01"), "'X-01' is not an id"),
        (TABLE.replace("| a |", "| a | b |"), "line 3: 4 cells, the table's header has 3"),
    ],
)
def test_a_broken_table_is_reported(table: str, message: str) -> None:
    with pytest.raises(LedgerError, match=re.escape(message)):
        ledger.parse_ledger(table)


def test_tables_without_chapters_do_not_count() -> None:
    assert ledger.parse_ledger("| id | what |\n|---|---|\n| x | y |\n\n" + TABLE) == {"03-01": "03", "E-01": "04"}


@pytest.mark.parametrize(
    "marker",
    [
        "<!-- ledger: 03-01 03-02 03-03 03-04 -->",
        "<!-- ledger: -->",
        "<!-- ledger 03-01 -->",
        "<!--ledger: 03-01-->",
        "<!-- ledger: 03-1 -->",
        "<!-- ledger: 03-01, 03-02 -->",
    ],
)
def test_a_bad_marker_is_an_error(marker: str) -> None:
    assert ledger.parse_markers("<!-- ledger: 03-01 E-120 C-02-08 -->")[0].ids[2] == "C-02-08"
    with pytest.raises(SourceError, match="03.md:2: "):
        ledger.parse_markers(f"text\n{marker}\n", "03.md")


def test_coverage_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "solutions").mkdir()
    (tmp_path / "docs" / "ledger.md").write_text(TABLE + "| E-02 | 04 | c |\n| 05-01 | 05 | d |\n")
    here, other = (tmp_path / "solutions" / name for name in ("03_a.md", "04_b.md"))
    here.write_text("<!-- ledger: 03-01 E-02 -->\n")
    other.write_text("nothing\n")
    assert ledger.missing(tmp_path) == {"04": ["E-01"]}  # 03 took E-02; 05 does not exist yet
    assert ledger.main(["--root", str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines()[2].split() == ["04", "2", "1", "E-01"]
    assert ledger.main(["03", "--root", str(tmp_path)]) == 0
    assert ledger.main(["05", "--root", str(tmp_path)]) == 1
    companion, claims = tmp_path / "solutions" / "deeper" / "03_more.md", tmp_path / "docs" / "claims.md"
    for place in (companion, claims):  # a row may be marked there, too
        place.parent.mkdir(exist_ok=True)
        place.write_text("<!-- ledger: E-01 -->\n")
        assert ledger.missing(tmp_path) == {} and ledger.marked(tmp_path)["E-01"][0].name.endswith(place.name)
        place.unlink()
    other.write_text("<!-- ledger: E-99 -->\n")
    assert ledger.main(["--root", str(tmp_path)]) == 1
    assert "04_b.md:1: E-99" in capsys.readouterr().err
