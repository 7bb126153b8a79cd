"""Labelled English of our own: opinions, and questions about short passages. ValueError, with file and line, for a broken file."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
SENTIMENT = ("negative", "positive")


class Opinion(NamedTuple):
    text: str
    label: str  # one of SENTIMENT
    group: int  # its own number


class Question(NamedTuple):
    passage: str
    question: str
    answer: str  # passage[start:start + len(answer)]
    start: int


def _rows(path: Path, columns: int, labels: Sequence[str] = ()) -> Iterator[tuple[str, list[str]]]:
    """``(place, fields)`` of every line: no field empty, the first one of ``labels`` if there are any, no item twice."""
    seen: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        place, fields = f"{path.name}, line {number}", line.split("\t")
        if len(fields) != columns or not all(field.strip() for field in fields):
            raise ValueError(f"{place}: {columns} fields with a tab between them are needed, not {line!r}")
        if labels and fields[0] not in labels:
            raise ValueError(f"{place}: {fields[0]!r} is none of {', '.join(labels)}")
        item = tuple(fields[1:] if labels else fields[:2])  # what is asked, without the answer
        if seen.setdefault(item, number) != number:
            raise ValueError(f"{place}: says the same as line {seen[item]}")
        yield place, fields


def sentiment(path: Path = HERE / "sentiment.tsv") -> list[Opinion]:
    """Every opinion, each a group of its own."""
    return [Opinion(text, label, index) for index, (_, (label, text)) in enumerate(_rows(path, 2, SENTIMENT))]


def questions(path: Path = HERE / "questions.tsv") -> list[Question]:
    """Every question; ``start`` is where the answer first stands in the passage."""
    found = []
    for place, (passage, question, answer) in _rows(path, 3):
        start = passage.find(answer)
        if start < 0 or any(c.isalnum() for c in passage[:start][-1:] + passage[start + len(answer) :][:1]):
            raise ValueError(f"{place}: the passage does not contain the answer {answer!r}, or first inside a longer word")
        found.append(Question(passage, question, answer, start))
    return found
