"""What a notebook earned: a mark for each exercise, and the panel that says why. Plain data, as a line of ``grades.jsonl`` holds it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from html import escape
from typing import Any

from course_checks.exercise import Exercise
from course_checks.lookup import chapters, companions, in_chapter
from course_checks.panel import CheckResult

MOST_SHOWN = 100_000  # characters of a panel


@dataclass(frozen=True)
class Limits:
    """Seconds for an exercise with the cells it needs, bytes of memory for a submission, bytes of one result."""

    timeout: float = 60.0
    memory: int = 2 * 2**30
    result: int = 32 * 2**20
    notebook: float = 600.0  # seconds for all exercises of a notebook together


@dataclass
class Mark:
    """What one exercise of one notebook earned, and the panel that says why."""

    exercise: str
    points: float
    possible: float
    stage: str
    mistake: str | None
    message: str
    html: str
    notes: list[str] = field(default_factory=list)
    earned: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    follows: str = ""  # another exercise this answer builds on, when that one is wrong
    claimed: bool = False  # the notebook's saved output says "right", and grading does not
    copied: bool = False  # most of the course's own version stands in it
    claim: str = ""  # the text of a claim of the student's own that has passed: a person has to read it
    unjudged: bool = False  # what came back has no form that can be judged
    text: str = ""  # a digest of the answer as it is written, to compare within the class
    answer: str = ""  # its cell without comments and docstrings, to be shown to the class and never run; nothing where that is long
    own: Mark | None = None  # with the student's own helpers, where this one was judged with the course's

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Mark:
        """From its entries; TypeError or KeyError where another version of the course has written them."""
        return cls(**{**plain, "own": None if plain["own"] is None else cls.from_plain(plain["own"])})

    @property
    def passed(self) -> bool:
        """Whether the answer is right, in all its parts."""
        return self.stage == "passed"


@dataclass
class Graded:
    """A whole notebook: its marks by exercise, or why there are none."""

    marks: dict[str, Mark]
    problem: str = ""


def exercises_of(only: tuple[str, ...] = ()) -> dict[str, Exercise]:
    """Exercises by id, of all chapters or of those named (``("03", "08a")``)."""
    return {key: exercise for chapter in chapters() if not only or chapter in only for key, exercise in in_chapter(chapter).items()}


@cache
def places() -> dict[str, str]:
    """The notebook of every exercise: its chapter's, ``"03"``, or that of the companion, ``"03, deeper"``."""
    deeper = companions()
    return {key: key.split(".")[0] + (", deeper" if key in deeper else "") for key in exercises_of()}


def extra(exercise_id: str) -> bool:
    """Whether an exercise stands in a companion: its points count only where the settings assign it."""
    return "," in places()[exercise_id]


def failed(exercise: Exercise, stage: str, message: str, mistake: str | None = None) -> Mark:
    """The mark of an answer that could not be judged, with the reason."""
    return mark_of(CheckResult.refused(exercise, stage, message, mistake))


def mark_of(result: CheckResult) -> Mark:
    """A check's result as a mark."""
    html = result.html()
    if len(html) > MOST_SHOWN:  # a hostile result may be shown at any length
        html = f"<p>{escape(result.message[:2000])}</p><p>(The rest is too long to be shown.)</p>"
    return Mark(
        exercise=result.exercise,
        points=result.points,
        possible=result.possible,
        stage=result.stage,
        mistake=result.mistake,
        message=result.message[:2000],
        html=html,
        earned=dict(result.earned),
    )
