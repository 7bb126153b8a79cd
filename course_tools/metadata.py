"""What the course writes into metadata, under the key ``course``: into those of a notebook, and of each cell of an exercise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypedDict

KEY = "course"
SCHEMA = 1
ROLES = ("answer", "check", "hint")


class NotebookMetadata(TypedDict):
    """From what a notebook was made: its chapter, its kind, hashes of its text and of the code it runs, and of each blank answer."""

    chapter: str
    kind: str
    source: str
    package: str
    stubs: dict[str, str]


class CellMetadata(TypedDict):
    """To which exercise a cell belongs, and what it is in it."""

    exercise: str
    role: str
    schema: int


class Tag(NamedTuple):
    """The exercise and the role that a cell names; None where it names none."""

    exercise: str | None = None
    role: str | None = None


def tag_of(cell: Mapping[str, Any]) -> Tag:
    """The tag of a notebook's cell. The notebook may be anybody's: what has not our form names nothing."""
    metadata = cell.get("metadata")
    course = metadata.get(KEY) if isinstance(metadata, Mapping) else None
    if not isinstance(course, Mapping):
        return Tag()
    exercise, role = course.get("exercise"), course.get("role")
    return Tag(exercise if isinstance(exercise, str) else None, role if isinstance(role, str) else None)
