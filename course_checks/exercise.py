"""What an exercise is made of: cases, an oracle, the right answer, parts, and a page of mistakes.

An :class:`Exercise` is data plus three small functions. ``draw`` makes the cases, ``oracle`` says what is right, ``right`` is the answer
that :mod:`.misconceptions` turns into wrong ones. Nothing here runs a learner's code: that is :mod:`.observe`.
"""

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar

import torch

from .case import Case
from .kinds import KINDS
from .misconceptions import Misconception, Page, read_page, wrong_code, wrong_words
from .observation import Misfit, Observation
from .plain_data import kind_of


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One exercise of the catalogue: a :class:`FunctionExercise`, a :class:`ModuleExercise` or a :class:`Prediction`.

    ``right`` is the right answer, short and readable, at the top level of the exercise's file. Beside that, with the ending ``.md``, lies
    its page for people: id, title, signature, difficulty, minutes and points at the head, which are typed there alone, and then the
    mistakes (:mod:`.misconceptions`), which edit the text of the right answer. What it calls and a mistake may change, too, are its
    ``helpers``. ``reference`` is what later cells of a chapter go on with; ``right``, or what is measured, where there is no other.
    ``draw(seed)`` returns the cases for one random draw; ``fixed()`` the edge cases that need no draw. A case belongs to a part; the
    points of a part are given when all its cases pass.
    ``forbidden`` names functions (dotted, ``torch.nn.functional.softmax``) that raise while the answer runs.
    """

    oracle: Callable[..., Any]
    draw: Callable[[int], list[Case]]
    right: Any = None
    helpers: tuple[Any, ...] = ()
    reference: Any = None
    fixed: Callable[[], list[Case]] = list
    forbidden: tuple[str, ...] = ()
    rtol: float = 1e-4
    atol: float = 1e-5
    raw: Callable[[Any], Any] | None = None  # compare raw(value) instead of value (e.g. scores up to a shift)
    compared: str = ""  # what ``raw`` does, in words; without them the panel shows the values themselves
    effect: Callable[[Any, Case], Any] | None = None  # what a result does in a case, where many are right; ValueError: nothing, and why
    file: str = ""  # beside which the page lies; that of the right answer, or of a prediction's oracle, unless given
    outputs: tuple[str, ...] = ()  # what the results of a tuple are called, e.g. ("output", "weights")
    kind: ClassVar[str] = ""  # the name under which a sandbox knows how to call it
    runs: ClassVar[bool] = True  # whether the answer is code
    word: ClassVar[str] = "function"  # what is asked for

    def __post_init__(self) -> None:
        if self.reference is None:
            object.__setattr__(self, "reference", self.right if self.runs else self.oracle())

    @cached_property
    def page(self) -> Page:
        """What the exercise's Markdown page says."""
        file = self.file or inspect.getfile(sys.modules[(self.right if self.runs else self.oracle).__module__])
        return read_page(Path(file).with_suffix(".md").read_text(encoding="utf-8"), self.wrong)

    # What its page says, under the names that it has here.
    id = property(attrgetter("page.id"))  # its number in the course, such as "03.2"
    title = property(attrgetter("page.title"))  # what it is called in the chapter's heading
    signature = property(attrgetter("page.signature"))  # how the answer is called and what it returns, for people
    name = property(attrgetter("page.name"))  # what the check cell passes: the first word of the signature
    stars = property(attrgetter("page.stars"))  # difficulty, one to three
    minutes = property(attrgetter("page.minutes"))  # what a practised student needs
    parts = property(attrgetter("page.points"))  # the points of each part
    misconceptions = property(attrgetter("page.misconceptions"))  # the wrong answers that it knows by name

    def wrong(self, misconception: Misconception) -> Any:
        """The wrong answer that an entry of the page describes."""
        return wrong_code(misconception, self.right, self.helpers)

    def leaves(self, args: dict[str, Any], names: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
        """A case's arguments with those in ``names`` ready to be differentiated by, and these by name."""
        ready = {name: _leaf(value, name in names) for name, value in args.items()}
        return ready, ready

    def judged(self, seen: Observation, case: Case) -> Observation:
        """What was seen, as it is judged: the result, or where the exercise asks for an ``effect``, what the result does."""
        if self.effect is None or seen.status != "ok" or seen.value is None:
            return seen
        try:
            value = self.effect(seen.value, case)
        except ValueError as error:
            return replace(seen, value=None, module=Misfit(str(error)))
        return seen if value is seen.value else replace(seen, value=value, type=kind_of(value), again=None)

    def problem_of(self, answer: Any) -> tuple[str, str] | None:
        """Message and mistake where something was passed that cannot be an answer at all."""
        passed = KINDS[self.kind].instead(answer)
        if not passed:
            return None
        return (
            f"You passed a {passed}; this exercise asks for the {self.word} `{self.name}` itself. Write its name without parentheses: "
            f"check({self.id!r}, {self.name}). If that is what you did, another cell has given the name `{self.name}` to something "
            "else: run your answer cell again.",
            "redefined name",
        )

    def blank(self) -> Any:
        """An answer that nobody has begun."""

        def blank(*args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError

        return blank

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
class ClaimExercise(FunctionExercise):
    """Asks for a function that claims something, asserts it, and returns the change that breaks it (:mod:`.claims`)."""

    kind: ClassVar[str] = "claim"


@dataclass(frozen=True, kw_only=True)
class ModuleExercise(Exercise):
    """Asks for a class, a ``torch.nn.Module``. A case's ``args`` hold ``init``, ``parameters``, ``inputs``, ``mode``, ``method``."""

    kind: ClassVar[str] = "module"
    word: ClassVar[str] = "class"

    def leaves(self, args: dict[str, Any], names: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Inputs and parameters in ``names``, ready to be differentiated by."""
        ready = {group: {k: _leaf(v, k in names) for k, v in args[group].items()} for group in ("parameters", "inputs")}
        return {**args, **ready}, {**ready["inputs"], **ready["parameters"]}

    def problem_of(self, answer: Any) -> tuple[str, str] | None:
        """Besides what is no class: a module that is already built."""
        if isinstance(answer, torch.nn.Module):
            text = f"You passed a module that is already built; pass the class itself: {self.name}, without parentheses."
            return text, "instance instead of class"
        return super().problem_of(answer)

    def blank(self) -> Any:
        """A class that nobody has begun."""

        class Blank(torch.nn.Module):
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                raise NotImplementedError

        return Blank


@dataclass(frozen=True, kw_only=True)
class Prediction(Exercise):
    """Asks for words or numbers, before they are computed. The right ones are what ``oracle()`` finds; a case has no arguments."""

    draw: Callable[[int], list[Case]] = lambda seed: [Case("your prediction", {})]
    choices: tuple[str, ...] = ()  # the words that it may use
    kind: ClassVar[str] = "value"
    runs: ClassVar[bool] = False
    word: ClassVar[str] = "prediction"

    def wrong(self, misconception: Misconception) -> Any:
        """The prediction with the entries that the page changes."""
        return wrong_words(misconception, self.reference, self.oracle.__module__)

    def blank(self) -> Any:
        """The prediction as it is handed out."""
        return dict.fromkeys(self.reference) if isinstance(self.reference, dict) else None


def _leaf(value: Any, wanted: bool) -> Any:
    return value.clone().requires_grad_(True) if wanted and isinstance(value, torch.Tensor) else value
