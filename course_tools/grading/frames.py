"""What the worker sends back for one exercise, read with suspicion: it comes out of the process that ran the submission."""

from __future__ import annotations

import io
from dataclasses import dataclass

from course_checks.observation import Observation

from . import wire


@dataclass(frozen=True)
class Problem:
    """A cell that stopped while it was run for an exercise."""

    cell: int
    answer: bool  # it is the exercise's own
    type: str
    message: str
    line: str


@dataclass(frozen=True)
class Frame:
    """What the worker sent back for one exercise."""

    status: str
    line: str
    number: int | None
    problems: list[Problem]
    seen: list[Observation]
    likeness: str = ""


def read_frame(data: bytes, forbidden: tuple[str, ...]) -> Frame:
    """Read what came out of the sandbox, which is hostile; ``forbidden``: the names that it may call forbidden.

    ProtocolError, KeyError or TypeError when the observer would not have written it.
    """
    plain = wire.read(io.BytesIO(data).read)
    if plain["status"] not in ("observed", "missing", "wrong kind", "time", "ours") or not isinstance(plain["line"], str):
        raise TypeError("not an observation")
    if not (plain["number"] is None or type(plain["number"]) is int) or not isinstance(plain["seen"], list) or len(plain["seen"]) > 1000:
        raise TypeError("not an observation")
    seen = [Observation.from_plain(item) for item in plain["seen"]]
    if any(one.status == "forbidden" and one.error.message not in forbidden for one in seen):
        raise TypeError("a name that is not forbidden")
    if not all(type(p["cell"]) is int for p in plain["problems"]):
        raise TypeError("not a cell's number")
    problems = [
        Problem(p["cell"], p["answer"] is True, str(p["type"])[:100], str(p["message"])[:300], str(p["line"])[:200])
        for p in plain["problems"]
    ]
    return Frame(plain["status"], plain["line"][:300], plain["number"], problems, seen, str(plain.get("likeness", ""))[:100])
