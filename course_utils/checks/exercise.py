"""What an exercise is made of: cases, an oracle, twins, parts.

An :class:`Exercise` is data plus three small functions. ``draw`` makes the cases, ``oracle`` says what
is right, ``reference`` is an answer a chapter can go on with. Twins are *wrong* answers with a name
and the hint that mends them. Nothing here runs a learner's code: that is :mod:`.observe`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

KINDS = ("function", "module", "value")


@dataclass(frozen=True)
class Case:
    """One thing to try an answer on.

    ``args`` holds plain data only (tensors, numbers, strings, None, lists, dicts, :class:`Registered`), so
    that a case can be sent to another process. For a ``module`` exercise its keys are ``init``
    (constructor arguments), ``parameters`` (name -> tensor, loaded before the call), ``inputs``, and perhaps
    ``mode``: with "eval" the module is put into evaluation mode first. With ``inputs`` None the result is :func:`.observe.starts` of a
    new module.
    """

    label: str
    args: dict[str, Any]
    part: str = "values"
    gradients: tuple[str, ...] = ()  # names of inputs (or parameters) to differentiate by
    rejects: type[Exception] | None = None  # the answer must raise this ...
    mentions: tuple[str, ...] = ()  # ... with a message that contains each of these
    shape: str = ""  # how the expected shape reads, e.g. "(batch, query, key)"
    calls: dict[str, int] = field(default_factory=dict)  # how often the answer must call a Registered argument


@dataclass(frozen=True)
class Registered:
    """A callable handed to an answer, by name, so that the case itself stays plain data."""

    name: str


CALLABLES: dict[str, Callable] = {}


def register(function: Callable) -> Callable:
    """Make ``function`` available to cases as ``Registered(function.__name__)``."""
    CALLABLES[function.__name__] = function
    return function


@dataclass(frozen=True)
class Twin:
    """A named wrong answer: executable, with the hint that mends it.

    ``name`` is the misconception in two to six words; ``hint`` one to three sentences without the code.
    ``untouched`` marks the stub of a find-the-bug exercise, which counts as "not attempted".
    """

    name: str
    answer: Any
    hint: str
    untouched: bool = False


@dataclass(frozen=True)
class Exercise:
    """One exercise of the catalogue.

    ``parts`` maps the name of a part to its points; a part's points are given when all its cases pass.
    ``draw(seed)`` returns the cases for one random draw; ``fixed()`` the edge cases that need no draw.
    ``forbidden`` names functions (dotted, ``torch.nn.functional.softmax``) that raise while the answer runs.
    ``name`` is what the check cell passes; ``title``, ``stars`` and ``minutes`` are typed here alone, and `build` sets the chapter's
    heading from them.
    ``formerly`` is an id that the exercise had when its chapter was still one with another: what learners did under it counts on.
    """

    id: str
    title: str
    name: str
    signature: str
    kind: str
    oracle: Callable[..., Any]
    reference: Any
    draw: Callable[[int], list[Case]]
    twins: tuple[Twin, ...]
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
    choices: tuple[str, ...] = ()  # the words a value exercise may use
    formerly: str = ""  # its id in an earlier edition, if its chapter then has been cut in two

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"exercise {self.id}: kind={self.kind!r} is not one of {KINDS}")
        names = [twin.name for twin in self.twins]
        if len(set(names)) != len(names):
            raise ValueError(f"exercise {self.id}: two twins share a name: {names}")

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
        return tuple(twin.name for twin in self.twins)

    def cases(self, seeds: tuple[int, ...]) -> list[Case]:
        """The cases of every draw in ``seeds``, then the fixed ones."""
        drawn = [case for seed in seeds for case in self.draw(seed)]
        return drawn + list(self.fixed())


def generator(seed: int) -> torch.Generator:
    """A random generator of its own, so that drawing cases never touches the learner's random state."""
    return torch.Generator().manual_seed(seed)
