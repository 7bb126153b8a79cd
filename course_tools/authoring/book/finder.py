"""What the search of the book knows: the words of every section, as a script, since a page from a disk may load scripts and no data."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

_ARTICLE = re.compile(r'(?s)<article class="bd-article">(.*?)</article>')
_SECTION = re.compile(r'<section\b[^>]*?\bid="([^"]+)"[^>]*>')
_HEADING = re.compile(r"(?s)<h[1-4]>(.*?)<a class=\"headerlink\".*?</h[1-4]>")
_UNREAD = re.compile(
    r"(?s)<(script|style|nav)\b.*?</\1>|<details class=\"[^\"]*\bhide\b.*?</details>|<p class=\"notebook-link\".*?</p>"
    r"|<div class=\"mistake-numbers\".*?</div>"
    r"|<div class=\"toctree-wrapper.*|<div class=\"cell_output.*?(?=<div class=\"cell |<p|<section|<h\d|$)"
)
_OURS = "\n".join(f'<script src="_static/{name}.js"></script>' for name in ("found", "homes", "rank", "search"))


def _words(markup: str) -> str:
    return " ".join(html.unescape(re.sub(r"</?(?:p|li|td|th|div|tr|h\d|pre|summary)\b[^>]*>|<br[^>]*>", " ", markup)).split())


def _plain(markup: str) -> str:
    return _words(re.sub(r"<(?!/?(?:p|li|td|th|div|tr|h\d|pre|summary|br)\b)[^>]+>", "", markup))


def sections(page: str) -> list[tuple[str, str, str]]:
    """``(id, heading, words)`` of each section of a page; what is folded away and what a cell has printed is left out."""
    article = _ARTICLE.search(page)
    parts = _SECTION.split(article[1])[1:] if article else []
    found = []
    for place, body in zip(parts[::2], parts[1::2], strict=True):
        heading = _HEADING.search(body)
        if heading:
            found.append((place, _plain(heading[1]), _plain(_UNREAD.sub(" ", _HEADING.sub("", body)))))
    return found


def equip(site: Path) -> None:
    """Give the search page of a finished site its index and its script."""
    index = [
        [path.relative_to(site).as_posix(), found]
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.relative_to(site).parts and (found := sections(path.read_text(encoding="utf-8")))
    ]
    (site / "_static" / "found.js").write_text(f"window.courseFound = {json.dumps(index, ensure_ascii=False)};\n", encoding="utf-8")
    page = site / "search.html"
    page.write_text(page.read_text(encoding="utf-8").replace("</body>", f"{_OURS}\n</body>"), encoding="utf-8")
