"""The site as one PDF: printed by Chromium page by page, bound with contents, bookmarks, running heads and page numbers."""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader, PdfWriter

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
PATIENCE = 60_000  # milliseconds of the browser's own clock, which runs ahead when nothing is left to do
SHEET = "file:///sheet/"  # begins the address of a line of the contents; _inward turns it into a way to that sheet
TITLE = "Attention, from Kernels to GPT"
STYLE = """<!doctype html><meta charset="utf-8"><style>
@page { size: A4; margin: 0; }
body { margin: 0; font: 10.5px/1.5 system-ui, sans-serif; color: #222; }
.sheet { box-sizing: border-box; height: 297mm; padding: 9mm 14mm; display: flex; flex-direction: column; break-after: page;
         color: #555; font-size: 9.5px; justify-content: space-between; overflow: hidden; }
.sheet:last-child { break-after: auto; }
.sheet b { font-weight: normal; align-self: flex-end; }
.contents { margin: 22mm 14mm; }
h1 { font-size: 24px; font-weight: 400; margin: 0 0 5mm; }
p { display: flex; gap: 2mm; margin: 0; break-inside: avoid; }
p.first { font-weight: 600; margin-top: 2.2mm; break-after: avoid; }
p.second { padding-left: 7mm; }
a { color: inherit; text-decoration: none; }
p a { display: flex; gap: 2mm; flex: 1; }
p i { flex: 1; border-bottom: 1px dotted #999; margin-bottom: 1.2mm; }
</style>"""
CONTENTS = "@page { margin: 19mm 14mm 17mm; } .contents { margin: 0; }"


def find_browser() -> str | None:
    """The path of a Chromium, or None."""
    return next((path for path in map(shutil.which, BROWSERS) if path), None)


def print_site(site: Path, names: list[tuple[str, str]], target: Path, browser: str) -> int:
    """Print the pages ``(title, path in the site without .html)`` into one file; returns the number of sheets.

    RuntimeError when the browser prints nothing. Formulas are set before printing: the browser's clock waits for them. The contents come
    behind the first page; the numbers on the sheets are those that a viewer counts.
    """
    from pypdf import PdfReader, PdfWriter

    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        parts = []
        for number, (title, name) in enumerate(names):
            reader = PdfReader(_print((site / f"{name}.html").resolve(), folder / f"{number}.pdf", browser))
            kept = [at for at, sheet in enumerate(reader.pages) if not is_empty(sheet)]
            sections = [(words, sum(k < at for k in kept)) for words, at in sections_of(reader, site / f"{name}.html")] if number else []
            parts.append((title, name, reader, kept, sections))

        lengths, ahead = [len(kept) for *_, kept, _ in parts], 1  # of the sheets, and how many sheets the contents take
        while True:
            starts = [sum(lengths[:i]) + (ahead if i else 0) for i in range(len(parts))]
            lines = [
                (level, words, page + 1)
                for (title, _, _, _, sections), start in zip(parts, starts, strict=True)
                for level, words, page in [(1, title, start), *((2, words, start + at) for words, at in sections)]
            ]
            contents = PdfReader(_print(_write(folder / "contents.html", contents_page(lines)), folder / "contents.pdf", browser))
            if len(contents.pages) == ahead:
                break
            ahead = len(contents.pages)

        writer, heads = PdfWriter(), []
        for i, (title, _, reader, kept, sections) in enumerate(parts):
            writer.append(reader, pages=kept, import_outline=False)
            heads += [title] * len(kept)
            above = writer.add_outline_item(title=title, page_number=starts[i] if i else 0)
            if not i:
                writer.append(contents, import_outline=False)
                heads += ["Contents"] * ahead
                writer.add_outline_item(title="Contents", page_number=lengths[0])
            for words, at in sections:
                writer.add_outline_item(title=words, page_number=starts[i] + at, parent=above)
        stamps = PdfReader(_print(_write(folder / "stamps.html", stamps_page(heads)), folder / "stamps.pdf", browser))
        for page, stamp in zip(writer.pages, stamps.pages, strict=True):
            page.merge_page(stamp)
        _inward(writer, {(site / f"{name}.html").resolve(): start for (_, name, *_), start in zip(parts, starts, strict=True)})
        for page in writer.pages:
            page.compress_content_streams()
        writer.compress_identical_objects()
        writer.add_metadata({"/Title": TITLE})
        writer.write(target)
    return len(writer.pages)


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _print(page: Path, part: Path, browser: str) -> Path:
    command = [
        browser,
        "--headless=new",
        "--disable-gpu",
        "--no-pdf-header-footer",
        "--generate-pdf-document-outline",
        f"--user-data-dir={part.parent}/profile",
        f"--virtual-time-budget={PATIENCE}",
        f"--print-to-pdf={part}",
        page.as_uri() + "?print",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.insert(1, "--no-sandbox")
    part.unlink(missing_ok=True)
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if not part.exists():
        raise RuntimeError(f"the browser printed nothing for {page.name}: {done.stderr.strip()[-300:]}")
    return part


def is_empty(sheet: PageObject) -> bool:
    """Whether a sheet shows neither words nor a picture."""
    return not sheet.extract_text().strip() and not sheet.images


def sections_of(reader: PdfReader, page: Path) -> list[tuple[str, int]]:
    """``(heading, sheet)`` of the headings below the title; none when the browser writes no outline.

    The browser's outline runs the lines of a long heading into each other, or gives the first of them twice; the words are the page's.
    """
    headings = (
        html.unescape(re.sub(r"<[^>]+>", "", found))
        for found in re.findall(r'<h2>((?:(?!</h2>)[\s\S])*?)<a class="headerlink"', page.read_text(encoding="utf-8"))
    )
    known = {_solid(words): " ".join(words.split()) for words in headings}
    found: list[tuple[str, int]] = []
    stack: list[Any] = list(reader.outline)  # lists in lists, as deep as the headings
    while stack:
        item = stack.pop(0)
        if isinstance(item, list):
            stack = item + stack
            continue
        title, at = _solid(item.title or ""), reader.get_destination_page_number(item)
        solid = next((solid for solid in known if title.endswith(solid) and solid.startswith(title.removesuffix(solid))), None)
        if solid and at is not None:
            found.append((known[solid], at))
    return found


def _solid(words: str) -> str:
    return re.sub(r"\s+", "", words)


def contents_page(lines: list[tuple[int, str, int]]) -> str:
    """The HTML of the contents: ``(level, heading, page)`` in order, each line a link."""
    rows = [
        f'<p class="{"first" if level == 1 else "second"}"><a href="{SHEET}{page}"><span>{html.escape(words)}</span><i></i>'
        f"<span>{page}</span></a></p>"
        for level, words, page in lines
    ]
    return f'{STYLE}<style>{CONTENTS}</style><div class="contents"><h1>Contents</h1>{"".join(rows)}</div>'


def stamps_page(heads: list[str]) -> str:
    """The HTML of as many sheets as there are heads: what stands above, and the number below."""
    return STYLE + "".join(
        f'<div class="sheet"><span>{html.escape(head) if at else ""}</span><b>{at + 1 if at else ""}</b></div>'
        for at, head in enumerate(heads)
    )


def _inward(writer: PdfWriter, starts: dict[Path, int]) -> None:
    """Links to files of the site lead to the sheet where that page begins; those to anything else on this machine go."""
    from pypdf.generic import ArrayObject, NameObject

    for page in writer.pages:
        for reference in list(page.get("/Annots", [])):
            link = reference.get_object()
            address = link.get("/A", {}).get("/URI", "")
            if not str(address).startswith("file:"):
                continue
            start = starts.get(Path(unquote(urlsplit(str(address)).path)).resolve())
            if str(address).startswith(SHEET):
                start = int(str(address).removeprefix(SHEET)) - 1
            del link["/A"]
            if start is not None:
                link[NameObject("/Dest")] = ArrayObject([writer.pages[start].indirect_reference, NameObject("/Fit")])
