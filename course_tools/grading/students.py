"""The students of a run: their best marks, what could not be read, how their hand-ins went on, and of what per cents are taken."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .collect import Submission
from .marks import Mark, exercises_of, places
from .roster import Entry, Roster
from .run_folder import GradeRecord, RunFolder
from .settings import Settings


class HandIn(NamedTuple):
    """One hand-in of a chapter: when, as far as anybody knows, and the points of each exercise."""

    when: float | None
    points: dict[str, float]


@dataclass
class CountedMark(Mark):
    """A mark as it ``counts`` in this class: weighted, less what being late costs; from this ``file``, the best of so many ``times``."""

    counts: float = 0.0
    file: str = ""
    times: int = 1


@dataclass
class Student:
    """Everything of one student: the best mark of each exercise, and what could not be read."""

    name: str
    identity: str = ""
    marks: dict[str, CountedMark] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    digests: set[str] = field(default_factory=set)  # of the files that could be read
    back: str = ""  # under which name feedback goes back
    listed: bool = True  # on the list of the class, where there is one
    history: dict[str, list[HandIn]] = field(default_factory=dict)  # chapter or companion → one hand-in after the other

    @property
    def absent(self) -> bool:
        """Whether nothing at all was handed in: the list of the class has the name, and nothing else does."""
        return not self.files

    def total(self) -> float:
        """Weighted points, late penalty included."""
        return round(sum(mark.counts for mark in self.marks.values()), 4)


Who = tuple[str, str]  # name and identity: two students may share a name


def students_of(
    run: RunFolder, settings: Settings, keys: set[str] | None = None, stamp: str | None = None, roster: Roster | None = None
) -> list[Student]:
    """Read the records of a run, the newest of each notebook; an exercise that was handed in several ``times`` counts once, at its
    best.

    With ``stamp`` only records of these exercises: a run with ``--only`` in the same folder graded fewer. Who is on the ``roster`` is
    there in any case, and may have a deadline of their own.
    """
    roster = roster or Roster()
    newest: dict[str, GradeRecord] = {}
    hand_ins = _HandIns()
    for record in run.records():
        if (keys is None or record.key in keys) and stamp in (None, record.stamp):
            record = replace(record, marks={key: settings.ruled(mark) for key, mark in record.marks.items()})
            newest[record.key] = record
            hand_ins.add(record)
    students: dict[Who, Student] = {}
    seen: list[Entry] = []
    for record in sorted(newest.values(), key=_in_time):
        who = _who(record.submission)
        student = students.setdefault(who, Student(*who, history=hand_ins.of(who)))
        student.files.append(record.submission.label)
        student.back = record.submission.back or student.back
        student.digests |= {record.sha256} - {""}
        entry = roster.find(*who)
        student.listed = entry is not None or not roster.entries
        seen += [entry] if entry else []
        if record.problem:
            student.problems.append(f"{record.submission.label}: {record.problem}")
        for exercise, mark in record.marks.items():
            counted, before = _counted(mark, record.submission, settings, entry), student.marks.get(exercise)
            best = counted if before is None or counted.counts > before.counts else before
            best.times = before.times + 1 if before else 1
            student.marks[exercise] = best
    absent = [_absent(entry, list(students.values())) for entry in roster.entries if entry not in seen]
    return sorted([*students.values(), *absent], key=lambda s: (s.name.casefold(), s.name, s.identity))


def _who(submission: Submission) -> Who:
    return submission.student, submission.identity


def _absent(entry: Entry, others: list[Student]) -> Student:
    """Who is on the list and handed in nothing; with the number of Canvas or Moodle where the class has these."""
    kinds = {_kind(student.identity) for student in others} - {""}
    return Student(entry.name, next((number for number in entry.numbers if _kind(number) in kinds), ""))


def _kind(identity: str) -> str:
    return "canvas" if identity.isdigit() else identity.split(" ")[0] if " " in identity else ""


def _counted(mark: Mark, submission: Submission, settings: Settings, entry: Entry | None) -> CountedMark:
    """A mark by the rules of the class, and by the deadline of this student."""
    kept = settings.kept(submission.handed_in, entry.deadline if entry else None)
    counts = round(settings.points(mark.exercise, mark.points, mark.possible) * kept, 6)
    counted = CountedMark(**vars(mark), counts=counts, file=submission.label)
    if kept < 1:
        counted.notes = [*mark.notes, f"handed in late: {kept:.0%} of the points remain"]
    return counted


def _in_time(record: GradeRecord) -> tuple[float, str, str]:
    """How records are sorted, whatever order the judges ended in: by the time of handing in, then by name."""
    submission = record.submission
    return float("-inf") if submission.handed_in is None else submission.handed_in, submission.path, submission.member


class _Entry(NamedTuple):
    """A hand-in with what sorts it where no dates do, and the digest of its file."""

    order: tuple[int, str, str, str]
    sha256: str
    hand_in: HandIn


class _HandIns:
    """Hand-ins by student and chapter (or companion), in their order in time; the same file handed in once more is no new hand-in."""

    def __init__(self) -> None:
        self.found: dict[Who, dict[str, list[_Entry]]] = {}
        self.turns: Counter[str] = Counter()

    def add(self, record: GradeRecord) -> None:
        submission = record.submission
        self.turns[record.key] += 1
        chapters: dict[str, dict[str, float]] = {}
        for exercise, mark in record.marks.items():
            chapters.setdefault(places().get(exercise, exercise.split(".")[0]), {})[exercise] = mark.points
        order = self.turns[record.key], submission.label, submission.member, submission.path
        for chapter, points in chapters.items():
            entries = self.found.setdefault(_who(submission), {}).setdefault(chapter, [])
            entries.append(_Entry(order, record.sha256, HandIn(submission.handed_in, points)))

    def of(self, who: Who) -> dict[str, list[HandIn]]:
        """By date where every hand-in of a chapter has one, else in the order in which they were graded."""
        ordered: dict[str, list[HandIn]] = {}
        for chapter, entries in sorted(self.found.get(who, {}).items()):
            dated = all(entry.hand_in.when is not None for entry in entries)
            entries.sort(key=lambda entry: (entry.hand_in.when or 0.0 if dated else 0.0, *entry.order))
            before = [None, *(entry.sha256 for entry in entries)]
            ordered[chapter] = [entry.hand_in for entry, last in zip(entries, before, strict=False) if entry.sha256 != last]
        return ordered


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
    return sum(mark.counts for key, mark in student.marks.items() if key in counted) / most if most else 0.0
