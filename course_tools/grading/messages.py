"""What goes between the judge, the fork server and the worker.

Both sides of the sandbox import this file. Standard library only: the fork server starts with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Job:
    """To the fork server: a submission to be shut in, with its bytes of memory and of each folder, and its seconds of the processor."""

    id: int
    memory: int
    space: int
    cpu: int


@dataclass(frozen=True)
class Notebook:
    """To the worker, first: what was handed in, and by id the names that the exercises ask for, and the notebook in which each stands."""

    content: bytes
    exercises: dict[str, str]
    places: dict[str, str]


@dataclass(frozen=True)
class Task:
    """To the worker: an exercise to run and observe, with the cells it needs or with ``everything`` above its check.

    ``cases`` are pairs of arguments and of names to differentiate by. ``limit`` is the seconds of the answer itself, ``seconds`` those of
    its cells, too; ``size`` the bytes of the result. ``versions``: what ``mine("04.4")`` gives inside, name and text by exercise.
    ``helpers``: other exercises of the notebook, each with its name and a text that makes the course's ``version`` of it, which takes the
    answer's place below their checks. ``unknown``: a name that was not known; with ``everything`` no cell is run where none mentions it.
    """

    exercise: str
    kind: str
    forbidden: tuple[str, ...]
    cases: list[tuple[dict[str, Any], tuple[str, ...]]]
    limit: float
    seconds: float
    size: int
    everything: bool = False
    versions: dict[str, tuple[str, str]] = field(default_factory=dict)
    helpers: dict[str, tuple[str, str]] = field(default_factory=dict)
    unknown: str = ""


@dataclass(frozen=True)
class Report:
    """From the worker: how a task ended ("done", "time", "size", "forged", "needless" or "exit N"), and the bytes of its reply."""

    ended: str
    reply: bytes
