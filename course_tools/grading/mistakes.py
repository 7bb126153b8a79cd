"""The misconceptions of a class: who shares which, the commonest first, and one learner's panel without the name."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from typing import NamedTuple

from course_checks.misconceptions import Misconception as Known

from .feedback import state
from .marks import exercises_of
from .students import CountedMark, Student

TOP = 3  # misconceptions that are told first
NO_MISCONCEPTION = "tampering", "not an observation", "stopped by itself", "stopped by the sandbox", "time used up", "result far too large"
Mistakes = dict[str, dict[str, list[Student]]]  # exercise → misconception → who


class Misconception(NamedTuple):
    """A misconception that was recognised: of which exercise, and in whose answers."""

    key: str
    name: str
    who: list[Student]

    def rank(self) -> tuple[int, float, str, str]:
        """The commonest and then the costliest first."""
        lost = sum(student.marks[self.key].possible - student.marks[self.key].points for student in self.who)
        return -len(self.who), -lost, self.key, self.name


def mistakes_of(graded: list[Student]) -> Mistakes:
    """Every misconception of the class that does not merely follow from another answer."""
    found: Mistakes = defaultdict(lambda: defaultdict(list))
    for student in graded:
        for key, mark in student.marks.items():
            if mark.mistake and state(mark) == "not yet" and not mark.follows and mark.mistake not in NO_MISCONCEPTION:
                found[key][mark.mistake].append(student)
    return found


def ranked(mistakes: Mistakes) -> list[Misconception]:
    """Misconceptions, what most of them have first."""
    return sorted((Misconception(key, name, who) for key, names in mistakes.items() for name, who in names.items()), key=Misconception.rank)


def shared(mistakes: Mistakes) -> list[Misconception]:
    """The commonest of those that several students share."""
    return [entry for entry in ranked(mistakes) if len(entry.who) > 1][:TOP]


def known(entry: Misconception) -> Known | None:
    """What the exercise's page says of a mistake; None for those that belong to no exercise, such as an endless loop."""
    return next((one for one in exercises_of()[entry.key].misconceptions if one.name == entry.name), None)


def titled(entry: Misconception) -> str:
    """The exercise and the mistake, in a line."""
    exercise = exercises_of()[entry.key]
    return f"{exercise.id} {exercise.title}{'' if exercise.title[-1] in '?!' else ':'} {entry.name}"


def having(graded: list[Student], key: str) -> list[CountedMark]:
    """The marks of those who handed an exercise in."""
    return [s.marks[key] for s in graded if key in s.marks]


def of_those(graded: list[Student], entry: Misconception) -> str:
    """How many, and of how many who tried."""
    tried = sum(state(mark) != "blank" for mark in having(graded, entry.key))
    return f"{len(entry.who)} of {tried} who tried"


def example(who: list[Student], key: str) -> str:
    """The panel of one of them: of one in whose text no part of the own name stands, or else without it."""
    for student in who:
        html = student.marks[key].html
        if _without(student, html) == html:
            return html
    return _without(who[0], who[0].marks[key].html)


def _without(student: Student, html: str) -> str:
    """A panel without the words of a student's name or number."""
    return "".join(text if text.startswith("<") else nameless(student, text) for text in re.split(r"(<[^>]*>)", html))


def nameless(student: Student, text: str) -> str:
    """A text without the words of a student's name or number."""
    names = unicodedata.normalize("NFC", f"{student.name} {student.identity}".replace("_", " "))
    words = [word for word in re.findall(r"\w{3,}", names) if word != "Participant"]
    any_of = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    # "ada_file" and "ada2" are names, too; "Adapter" is not
    return re.sub(rf"(?<![^\W\d_])({any_of})(?![^\W\d_])", "…", text, flags=re.IGNORECASE) if words else text
