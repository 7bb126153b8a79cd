"""The students of a run: their best marks, what could not be read, how their hand-ins went on, and of what per cents are taken."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .marks import exercises_of
from .run import Book
from .settings import Settings


class HandIn(NamedTuple):
    """One hand-in of a chapter: when, as far as anybody knows, and the points of each exercise."""

    when: float | None
    points: dict[str, float]


@dataclass
class Student:
    """Everything of one student: the best mark of each exercise, and what could not be read."""

    name: str
    identity: str = ""
    marks: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    history: dict[str, list[HandIn]] = field(default_factory=dict)  # chapter → one hand-in after the other

    def total(self) -> float:
        """Weighted points, late penalty included."""
        return round(sum(mark["counts"] for mark in self.marks.values()), 4)


def students_of(book: Book, settings: Settings, keys: set[str] | None = None, stamp: str | None = None) -> list[Student]:
    """Read the lines of a run, the newest of each notebook; an exercise that was handed in several ``times`` counts once, at its
    best.

    With ``stamp`` only lines of these exercises: a run with ``--only`` in the same folder graded fewer.
    """
    newest: dict[str, int] = {}
    series = _Series()
    for number, line in enumerate(book.lines()):
        if (keys is None or line["key"] in keys) and stamp in (None, line.get("stamp")):
            newest[line["key"]] = number
            series.add(line)
    wanted = set(newest.values())
    students: dict[tuple[str, str], Student] = {}
    again: Counter[tuple[str, str, str]] = Counter()
    for line in sorted((line for number, line in enumerate(book.lines()) if number in wanted), key=_place):
        submission = line["submission"]
        who = submission["student"], submission["identity"]  # two students may share a name
        student = students.setdefault(who, Student(*who, history=series.of(who)))
        student.files.append(submission["label"])
        if line["problem"]:
            student.problems.append(f"{submission['label']}: {line['problem']}")
        kept = settings.kept(submission["handed_in"])
        for exercise, mark in line["marks"].items():
            mark["counts"] = round(settings.points(exercise, mark["points"], mark["possible"]) * kept, 6)
            mark["file"] = submission["label"]
            if kept < 1:
                mark["notes"] = [*mark["notes"], f"handed in late: {kept:.0%} of the points remain"]
            again[*who, exercise] += 1
            old = student.marks.get(exercise)
            if old is None or mark["counts"] > old["counts"]:
                student.marks[exercise] = mark
    for (*who, exercise), times in again.items():
        students[tuple(who)].marks[exercise]["times"] = times
    return sorted(students.values(), key=lambda s: (s.name.casefold(), s.name, s.identity))


class _Series:
    """Hand-ins by student and chapter, in their order in time; the same file handed in once more is no new hand-in."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], dict[str, list[tuple[tuple, str, HandIn]]]] = {}
        self.turns: Counter[str] = Counter()

    def add(self, line: dict[str, Any]) -> None:
        submission = line["submission"]
        self.turns[line["key"]] += 1
        when, by_chapter = submission["handed_in"], {}
        for exercise, mark in line["marks"].items():
            by_chapter.setdefault(exercise.split(".")[0], {})[exercise] = mark["points"]
        place = self.turns[line["key"]], submission["label"], submission["member"], submission["path"]
        for chapter, points in by_chapter.items():
            mine = self.found.setdefault((submission["student"], submission["identity"]), {}).setdefault(chapter, [])
            mine.append((place, line["sha256"], HandIn(when, points)))

    def of(self, who: tuple[str, str]) -> dict[str, list[HandIn]]:
        """By date where every hand-in of a chapter has one, else in the order in which they were graded."""
        ordered: dict[str, list[HandIn]] = {}
        for chapter, entries in sorted(self.found.get(who, {}).items()):
            dated = all(entry.when is not None for _, _, entry in entries)
            entries.sort(key=lambda found: (found[2].when if dated else 0.0, *found[0]))
            new = [
                entry
                for before, (_, digest, entry) in zip([None, *entries], entries, strict=False)
                if before is None or before[1] != digest
            ]
            ordered[chapter] = new
        return ordered


def _place(line: dict[str, Any]) -> tuple:
    """Where a line stands among others, whatever order the judges ended in: by the time of handing in, then by name."""
    submission = line["submission"]
    handed_in = submission["handed_in"]
    return (float("-inf") if handed_in is None else handed_in, submission["path"], submission["member"])


def assigned(students: list[Student], settings: Settings, only: tuple[str, ...] = ()) -> list[str]:
    """Exercises that everybody was to do: those that the settings list, else those of the chapters of ``--only``, else those of the
    chapters that at least half of the class handed in."""
    if settings.exercises:
        return [key for key in exercises_of() if settings.assigned(key)]
    if only:
        return list(exercises_of(only))
    handed_in = [{key.split(".")[0] for key in student.marks} for student in students if student.marks]
    common = {chapter for mine in handed_in for chapter in mine if 2 * sum(chapter in other for other in handed_in) >= len(handed_in)}
    return [key for key in exercises_of() if key.split(".")[0] in common]


def share(student: Student, everybody: list[str], settings: Settings, only: tuple[str, ...] = ()) -> float | None:
    """Share of the points of what was assigned, from 0 to 1; None where nothing was handed in and that is to stay empty.

    Where nothing was listed as assigned, chapters that a student handed in count for that student, too: nobody has full marks and 0 %,
    and what one student hands in besides changes nobody else's share.
    """
    exercises = exercises_of()
    own = {key.split(".")[0] for key in student.marks}
    counted = set(everybody)
    if not settings.exercises and not only:
        counted |= {key for key in exercises if key.split(".")[0] in own}
    if settings.missing == "empty":
        counted = {key for key in counted if key in student.marks}
        if not counted:
            return None
    most = sum(settings.points(key, exercises[key].points, exercises[key].points) for key in counted)
    return sum(mark["counts"] for key, mark in student.marks.items() if key in counted) / most if most else 0.0
