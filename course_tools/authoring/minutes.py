"""Write the minutes that the clock counts: into the heads of the chapters, and into the sums of ``docs/teaching.md``; and the
README's line of figures.

Usage::

    python -m course_tools.authoring.minutes

Run it after ``build``, which makes the tables and pictures that are counted; where it changes a head, build again: words alone
are quickly built. Sentences of ``docs/teaching.md`` and its rows of exercises stay an author's.
"""

from __future__ import annotations

import re
import sys

from course_checks.exercise import Exercise
from course_checks.lookup import catalogue
from course_utils.paths import ROOT

from .chapter import SOLUTION
from .clock import Figures, figures, rounded
from .ledger import find_texts
from .source import read_chapter
from .stored import notebook_path, read_stored

_HEAD = re.compile(r"(?m)^About \d+ minutes with the exercises, \d+ without\.")
_CHAPTER = re.compile(r"(?m)^(\| \[(\d\d[abc]?)\]\(.*\) .* \| .* \|) \d+ \| \d+ \| \d+ (\| \d+ \| .* \|)$")
_TOTAL = re.compile(r"(?m)^\| all \| \| \d+ \| \d+ \| \d+ ")
_HOURS = re.compile(r"about \d+ hours: \d+ to read, and with the core exercises \d+\.")
_STATED = re.compile(r"(?m)^(### (\d\d[abc]?) .*\n\n)Core: \d+ minutes\. Optional: \d+\.$")
_FIGURES = re.compile(r"(?s)<!-- figures -->.*?<!-- /figures -->")
_WEEK = re.compile(r"(?m)^(\| \d+ \| (\d\d[abc]? (?:all|core|reading)(?: · \d\d[abc]? (?:all|core|reading))*) \|) \d+ ")


def with_head(text: str, counted: Figures) -> str:
    """A chapter's source whose head says what is counted."""
    return _HEAD.sub(counted.head, text)


def with_sums(page: str, counted: dict[str, Figures]) -> str:
    """``docs/teaching.md`` with today's minutes: of each chapter, of all, of the exercises, of the weeks of its plans.

    ``counted`` has a chapter's figures under "03", its companion's, whose exercises are optional ones, under "03-deeper".
    """
    chapters = {label: each for label, each in counted.items() if "-" not in label}
    minutes = {n: {"reading": rounded(f.reading), "core": rounded(f.with_core), "all": rounded(f.total)} for n, f in chapters.items()}
    spare = {n: sum(each.optional for label, each in counted.items() if label.split("-")[0] == n) for n in chapters}
    reading, core, everything = (sum(each[which] for each in minutes.values()) for which in ("reading", "core", "all"))

    def week(cell: str) -> int:
        return sum(minutes[number][which] for number, which in (part.split() for part in cell.split(" · ")))

    page = _CHAPTER.sub(lambda m: " | ".join([m[1][:-2], *map(str, minutes[m[2]].values()), m[3][2:]]), page)
    page = _TOTAL.sub(f"| all | | {reading} | {core} | {everything} ", page)
    hours = f"about {everything / 60:.0f} hours: {reading / 60:.0f} to read, and with the core exercises {core / 60:.0f}."
    page = _HOURS.sub(hours, page)
    page = _STATED.sub(lambda m: f"{m[1]}Core: {counted[m[2]].core} minutes. Optional: {spare[m[2]]}.", page)
    return _WEEK.sub(lambda m: f"{m[1]} {week(m[2])} ", page)


def with_figures(readme: str, counted: dict[str, Figures], exercises: list[Exercise]) -> str:
    """The README with today's figures of the course, companions included; but the hours are those of the chapters."""
    chapters = [each for label, each in counted.items() if "-" not in label]
    pictures, mistakes = sum(each.pictures for each in counted.values()), sum(len(one.misconceptions) for one in exercises)
    reading, everything = (sum(rounded(value) for value in of) / 60 for of in zip(*((f.reading, f.total) for f in chapters), strict=True))
    parts = f"{len(chapters)} chapters", f"{len(exercises)} exercises", f"{mistakes:,} mistakes known by name", f"{pictures} pictures"
    line = " · ".join([*parts, f"{reading:.0f} hours to read, {everything:.0f} with the exercises"])
    return _FIGURES.sub(f"<!-- figures -->\n**{line}**\n<!-- /figures -->", readme)


def main() -> int:
    """The command; names the files that it has changed."""
    counted, wanted = {}, {}
    for label, path in find_texts(ROOT).items():
        chapter = read_chapter(path)
        solved = read_stored(notebook_path(chapter, SOLUTION, ROOT))
        if solved is None:
            print(f"error: {label} has no solved notebook; build {label}", file=sys.stderr)
            return 1
        counted[label] = figures(chapter, solved)
        wanted[path] = with_head(path.read_text(encoding="utf-8"), counted[label])
    page = ROOT / "docs" / "teaching.md"
    wanted[page] = with_sums(page.read_text(encoding="utf-8"), counted)
    readme = ROOT / "README.md"
    wanted[readme] = with_figures(readme.read_text(encoding="utf-8"), counted, catalogue())
    for path, text in wanted.items():
        if text != path.read_text(encoding="utf-8"):
            path.write_text(text, encoding="utf-8")
            print(f"{path.relative_to(ROOT)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
