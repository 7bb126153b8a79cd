"""Links that a page has and its notebook has not: from mentions of chapters, exercises and papers, and to where a chapter is opened."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .pages import Page

# What stays as it is: fenced code, headings, lines of a list of papers, comments, HTML tags and summaries, links, code, formulas.
_KEPT = re.compile(
    r"(?ms)^(?:```|~~~).*?^(?:```|~~~)[^\n]*|^#{1,6} [^\n]*|^- [^\n]*\]\(https?://[^\n]*|<!--.*?-->"
    r"|<(a|summary|pre|code)\b.*?</\1>|<[^<>]+>|!?\[[^\[\]]*\]\([^()]*\)|(`+).*?\2|\$\$.*?\$\$|\$[^$\n]+\$"
)
_NUMBER = r"\d\d[a-z]?"
_CHAPTERS = re.compile(
    rf"\b[Cc]hapters?\s+{_NUMBER}\b(?!\.\d)(?:(?:, | and | to | or ){_NUMBER}\b(?!\.\d))*"
    rf"|\({_NUMBER}(?:, {_NUMBER})*\)"
)
_EXERCISES = re.compile(rf"\b[Ee]xercises?\s+{_NUMBER}\.\d+(?:(?:, | and | to | or ){_NUMBER}\.\d+)*")
_ONE = re.compile(rf"(?:\b([Cc]hapter|[Ee]xercise)\s+)?\b({_NUMBER}(?:\.\d+)?)\b")
_PAPER = re.compile(r"(?m)^- [^\n*]*\*(?P<title>[^*\n]+)\*[^\n]*?\]\((?P<address>https?://[^()\s]+)\)")
_WAYS = re.compile(r"(?s)<!-- ways in -->(.*?)<!-- /ways in -->")
_BADGE = re.compile(r"\[!\[(?P<words>[^\]]+)\]\([^)]*\)\]\((?P<address>[^)\s]+)\)")


class CrossReferences:
    """Turns mentions in a chapter's text into links to the pages, for one book."""

    def __init__(self, pages: list[Page], exercises: dict[str, str]):
        chapters = [page for page in pages if not page.is_companion]
        self.chapters = {page.number: page.sections[0].label for page in chapters}
        for page in chapters:  # "chapter 11" means the first of its parts
            self.chapters.setdefault(page.number[:2], page.sections[0].label)
        self.exercises = exercises  # id → label

    def link(self, text: str, number: str, papers: dict[str, str]) -> str:
        """The Markdown of a cell of chapter ``number`` with links; ``papers`` maps the titles its list has to their addresses."""
        parts, end = [], 0
        for kept in _KEPT.finditer(text):
            parts += [self._plain(text[end : kept.start()], number, papers), kept[0]]
            end = kept.end()
        return "".join([*parts, self._plain(text[end:], number, papers)])

    def _plain(self, text: str, number: str, papers: dict[str, str]) -> str:
        for title, address in papers.items():
            text = re.sub(rf"(?<!\*)\*{re.escape(title)}\*(?!\*)", f"[*{title}*]({address})", text)
        text = _EXERCISES.sub(lambda found: _ONE.sub(lambda one: self._one(one, self.exercises, number), found[0]), text)
        return _CHAPTERS.sub(lambda found: _ONE.sub(lambda one: self._one(one, self.chapters, number), found[0]), text)

    @staticmethod
    def _one(found: re.Match[str], labels: dict[str, str], number: str) -> str:
        label = labels.get(found[2])
        return f"[{found[0]}](#{label})" if label and found[2] != number else found[0]


def papers_of(sources: list[str]) -> dict[str, str]:
    """Title → address of the papers that a chapter lists with a link."""
    return {found["title"]: found["address"] for source in sources for found in _PAPER.finditer(source)}


def launch_links(root: Path, stem: str) -> str:
    """Ways to open a chapter elsewhere, as HTML: what ``docs/publish.py`` has written into the README; nothing before."""
    readme = root / "README.md"
    block = _WAYS.search(readme.read_text(encoding="utf-8")) if readme.exists() else None
    found = []
    for badge in _BADGE.finditer(block[1] if block else ""):
        address, count = re.subn(r"00\w*_start_here\.ipynb", f"{stem}.ipynb", badge["address"])
        if count and ("/colab/" not in address or (root / "colab" / f"{stem}.ipynb").exists()):
            found.append(f'<a href="{html.escape(address)}">{html.escape(badge["words"])}</a>')
    return " ".join(found)
