"""What comes out of the process that ran an exercise: written by the worker, read by the judge with suspicion."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import Any

from course_checks.observation import Observation

from . import wire
from .likeness import MOST

STATUSES = ("observed", "missing", "wrong kind", "time", "ours")
MOST_OBSERVATIONS = 1000


@dataclass(frozen=True)
class Problem:
    """A cell that stopped while it was run for an exercise."""

    cell: int
    answer: bool  # it is the exercise's own
    type: str
    message: str
    line: str


@dataclass(frozen=True)
class Reply:
    """What was observed of one exercise, or why nothing was: ``line`` and ``number`` say where or what, by ``status``."""

    status: str = "observed"
    seen: list[Observation] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    line: str = ""
    number: int | None = None
    likeness: list[int] = field(default_factory=list)

    def to_plain(self) -> dict[str, Any]:
        """As dicts, lists, texts, numbers and tensors, for the wire."""
        return {
            **vars(self),
            "seen": [observation.to_plain() for observation in self.seen],
            "problems": [dict(vars(problem)) for problem in self.problems],
        }


def read_reply(data: bytes, forbidden: tuple[str, ...]) -> Reply:
    """Read what came out of the sandbox, which is hostile; ``forbidden``: the names that it may call forbidden.

    ProtocolError, KeyError or TypeError when the observer would not have written it.
    """
    plain = wire.read(io.BytesIO(data).read)
    status, line, number, seen = plain["status"], plain["line"], plain["number"], plain["seen"]
    if status not in STATUSES or not isinstance(line, str) or not (number is None or type(number) is int):
        raise TypeError("not an observation")
    if not isinstance(seen, list) or len(seen) > MOST_OBSERVATIONS:
        raise TypeError("not an observation")
    observations = [Observation.from_plain(item) for item in seen]
    if any(one.status == "forbidden" and (one.error is None or one.error.message not in forbidden) for one in observations):
        raise TypeError("a name that is not forbidden")
    problems = [_problem(item) for item in plain["problems"]]
    alike = [one for one in plain["likeness"][:MOST] if type(one) is int]
    return Reply(status, observations, problems, line[:300], number, alike)


def _problem(plain: Any) -> Problem:
    if type(plain["cell"]) is not int:
        raise TypeError("not a cell's number")
    return Problem(plain["cell"], plain["answer"] is True, str(plain["type"])[:100], str(plain["message"])[:300], str(plain["line"])[:200])
