"""The pages that no chapter holds: the cover, and the indexes of exercises, corrected claims, symbols and terms."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import nbformat

from course_utils.launcher.search import names_of
from course_utils.show.pieces import LIVE, LIVE_FOLDER

from .. import faq
from ..errors import AuthoringError
from ..ledger import read_ledger
from .course_map import course_map
from .live import shown
from .pages import Page, answer_label, exercises, has_answers, references

COVER = """# Attention, from Kernels to GPT

This page contains a small GPT. Type. Everything you see moving, you will have built by chapter 11a.

{piece}

This is the course to *read*. It starts with a weighted mean from 1964 and ends with a language model, one small step at a time, in runnable
PyTorch: each chapter as it was executed, with the exercises still blank and the answers on pages of their own. To *work* through it, with
checks that say why an answer is wrong, open it in JupyterLab:

```
python course.py lab
```

## Where it goes

The trunk is one machine, built part by part. Then it branches: both halves, the encoder alone, the decoder alone. The last chapter leads
back to the first. Each box leads to its chapter.

"""
_INTERNAL = re.compile(r" ?`\[run\]`| \(\d\d-\d\d\)|; values in \d\d-\d\d")  # what only the ledger's readers can follow


def toctree(caption: str, names: list[str]) -> str:
    """A list of pages for the sidebar; nothing where there are none."""
    return "\n".join(["```{toctree}", ":maxdepth: 1", f":caption: {caption}", "", *names, "```", ""]) if names else ""


def standing(name: str, place: str, static: Path) -> str:
    """A piece on a page beside the chapters' folder, as it begins."""
    png, alts = LIVE_FOLDER / f"{name}.png", json.loads((LIVE_FOLDER / "pieces.json").read_text(encoding="utf-8"))
    data = {LIVE: {"kind": name, "state": {}}, "image/png": base64.b64encode(png.read_bytes()).decode("ascii")}
    output = nbformat.v4.new_output("display_data", data, metadata={"image/png": {"alt": alts[name]}})
    return str(shown(output, place, static).data["text/html"]).replace("../_static/", "_static/")


def read_claims(root: Path) -> list[tuple[str, str, str]]:
    """``(id, claim, correction)`` of every corrected claim in ``docs/ledger.md``."""
    claims, columns = [], []
    for line in (root / "docs" / "ledger.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if cells[:1] == ["id"]:
            columns = cells
        elif {"claim", "correction"} <= set(columns) and cells and cells[0].startswith("E-"):
            row = dict(zip(columns, cells, strict=True))
            claims.append((row["id"], row["claim"], row["correction"]))
    return sorted(claims, key=lambda claim: int(claim[0][2:]))


def read_index(path: Path, pages: list[Page]) -> list[tuple[str, str, Page, str, str]]:
    """``(what, meaning, page, label, also)`` of each line of a table ``what, meaning, chapter, heading`` with tabs between; ``03-deeper``
    is the companion of chapter 03. A fifth cell may hold other names, with semicolons between: the search leads from them to the heading.

    AuthoringError for a line of another form, for a chapter or heading that does not exist, and for the same entry twice.
    """
    by_number, found, seen = {page.label: page for page in pages}, [], set()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        cells = line.split("\t")
        if len(cells) not in (4, 5) or not all(cells):
            raise AuthoringError(f"{path.name}:{number}: {len(cells)} cells; four are needed: what, meaning, chapter, heading")
        what, meaning, chapter, heading, also = (*cells, "")[:5]
        page = by_number.get(chapter)
        if page is None:
            raise AuthoringError(f"{path.name}:{number}: there is no chapter {chapter}")
        section = next((section for section in page.sections if _names(heading, section.text)), None)
        if section is None:
            raise AuthoringError(f"{path.name}:{number}: chapter {chapter} has no heading {heading!r}")
        if (what, chapter) in seen:
            raise AuthoringError(f"{path.name}:{number}: {what} is listed here twice")
        seen.add((what, chapter))
        found.append((what, meaning, page, section.label, also))
    return found


def _names(heading: str, text: str) -> bool:
    """Whether a heading is meant: by all of its words, or an exercise's by ``Exercise 02.1`` alone."""
    return text == heading or (re.fullmatch(r"Exercise \S+", heading) is not None and text.startswith(heading + " "))


def _safe(text: str) -> str:
    return text.replace("|", "\\|")


def stage_indexes(pages: list[Page], root: Path, out: Path, gallery: list[str]) -> None:
    """Write the cover, the indexes, the FAQ and the lists for the sidebar; ``gallery`` are the pages of mistakes."""
    lines = ["# Exercises", "", "| exercise | level | minutes | title | answer |", "|---|---|---|---|---|"]
    for page in pages:
        for found, section in exercises(page):
            lines.append(
                f"| [{found['id']}](#{section.label}) | {found['stars']} | {found['minutes']} | {_safe(found['title'])} "
                f"| [answer](#{answer_label(found['id'])}) |"
            )
    (out / "exercises.md").write_text("\n".join(lines) + "\n", encoding="utf-8")

    home = {row: (page, section) for page in reversed(pages) for row, section in page.rows.items()}
    lines = [
        "# Corrected claims",
        "",
        "Sentences that are widely copied and wrong, vague or out of date, and what is so. "
        "Decide first; then open the card. It leads to the experiment, where a chapter has one.",
        "",
    ]
    numbers = {page.number: page for page in reversed(pages)}
    homes = {row: chapter for row, chapter in read_ledger(root).items() if chapter in numbers}
    named = re.findall(r"<!-- not in the book: (.*?) -->", (root / "docs" / "claims.md").read_text(encoding="utf-8"))
    left_out = set(" ".join(named).split())
    for row, claim, correction in read_claims(root):
        if row in left_out or not (row in home or row in homes):
            continue
        place = (
            f"[Where it is shown: chapter {home[row][0].number}](#{home[row][1].label})"
            if row in home
            else f"[Chapter {homes[row]}](#{numbers[homes[row]].sections[0].label})"
        )
        lines += ["::::{container} claim", claim, "", "<details><summary>True or false?</summary>", ""]
        lines += [f"Not as it stands. What is so: {_INTERNAL.sub('', correction)}", "", place, "", "</details>", "::::", ""]
    (out / "claims.md").write_text("\n".join(lines) + "\n", encoding="utf-8")

    for name, title, first in (("symbols", "Symbols", "symbol"), ("terms", "Terms", "term")):
        rows = read_index(root / "docs" / f"{name}.tsv", pages)
        rows = sorted(rows, key=lambda row: row[0].lower()) if name == "terms" else rows
        lines = [f"# {title}", "", f"| {first} | meaning | chapter |", "|---|---|---|"]
        lines += [
            f"| {_safe(what)} | {_safe(meaning)}{f'; also: {_safe(also)}' if also else ''} | [{page.number}](#{label}) |"
            for what, meaning, page, label, also in rows
        ]
        (out / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")

    terms = read_index(root / "docs" / "terms.tsv", pages)
    ways = [[names_of(what, also), f"chapters/{page.stem}.html", label] for what, _, page, label, also in terms]
    (out / "static" / "homes.js").write_text(f"window.courseHomes = {json.dumps(ways, ensure_ascii=False)};\n", encoding="utf-8")

    text = faq.for_book((root / "docs" / "faq.md").read_text(encoding="utf-8"), pages)
    (out / "faq.md").write_text(references(pages).link(text, "", {}), encoding="utf-8")

    (out / "judge.md").write_text((root / "docs" / "judge.md").read_text(encoding="utf-8"), encoding="utf-8")
    (out / "index.md").write_text(
        COVER.format(piece=standing("gpt_page", "cover-gpt", out / "static"))
        + course_map({page.label: (f"chapters/{page.stem}.html", page.title) for page in pages})
        + "\n\n"
        + toctree("Chapters", [f"chapters/{page.stem}" for page in pages if not page.is_companion])
        + toctree("Deeper", [f"chapters/{page.stem}" for page in pages if page.is_companion])
        + toctree("Answers", [f"answers/{page.stem}" for page in pages if has_answers(page)])
        + toctree("Mistakes", ["mistakes", *gallery])
        + toctree("Find", ["faq", "exercises", "claims", "symbols", "terms", "judge"]),
        encoding="utf-8",
    )
