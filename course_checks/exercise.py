"""What an exercise is made of: cases, an oracle, the right answer, parts, and a page of mistakes.

An :class:`Exercise` is data plus three small functions. ``draw`` makes the cases, ``oracle`` says what is right, ``right`` is the answer
that :mod:`.misconceptions` turns into wrong ones. Nothing here runs a learner's code: that is :mod:`.observe`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from .case import Case
from .misconceptions import Misconception, read_page, wrong_code, wrong_words


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One exercise of the catalogue: a :class:`FunctionExercise`, a :class:`ModuleExercise` or a :class:`Prediction`.

    ``file`` is the ``__file__`` that the exercise stands in; its page of mistakes lies beside it, with the ending ``.md``.
    ``right`` is the right answer, short and readable, at the top level of that file: the page edits its text. What it calls there and
    a mistake may change, too, are its ``helpers``. ``reference`` is what later cells of a chapter go on with; ``right`` where there is
    no other.
    ``parts`` maps the name of a part to its points; a part's points are given when all its cases pass.
    ``draw(seed)`` returns the cases for one random draw; ``fixed()`` the edge cases that need no draw.
    ``forbidden`` names functions (dotted, ``torch.nn.functional.softmax``) that raise while the answer runs.
    ``name`` is what the check cell passes; ``title``, ``stars`` and ``minutes`` are typed here alone, and `build` sets the chapter's
    heading from them.
    """

    id: str
    title: str
    name: str
    signature: str
    oracle: Callable[..., Any]
    draw: Callable[[int], list[Case]]
    file: str = ""
    right: Any = None
    helpers: tuple[Any, ...] = ()
    reference: Any = None
    parts: dict[str, float] = field(default_factory=lambda: {"values": 1.0})
    fixed: Callable[[], list[Case]] = list
    forbidden: tuple[str, ...] = ()
    stars: int = 1
    minutes: int = 5
    rtol: float = 1e-4
    atol: float = 1e-5
    raw: Callable[[Any], Any] | None = None  # compare raw(value) instead of value (e.g. scores up to a shift)
    compared: str = ""  # what ``raw`` does, in words
    outputs: tuple[str, ...] = ()  # what the results of a tuple are called, e.g. ("output", "weights")
    kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        if self.reference is None:
            object.__setattr__(self, "reference", self.right)

    @cached_property
    def misconceptions(self) -> tuple[Misconception, ...]:
        """The entries of its page of mistakes; none where it has no file."""
        return read_page(Path(self.file).with_suffix(".md").read_text(encoding="utf-8"), self.wrong) if self.file else ()

    def wrong(self, misconception: Misconception) -> Any:
        """The wrong answer that an entry of the page describes."""
        return wrong_code(misconception, self.right, self.helpers)

    @property
    def heading(self) -> str:
        """The heading in the chapter: ``Exercise 03.2 ★★ Scaled dot-product attention (15 minutes)``."""
        return f"Exercise {self.id} {'★' * self.stars} {self.title} ({self.minutes} minutes)"

    @property
    def points(self) -> float:
        """Points of all parts together."""
        return sum(self.parts.values())

    @property
    def mistakes(self) -> tuple[str, ...]:
        """Names of the misconceptions this exercise recognises."""
        return tuple(misconception.name for misconception in self.misconceptions)

    def cases(self, seeds: tuple[int, ...]) -> list[Case]:
        """The cases of every draw in ``seeds``, then the fixed ones."""
        drawn = [case for seed in seeds for case in self.draw(seed)]
        return drawn + list(self.fixed())


@dataclass(frozen=True, kw_only=True)
class FunctionExercise(Exercise):
    """Asks for a function. A case's ``args`` are its arguments by name."""

    kind: ClassVar[str] = "function"


@dataclass(frozen=True, kw_only=True)
class ModuleExercise(Exercise):
    """Asks for a class, a ``torch.nn.Module``. A case's ``args`` hold ``init``, ``parameters``, ``inputs`` and perhaps ``mode``."""

    kind: ClassVar[str] = "module"


@dataclass(frozen=True, kw_only=True)
class Prediction(Exercise):
    """Asks for words or numbers, before they are computed. The right ones are what ``oracle()`` finds; a case has no arguments."""

    draw: Callable[[int], list[Case]] = lambda seed: [Case("your prediction", {})]
    choices: tuple[str, ...] = ()  # the words that it may use
    kind: ClassVar[str] = "value"

    def __post_init__(self) -> None:
        if self.reference is None:
            object.__setattr__(self, "reference", self.oracle())

    def wrong(self, misconception: Misconception) -> Any:
        """The prediction with the entries that the page changes."""
        return wrong_words(misconception, self.reference, self.oracle.__module__)
