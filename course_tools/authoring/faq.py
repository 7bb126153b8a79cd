"""Keep ``docs/faq.md`` in step with the chapters: their "Questions people ask", word for word, between two marks.

    python -m course_tools.authoring.faq            write the page
    python -m course_tools.authoring.faq --check    only say whether it is in step

``build`` writes it, too. Below each answer stands where the chapter shows it. That line is yours to change; it is kept while it is true::

    Shown in [04 · 2 Heads are an axis](<../chapters/04_multi_head_attention.ipynb#2-Heads-are-an-axis>). Asserted: `believed.sum() == d`

A new question gets the section that the search likes best, behind "More in". "Asserted" quotes how an assertion of that section
begins. What stands outside the marks is written by hand, in the same form; tests/authoring/test_faq.py reads every line of the page.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from course_utils.launcher import search
from course_utils.paths import ROOT

from .book.pages import EXERCISE, Page, Section, headings, read_pages
from .errors import AuthoringError
from .ledger import strip_markers

FIRST, LAST = "<!-- chapters -->", "<!-- /chapters -->"
SHOWN = re.compile(
    r"(?m)^(?P<how>Shown|More) in \[(?P<words>[^\n]+)\]\(<\.\./chapters/(?P<way>[^>\n]+)>\)\.(?: Asserted: (?P<asserted>`[^`\n]+`))?$"
)
_ASKED = re.compile(r"(?s)<details><summary>(?P<asked>.+?)</summary>\n(?P<answer>.+?)\n</details>")
_START, _END = re.compile(r"(?m)^(?:\*\*|## )Questions people ask"), re.compile(r"(?m)^## |^\*\*Papers\*\*")
_ENTRY = re.compile(r"(?ms)^### (?P<asked>[^\n]+)\n(?P<answer>.*?)(?=^#|^<!-- |\Z)")
_ELSEWHERE = re.compile(r"Summary|Where it comes from|Questions people ask|The map|Exercise ")


@dataclass(frozen=True)
class Entry:
    """A question of the page, its answer, and the line that says where it is shown."""

    asked: str
    answer: str
    shown: re.Match[str] | None


def entries(text: str) -> list[Entry]:
    """The questions of the page."""
    found = []
    for one in _ENTRY.finditer(text):
        shown = SHOWN.search(one["answer"])
        found.append(Entry(one["asked"], one["answer"][: shown.start() if shown else None].strip(), shown))
    return found


def questions(source: str) -> Iterator[tuple[str, str]]:
    """Question and answer, as a chapter's text has them."""
    for start in list(_START.finditer(source))[-1:]:
        end = _END.search(source, start.end())
        for one in _ASKED.finditer(strip_markers(source[start.end() : end.start() if end else None])):
            yield one["asked"].strip(), one["answer"].strip()


def anchor(section: Section) -> str:
    """What a link to a section of a notebook ends with."""
    exercise = EXERCISE.fullmatch(section.text)
    return f"exercise-{exercise['id']}" if exercise else section.text.replace(" ", "-")


def target(way: str, pages: list[Page]) -> tuple[Page, Section]:
    """Where a link to a notebook leads to. AuthoringError where to nowhere; a chapter alone is its title."""
    file, _, place = way.partition("#")
    for page in pages:
        if f"{page.place}.ipynb" == file:
            for section in page.sections if place else page.sections[:1]:
                if not place or anchor(section) == place:
                    return page, section
    raise AuthoringError(f"faq.md: a link leads nowhere: {way}")


def code_of(page: Page, section: Section, root: Path) -> str:
    """The lines of a section in its source, with those of the exercises that stand in it."""
    folder = root / "solutions"
    text = (folder / f"{page.place}.md").read_text(encoding="utf-8")
    text = text[text.index("\n---", 3) + 4 :] if text.startswith("---") else text
    places = [at for at, _, _ in headings(text)] + [len(text)]
    here = page.sections.index(section)
    after = next((at for at in range(here + 1, len(page.sections)) if not EXERCISE.fullmatch(page.sections[at].text)), len(places) - 1)
    return text[places[here] : places[after]]


def holds(asserted: str, page: Page, section: Section, root: Path) -> bool:
    """Whether an assertion of a section begins with these words."""
    code, words = " ".join(code_of(page, section, root).split()), " ".join(asserted.strip("`").split())
    return f"assert {words}" in code or words.startswith("torch.testing.assert_") and words in code


def still_true(shown: re.Match[str], pages: list[Page], root: Path) -> str:
    """The line below an answer as it may stay: nothing where its section is gone, without an assertion that is gone."""
    try:
        place = target(shown["way"], pages)
    except AuthoringError:
        return ""
    return shown[0] if not shown["asserted"] or holds(shown["asserted"], *place, root) else shown[0].partition(" Asserted: ")[0]


def link(page: Page, section: Section) -> str:
    """The end of the line that says where an answer is shown."""
    return f"[{page.label.replace('-', ' ')} · {section.text}](<../chapters/{page.place}.ipynb#{anchor(section)}>)"


def for_book(text: str, pages: list[Page]) -> str:
    """The page with links to sections of the book."""

    def shown(found: re.Match[str]) -> str:
        asserted = f" A cell there asserts {found['asserted']}." if found["asserted"] else ""
        return f"{found['how']} in [{found['words']}](#{target(found['way'], pages)[1].label}).{asserted}"

    return SHOWN.sub(shown, text)


def guess(page: Page, asked: str, answer: str, pages: list[Page], root: Path) -> str:
    """A line for a new question: the section that has most of its words."""
    places = [
        (one, section) for one in pages if one.number == page.number for section in one.sections[1:] if not _ELSEWHERE.match(section.text)
    ]
    texts = [search.Section(section.text, code_of(one, section, root)) for one, section in places]
    best = search.ranked(texts, {}, f"{asked} {answer}")
    return f"More in {link(*places[best[0][0]]) if best else link(page, page.sections[0])}."


def made(root: Path) -> str:
    """The page as it should be."""
    path, pages = root / "docs" / "faq.md", read_pages(root)
    old = path.read_text(encoding="utf-8")
    before, rest = old.split(FIRST)
    generated, after = rest.split(LAST)
    kept = {(chapter, one.asked): still_true(one.shown, pages, root) for chapter, one in _by_chapter(generated) if one.shown}
    lines = [FIRST, ""]
    for page in pages:
        source = (root / "solutions" / f"{page.place}.md").read_text(encoding="utf-8")
        asked = list(questions(source))
        lines += [f"## {page.title}", ""] if asked else []
        for question, answer in asked:
            shown = kept.get((page.title, question)) or guess(page, question, answer, pages, root)
            lines += [f"### {question}", "", answer, "", shown, ""]
    return before + "\n".join([*lines, LAST]) + after


def _by_chapter(text: str) -> Iterator[tuple[str, Entry]]:
    for part in re.split(r"(?m)^## +", text)[1:]:
        title = part.split("\n", 1)[0]
        yield from ((title, entry) for entry in entries(part))


def write(root: Path) -> bool:
    """Bring the page up to date; whether it was. Nothing to do where there is none."""
    path = root / "docs" / "faq.md"
    if not path.exists() or (page := made(root)) == path.read_text(encoding="utf-8"):
        return True
    path.write_text(page, encoding="utf-8")
    return False


def main(argv: list[str] | None = None) -> int:
    """The command; 1 when the page was not in step and only a check was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(argv)
    same = made(ROOT) == (ROOT / "docs" / "faq.md").read_text(encoding="utf-8") if options.check else write(ROOT)
    print("docs/faq.md " + ("was in step" if same else "is not in step" if options.check else "written"))
    return int(options.check and not same)


if __name__ == "__main__":
    sys.exit(main())
