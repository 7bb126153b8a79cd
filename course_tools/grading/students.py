"""The students of a run: their best marks, what could not be read, how their hand-ins went on, and of what per cents are taken."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .collect import Submission
from .marks import Mark, exercises_of, extra, places
from .roster import Entry, Roster, plain
from .run_folder import GradeRecord, RunFolder
from .settings import Settings


class HandIn(NamedTuple):
    """One hand-in of a chapter: when, as far as anybody knows, and the points of each exercise."""

    when: float | None
    points: dict[str, float]


@dataclass
class CountedMark(Mark):
    """A mark as it ``counts`` in this class: weighted, less what being late costs (a share is ``kept``); from this ``file``, the best of
    so many ``times``; and what is to be said where an instructor has changed it ``by_hand``."""

    counts: float = 0.0
    file: str = ""
    times: int = 1
    kept: float = 1.0
    by_hand: str = ""


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
    entry: Entry | None = None  # there
    history: dict[str, list[HandIn]] = field(default_factory=dict)  # chapter or companion → one hand-in after the other
    counted: tuple[str, ...] = ()  # the exercises that count for this student; what else was handed in is extra
    possible: float = 0.0  # weighted points that these have together

    @property
    def absent(self) -> bool:
        """Whether nothing at all was handed in: the list of the class has the name, and nothing else does."""
        return not self.files and not self.marks

    @property
    def share(self) -> float | None:
        """Share of the points of what counts, from 0 to 1; None where nothing does."""
        return self.total() / self.possible if self.possible else None

    @property
    def canvas(self) -> str:
        """Canvas's number, from the name of a file or from Canvas's own list."""
        return self.identity if self.identity.isdigit() else self.entry.canvas[1] if self.entry and self.entry.canvas else ""

    @property
    def moodle(self) -> str:
        """What Moodle calls the student in an assignment: "Participant 4711"."""
        return self.identity if self.identity.startswith("Participant ") else self.entry.moodle if self.entry else ""

    def total(self, chapter: str = "") -> float:
        """Weighted points of what counts, late penalty included; of everything or of one chapter."""
        counted = (key for key in self.counted if key in self.marks and chapter in ("", key.split(".")[0]))
        return round(sum(self.marks[key].counts for key in counted), 4)

    def called(self) -> set[str]:
        """Everything by which this student is known, to be compared with :func:`.roster.plain`."""
        return {plain(text) for text in (self.name, self.identity, *((self.entry.name, *self.entry.numbers) if self.entry else ())) if text}

    def take(self, record: GradeRecord, settings: Settings) -> None:
        """Add what a notebook earned by the rules of the class; of an exercise that is there more than once, the best answer counts."""
        submission = record.submission
        if record.problem:
            self.problems.append(f"{submission.label}: {record.problem}")
        kept = settings.kept(submission.handed_in, self.entry.deadline if self.entry else None)
        late = [f"handed in late: {kept:.0%} of the points remain"] if kept < 1 else []
        for exercise, judged in record.marks.items():
            mark, before = settings.ruled(judged), self.marks.get(exercise)
            counts = round(settings.points(exercise, mark.points, mark.possible) * kept, 6)
            best = CountedMark(**{**vars(mark), "notes": mark.notes + late}, counts=counts, file=submission.label, kept=kept)
            if before and (before.counts, before.points) >= (counts, mark.points):
                best = before
            best.times = before.times + 1 if before else 1
            self.marks[exercise] = best


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
            newest[record.key] = record
            hand_ins.add(replace(record, marks={key: settings.ruled(mark) for key, mark in record.marks.items()}))
    students: dict[Who, Student] = {}
    seen: list[Entry] = []
    for record in sorted(newest.values(), key=_in_time):
        who = _who(record.submission)
        student = students.setdefault(who, Student(*who, history=hand_ins.of(who)))
        student.files.append(record.submission.label)
        student.back = record.submission.back or student.back
        student.digests |= {record.sha256} - {""}
        student.entry = entry = roster.find(*who)
        student.listed = entry is not None or not roster.entries
        seen += [entry] if entry else []
        student.take(record, settings)
    absent = [_absent(entry, list(students.values())) for entry in roster.entries if entry not in seen]
    return sorted([*students.values(), *absent], key=lambda s: (s.name.casefold(), s.name, s.identity))


def _who(submission: Submission) -> Who:
    return submission.student, submission.identity


def _absent(entry: Entry, others: list[Student]) -> Student:
    """Who is on the list and handed in nothing; with the number of Canvas or Moodle where the class has these."""
    kinds = {_kind(student.identity) for student in others} - {""}
    return Student(entry.name, next((number for number in entry.numbers if _kind(number) in kinds), ""), entry=entry)


def _kind(identity: str) -> str:
    return "canvas" if identity.isdigit() else identity.split(" ")[0] if " " in identity else ""


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
    """Exercises that everybody was to do: those that the settings list, else those of the chapters that at least half of the class
    handed in; with ``--only`` of these chapters alone, and without settings all of theirs. Companions are extra unless the settings list
    them."""
    if settings.exercises:
        return [key for key in exercises_of(only) if settings.assigned(key)]
    handed_in = [{places()[key] for key in student.marks} for student in students if student.marks]
    half = {place for mine in handed_in for place in mine if 2 * sum(place in other for other in handed_in) >= len(handed_in)}
    return [key for key in exercises_of(only) if not extra(key) and (only or places()[key] in half)]


def settle(students: list[Student], settings: Settings, only: tuple[str, ...] = ()) -> None:
    """Say what counts for each student. Every table, page and report goes by it.

    Where nothing was named as assigned, chapters that a student handed in count for that student, too: nobody has full marks and 0 %,
    and what one student hands in besides changes nobody else's share.
    """
    everybody = set(assigned(students, settings, only))
    for student in students:
        own = set() if settings.exercises or only else {places()[key] for key in student.marks if not extra(key)}
        keys = [key for key, place in places().items() if key in everybody or place in own]
        student.counted = tuple(key for key in keys if key in student.marks or settings.missing == "zero")
        student.possible = settings.full(*student.counted)
