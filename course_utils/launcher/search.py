"""Ask the course in your own words: ``find("why divide by root d")`` names the three best places, and the question that is answered.

``docs/book/static/rank.js`` ranks the book's search by the same rules.
"""

import math
import re
from functools import cache
from html import escape
from pathlib import Path
from typing import NamedTuple

from course_utils.paths import ROOT

from .notebooks import DEEPER, Damaged, chapters_in, read

EMPTY = set(
    "a an and are as at be between but by can could did difference do does for from have how i if in into is it its me my not of on or "
    "should so than that the then there they this to up use used versus vs was we what when where which who why will with would "
    "you your".split()
)
_NOISE = re.compile(r"\\textcolor\{[^}]*\}|<[^>\n]*>|[$`*|]")
_QUESTION = re.compile(r"(?ms)^### (?P<asked>[^\n]+)\n(?P<answer>.*?)(?=^#|^<!-- |\Z)")


class Section(NamedTuple):
    """A heading with what stands below it; ``way`` leads there from the folder of the chapters."""

    heading: str
    text: str
    way: str = ""
    chapter: str = ""


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
    best = [sections[at] for at, _ in ranked(sections, homes, str(words))[:3]]
    asked, named = (ranked([Section(one.heading, one.text * whole) for one in questions], {}, str(words)) for whole in (1, 0))
    for at, share in asked[:1]:  # most words stand in question and answer, or half of them, and some in the question
        if share > 0.8 or share > 0.5 and dict(named).get(at, 0) > 0.3:
            return Found(best, str(words), questions[at].heading, questions[at].text)
    return Found(best, str(words))


def words_of(text: str) -> list[str]:
    """The words that tell something, in small letters."""
    every = [word.strip(".-–") for word in re.sub(r'[`$?!,;:"“”()\[\]{}\\]', " ", text.lower()).split()]
    return [word for word in every if word and word not in EMPTY] or [word for word in every if word]


def ranked(entries: list[Section], homes: dict[str, list[str]], asked: str) -> list[tuple[int, float]]:
    """Place and share of the words found, best first; ``homes`` are the names of terms whose home a way is."""
    words = list(dict.fromkeys(words_of(asked)))
    patterns = [_pattern(word) for word in words]
    counts = [[(len(one.findall(_small(head))), len(one.findall(_small(text)))) for head, text, *_ in entries] for one in patterns]
    worth = [math.log(1 + len(entries) / (1 + sum(map(any, row)))) for row in counts]
    every, whole = sum(worth), f" {_key(asked)} "
    phrase = re.compile(r"\w*[-–\s]+".join(one.pattern for one in patterns))
    found = []
    for at, (head, text, way, _) in enumerate(entries):
        long = 0.4 + 0.6 * min(3, len(text) / 2500)
        there = [(value, *row[at]) for value, row in zip(worth, counts, strict=True) if any(row[at])]
        share = sum(value for value, _, _ in there) / every if every else 0
        inside = [len(name.split()) / len(whole.split()) for name in map(_key, homes.get(way, [])) if name and f" {name} " in whole]
        score = sum(value * (body / (body + 2 * long) + 1.2 * (heading > 0)) for value, heading, body in there)
        score += 0.6 * every * (1 < len(there) == len(words) and phrase.search(_small(f"{head} {text}")) is not None)
        if there or inside:
            found.append((score * share**2 + 3 * every * max(inside, default=0) ** 2, at, share))
    return [(at, share) for _, at, share in sorted(found, key=lambda one: -one[0])]


_small = cache(str.lower)


def _stem(word: str) -> str:
    return re.sub(r"(?:(?<=..)ies|(?<=[^suia])s|(?<=.{4})(?:y|ing|ed|es|e))$", "", word) if re.fullmatch("[a-z]{4,}", word) else word


def _pattern(word: str) -> re.Pattern[str]:
    """A word may go on, kernel and kernels; American or British, with a hyphen or without."""
    body = re.sub(r"i[sz](?=$|e|in|at)", "i[sz]", re.escape(_stem(word)).replace(r"\-", "-"))
    body = re.sub("cent(?:er|re)", "cent(?:er|re)", re.sub("(behavi|col|fav|neighb)ou?r", r"\1ou?r", body))
    return re.compile(r"(?<![^\W_])" + re.sub("[-–]", r"[-–\\s]?", body) + (r"(?![^\W_])" if len(word) < 3 else ""))


def _key(text: str) -> str:
    return " ".join(re.sub("[-–]", " ", re.sub(r"iz(?=$|e|in|at)", "is", _stem(word))) for word in words_of(text))


def names_of(what: str, also: str = "") -> list[str]:
    """What an entry of ``docs/terms.tsv`` is called: the parts of its name, and its other names."""
    return [name for name in re.split(r", |; ", f"{re.sub(r' [(].*?[)]', '', what)}; {also}") if name]


@cache
def _known() -> tuple[list[Section], dict[str, list[str]], list[Section]]:
    """Sections, homes of terms, and the answered questions."""
    sections = [one for path in chapters_in(ROOT / "chapters") for one in _sections(path)]
    terms, faq = (path.read_text("utf-8") if path.exists() else "" for path in (ROOT / "docs" / "terms.tsv", ROOT / "docs" / "faq.md"))
    homes: dict[str, list[str]] = {}
    for what, _, chapter, heading, *also in (line.split("\t") for line in terms.splitlines()):
        start = f"{DEEPER}/{chapter.split('-')[0]}_" if "-" in chapter else f"{chapter}_"
        for one in sections:
            if one.way.startswith(start) and (one.heading == heading or one.heading.startswith(f"{heading} ★")):
                homes.setdefault(one.way, []).extend(names_of(what, *also))
    return sections, homes, [Section(one["asked"], one["answer"].strip()) for one in _QUESTION.finditer(faq)]


def _sections(path: Path) -> list[Section]:
    text, name = "", f"{DEEPER}/{path.name}" if path.parent.name == DEEPER else path.name
    try:
        for cell in read(path)["cells"]:
            if cell["cell_type"] == "markdown":
                text += f"\n\n{cell['source']}"
            elif not cell["metadata"].get("jupyter"):  # what draws is folded
                text += re.sub("(?m)^", " ", f"\n\n{cell['source']}")
    except (Damaged, OSError):
        return []
    _, *pieces = re.split(r"(?m)^#{1,4} +(.+?)\s*$", text)
    both = zip(pieces[::2], pieces[1::2], strict=True)
    return [Section(head, " ".join(_NOISE.sub("", body).split()), f"{name}#{head.replace(' ', '-')}", pieces[0]) for head, body in both]


def _excerpt(text: str, asked: str, around: int = 90) -> str:
    """The stretch of the text that holds the most of the words."""
    patterns = [_pattern(word) for word in dict.fromkeys(words_of(asked))]
    places = [place.start() for one in patterns for place in [*one.finditer(_small(text))][:20]] or [0]
    best = max(places, key=lambda at: (sum(one.search(_small(text), at, at + 2 * around) is not None for one in patterns), -at))
    start, stop = max(0, best - around), best + 2 * around
    cut = f"… {text[start:stop].partition(' ')[2]}" if start else text[:stop]
    return f"{cut.rpartition(' ')[0]} …" if stop < len(text) else cut
