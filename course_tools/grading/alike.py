"""Answers of a class that are alike: the same file, or the same text but for layout, comments and names of variables. Never a mark."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations

from .feedback import nothing_filled_in
from .marks import exercises_of
from .students import Student

FEW = 0.1  # of those who answered: what more of them write alike is the usual way to write it


def alike(students: list[Student]) -> list[str]:
    """A line for each pair: the same file, a mistake or two answers that hardly anybody else has written so."""
    files: dict[str, list[int]] = defaultdict(list)
    texts: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, student in enumerate(students):
        if nothing_filled_in(student):
            continue
        for digest in student.digests:
            files[digest].append(number)
        for key, mark in student.marks.items():
            if mark.text and mark.stage != "not attempted":
                texts[key, mark.text].append(number)
    answered = Counter(key for (key, _), who in texts.items() for _ in who)
    same = {pair for who in files.values() for pair in combinations(who, 2)}
    shared: dict[tuple[int, int], list[str]] = defaultdict(list)
    for (key, _), who in texts.items():
        if len(who) <= max(3, FEW * answered[key]):
            for pair in combinations(who, 2):
                shared[pair].append(key)
    order, lines = list(exercises_of()), []
    for pair in sorted(same | set(shared)):
        one, other = (students[number] for number in pair)
        keys = sorted(shared.get(pair, []), key=order.index)
        wrong = [key for key in keys if not one.marks[key].passed]
        if pair in same:
            lines.append(f"{one.name} and {other.name}: the same file")
        elif wrong or len(keys) > 1:
            said = [f"{key}{' (not right)' if key in wrong else ''}" for key in keys]
            lines.append(f"{one.name} and {other.name}: {', '.join(said)}")
    return lines
