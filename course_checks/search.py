"""Ask the course in your own words: ``find("why divide by root d")`` names the three best places, and the question that is answered.

The same rules rank the book's search: ``docs/book/static/rank.js``.
"""

import math
import re
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

from course_utils.launcher.notebooks import DEEPER, Damaged, chapters_in, read
from course_utils.paths import ROOT

BEST = 3
EMPTY = set(
    "a an and are as at be between but by can could did difference do does for from have how i if in into is it its me my not of on or "
    "should so than that the then there they this to up use used versus vs was we what when where which who why will with would you "
    "your".split()
)
_QUESTION = re.compile(r"(?ms)^### (?P<asked>[^\n]+)\n(?P<answer>.*?)(?=^#|^<!-- |\Z)")


@dataclass(frozen=True)
class Section:
    """A heading of a chapter with what stands below it; ``way`` leads there from the folder of the chapters."""

    chapter: str
    heading: str
    text: str
    way: str


class Found(list[Section]):
    """The best places, best first; ``question`` and ``answer`` hold what the course's FAQ says, if it was asked there."""

    def __init__(self, places: list[Section], asked: str, question: str = "", answer: str = ""):
        super().__init__(places)
        self.asked, self.question, self.answer = asked, question, answer

    def __repr__(self) -> str:
        rows = [f"{at}. {one.chapter}: {one.heading}\n   {_excerpt(one.text, self.asked)}\n   {one.way}" for at, one in enumerate(self, 1)]
        rows += [f"Q. {self.question}\n{self.answer}"] if self.question else []
        return "\n".join(rows) or "Nothing found. Try other words, or fewer."

    def _repr_markdown_(self) -> str:
        up = "../" if Path.cwd().name == DEEPER else ""  # this notebook is a companion itself
        rows = [f"1. [{one.heading}](<{up}{one.way}>), {one.chapter}<br>{escape(_excerpt(one.text, self.asked))}" for one in self]
        answer = self.answer.replace("](<../chapters/", f"](<{up}")  # as docs/faq.md links
        return "\n".join(rows + (["", f"**{self.question}**", "", answer] if self.question else [])) or repr(self)


def find(words: str) -> Found:
    """The best three places of the course for some words or a question; in a notebook, links."""
    sections, homes, questions = _known()
    order = ranked([(one.heading, one.text, one.way) for one in sections], homes, str(words))
    asked = ranked([(question, answer, "") for question, answer in questions], {}, str(words))
    best = next(iter(asked), None)
    if best is None or best[1] < (0.8 if len(words_of(words)) > 1 else 1):  # most of the words stand there
        return Found([sections[at] for at, _ in order[:BEST]], words)
    return Found([sections[at] for at, _ in order[:BEST]], words, *questions[best[0]])


def words_of(text: str) -> list[str]:
    """The words that tell something, in small letters."""
    every = [word.strip(".-–") for word in re.sub(r'[`$?!,;:"“”()\[\]{}\\]', " ", text.lower()).split()]
    return [word for word in every if word and word not in EMPTY] or [word for word in every if word]


def ranked(entries: list[tuple[str, str, str]], homes: dict[str, list[str]], asked: str) -> list[tuple[int, float]]:
    """Place and share of the words found, best first, of ``(heading, text, way)``; ``homes`` are the names that each way is the home of."""
    words = list(dict.fromkeys(words_of(asked)))
    patterns = [re.compile(_source(word), re.IGNORECASE) for word in words]
    counts = [[(len(one.findall(head)), len(one.findall(text))) for head, text, _ in entries] for one in patterns]
    worth = [math.log(1 + len(entries) / (1 + sum(any(both) for both in row))) for row in counts]
    every, whole = sum(worth), f" {_key(asked)} "
    phrase = re.compile(r"\w*[-–\s]+".join(map(_source, words)), re.IGNORECASE)
    found = []
    for at, (head, text, way) in enumerate(entries):
        long = 0.4 + 0.6 * min(3, len(text) / 2500)
        there = [(value, *row[at]) for value, row in zip(worth, counts, strict=True) if any(row[at])]
        share = sum(value for value, _, _ in there) / every if every else 0
        inside = [len(name.split()) / len(whole.split()) for name in map(_key, homes.get(way, [])) if name and f" {name} " in whole]
        score = sum(value * (body / (body + 2 * long) + 1.2 * (heading > 0)) for value, heading, body in there)
        score += 0.6 * every * (len(words) > 1 and phrase.search(f"{head} {text}") is not None)
        if there or inside:
            found.append((score * share**2 + 3 * every * max(inside, default=0) ** 2, at, share))
    return [(at, share) for _, at, share in sorted(found, key=lambda one: -one[0])]


def _stem(word: str) -> str:
    return re.sub(r"(?:ies|y|(?<=[^suia])s|(?<=\w{4})(?:ing|ed|es|e))$", "", word) if re.fullmatch("[a-z]{5,}", word) else word


def _source(word: str) -> str:
    """A pattern: a word may go on, kernel and kernels; American or British, with a hyphen or without."""
    body = re.sub(r"i[sz](?=$|e|in|at)", "i[sz]", re.escape(_stem(word)).replace(r"\-", "-"))
    body = re.sub("cent(?:er|re)", "cent(?:er|re)", re.sub("(behavi|col|fav|neighb)ou?r", r"\1ou?r", body))
    return r"(?<![^\W_])" + re.sub("[-–]", r"[-–\\s]?", body) + (r"(?![^\W_])" if len(word) < 3 else "")


def _key(text: str) -> str:
    return " ".join(re.sub("[-–]", " ", re.sub(r"iz(?=$|e|in|at)", "is", _stem(word))) for word in words_of(text))


def names_of(what: str, also: str = "") -> list[str]:
    """What an entry of ``docs/terms.tsv`` is called: the parts of its name, and its other names."""
    return [name for name in re.split(r", |; ", f"{re.sub(r' [(].*?[)]', '', what)}; {also}") if name]


@cache
def _known() -> tuple[list[Section], dict[str, list[str]], list[tuple[str, str]]]:
    """Sections, homes of terms, and the answered questions."""
    sections = [one for path in chapters_in(ROOT / "chapters") for one in _sections(path)]
    ways = {(one.way.split("#")[0].split("/")[-1].split("_")[0], DEEPER in one.way, one.heading): one.way for one in sections}
    homes: dict[str, list[str]] = {}
    for line in _lines(ROOT / "docs" / "terms.tsv").splitlines():
        what, _, chapter, heading, *also = line.split("\t")
        number, _, deeper = chapter.partition("-")
        for (one, companion, title), way in ways.items():
            if (one, companion) == (number, bool(deeper)) and (title == heading or title.startswith(f"{heading} ★")):
                homes.setdefault(way, []).extend(names_of(what, *also))
    return sections, homes, [(one["asked"], one["answer"].strip()) for one in _QUESTION.finditer(_lines(ROOT / "docs" / "faq.md"))]


def _sections(path: Path) -> list[Section]:
    try:
        cells = read(path)["cells"]
    except (Damaged, OSError):
        return []
    texts = ["" if cell["cell_type"] == "code" and cell["metadata"].get("jupyter") else cell["source"] for cell in cells]
    marked = [text if cell["cell_type"] == "markdown" else re.sub("(?m)^#", " #", text) for cell, text in zip(cells, texts, strict=True)]
    pieces = re.split(r"(?m)^#{1,4} +(.+?)\s*$", "\n\n".join(marked))
    name, title = "/".join(path.parts[-2:] if path.parent.name == DEEPER else path.parts[-1:]), pieces[1] if len(pieces) > 1 else ""
    return [
        Section(title, head, " ".join(re.sub(r"<[^>\n]*>", " ", body).split()), f"{name}#{head.replace(' ', '-')}")
        for head, body in zip(pieces[1::2], pieces[2::2], strict=True)
    ]


def _lines(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _excerpt(text: str, asked: str, around: int = 90) -> str:
    """The stretch of the text that holds the most of the words."""
    patterns = [re.compile(_source(word), re.IGNORECASE) for word in words_of(asked)]
    places = [place.start() for one in patterns for place in [*one.finditer(text)][:20]] or [0]
    best = max(places, key=lambda at: (sum(one.search(text, at, at + 2 * around) is not None for one in patterns), -at))
    start, stop = max(0, best - around), best + 2 * around
    cut = text[start:stop].partition(" ")[2] if start else text[:stop]
    return f"{'… ' if start else ''}{cut.rpartition(' ')[0] if stop < len(text) else cut}{' …' if stop < len(text) else ''}"
