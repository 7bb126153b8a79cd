"""Conventions of PyTorch, Hugging Face and textbooks, listed in ``conventions.md``: ``check`` calls an answer in them; grading never does."""

import inspect
import math
import re
import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .case import Case
from .exercise import Exercise
from .known import Known
from .observe import TooLong, observe_all
from .trial import Finding, Trial

_, _masks, _layouts = Path(__file__).with_suffix(".md").read_text(encoding="utf-8").split("\n## ")
MASKS, LAYOUTS = (dict(re.findall(r"^- (.+?): (.+)$", part, re.MULTILINE)) for part in (_masks, _layouts))
OURS, (USUAL, FIRST, FOUR, FLASH, HALVES, TURNED) = next(iter(MASKS)), LAYOUTS
PLACES: dict[str, dict[str, tuple[list[str], list[str]]]] = {}  # layout: the exercise: its arguments, its results
for _name, _block in zip(LAYOUTS, re.split(r"^- ", _layouts, flags=re.MULTILINE)[1:], strict=True):
    rows = re.findall(r"^  - (.*)→(.*): (.+)$", _block, re.MULTILINE)
    PLACES[_name] = {exercise: (given.split(), made.split()) for given, made, exercises in rows for exercise in exercises.split()}
MADE = {"visibility", "causal_mask", "decoder_mask", "prefix_window_mask", "block_mask", "order_masks"}  # exercises that ask for a mask
GIVEN = {"mask", "memory_mask", "content", "query"}  # arguments, where they are booleans
SECONDS = 0.4  # of the processor, to find the convention that an answer follows


class NoSuchConvention(ValueError):
    """A mask or layout that means nothing in an exercise; the message names those that do."""


def possible(exercise: Exercise) -> dict[str, list[str]]:
    """The masks and the layouts that mean something in an exercise, the course's first."""
    masked = exercise.name in MADE or re.search(r"[( ](mask|content)\b", exercise.signature) and exercise.name != "mask_for_pytorch"
    layouts = [USUAL, *(layout for layout in LAYOUTS if exercise.name in PLACES[layout])]
    return {"mask": [*MASKS][: None if masked else 1], "layout": layouts}


@dataclass(frozen=True)
class Convention:
    """How an answer wants to be called; parameters of ``foreign`` code may have other names, and are then given in order."""

    exercise: Exercise
    mask: str = OURS
    layout: str = USUAL
    foreign: bool = False

    @classmethod
    def named(cls, exercise: Exercise, **given: str | None) -> "Convention":
        """The ``mask`` and ``layout`` given to ``check``, None for the course's. NoSuchConvention where there is no such thing."""
        found = {argument: str(name) for argument, name in given.items() if name is not None}
        for argument, name in found.items():
            choices = possible(exercise)[argument]
            same = [choice for choice in choices if choice.lower().split() == name.replace(",", ", ").lower().split()]
            if not same:
                have = " or ".join(f'{argument}="{choice}"' for choice in choices)
                raise NoSuchConvention(f"{argument}={name!r} means nothing for exercise {exercise.id}, {exercise.name}: it has {have}")
            found[argument] = same[0]
        return cls(exercise, **found, foreign=bool(found))

    def __str__(self) -> str:
        """As the arguments of ``check``."""
        both = {"mask": self.mask, "layout": self.layout}
        return ", ".join(f'{argument}="{name}"' for argument, name in both.items() if name not in (OURS, USUAL))

    @property
    def meaning(self) -> str:
        """In words."""
        return " and ".join((MASKS | LAYOUTS)[name] for name in (self.mask, self.layout) if name not in (OURS, USUAL))

    def around(self, answer: Any) -> Any:
        """The answer as the course calls it."""
        return _Around(answer, self, self.exercise.kind == "module") if self.foreign and self.exercise.runs else answer

    def right(self, answer: Any, cases: list[Case], known: Known) -> list[bool]:
        """In which of the cases an answer is right; it has a second."""
        asked = [(case.args, case.gradients) for case in cases]
        try:
            seen = observe_all(self.exercise.kind, self.around(answer), asked, self.exercise.forbidden, 1.0)
        except TooLong:
            return [False] * len(cases)
        both = zip(cases, seen, strict=False)
        return [Trial(self.exercise, case, 1, self.exercise.judged(one, case), known).finding() is None for case, one in both]

    def followed(self, answer: Any, cases: list[Case], finding: Finding, known: Known) -> str:
        """A sentence on another convention that a wrong answer seems to follow, in which more is right and nothing else wrong."""
        if finding.case.rejects is not None or finding.stage in ("not attempted", "forbidden shortcut", "gradients"):
            return ""
        until, cases, best = time.process_time() + SECONDS, [case for case in cases if case.rejects is None], self
        before = most = self.right(answer, cases, known)
        for mask, layout in product(*possible(self.exercise).values()):
            other = Convention(self.exercise, mask, layout, foreign=True)
            if not all(most) and time.process_time() < until and other.right(answer, [finding.case], known) == [True]:
                now = other.right(answer, cases, known)
                if sum(now) > sum(most) and all(one >= old for one, old in zip(now, before, strict=True)):
                    best, most = other, now
        if best is self or not (str(best) or self.foreign):
            return ""
        what = f"another convention than the one you named: {best.meaning}" if self.foreign else f"another convention: {best.meaning}"
        how = f"To have it judged so: `check({self.exercise.id!r}, {self.exercise.name}, {best})`."
        if not str(best):
            what, how = "the course's own convention", "Leave mask and layout out."
        return f"Your answer seems to follow {what}. In it {sum(most)} of {len(most)} inputs come out right, not {sum(before)}. {how}"


class _Around:
    """Calls ``func``, where :mod:`.own_code` looks for the learner's lines, in a convention; ``opens``: it is a class."""

    def __init__(self, func: Any, convention: Convention, opens: bool = False):
        self.func, self.convention, self.opens, self.mask = func, convention, opens, convention.mask
        self.layout, self.makes_masks = convention.layout, convention.exercise.name in MADE
        self.names, self.results = PLACES[self.layout].get(convention.exercise.name, ([], []))

    def __call__(self, **given: Any) -> Any:
        if self.opens:
            module = self.func(**given)
            if isinstance(module, torch.nn.Module):
                module.forward = _Around(module.forward, self.convention)
            return module
        first = next((given[name] for name in self.names if isinstance(given.get(name), Tensor)), torch.zeros(0, 0))
        lead = first.shape[: -2 if first.is_floating_point() else -1]  # the axes before tokens and features, in the course ...
        inside = (math.prod(lead),) if self.layout == FIRST else (*lead, *(1,) * (2 - len(lead)))  # ... and in the answer
        for name, value in given.items():
            if isinstance(value, Tensor) and name in self.names:
                given[name] = self._there(value, inside)
            elif isinstance(value, Tensor) and name in GIVEN and value.dtype is torch.bool:
                given[name] = self._mask(value, lead, inside)
        try:
            inspect.signature(self.func).bind(**given)
        except TypeError:  # other names
            value = self.func(*given.values())
        else:
            value = self.func(**given)
        if type(value) in (tuple, list):
            return type(value)(self._back(*one, lead, inside) for one in zip(value, [*self.results, *[""] * len(value)], strict=False))
        return self._back(value, next(iter(self.results), ""), lead, inside)

    def _there(self, x: Tensor, inside: tuple[int, ...]) -> Tensor:
        if self.layout == HALVES:
            return torch.cat([x[..., 0::2], x[..., 1::2]], -1)
        if self.layout == TURNED or not x.is_floating_point():
            return x.mT
        return self._swapped(x.reshape(*inside, *x.shape[-2:]))

    def _swapped(self, x: Tensor) -> Tensor:
        axis = {FIRST: 0, FLASH: 1}.get(self.layout, 9)
        return x if x.dim() < axis + 3 else x.transpose(axis, axis + 1)

    def _mask(self, mask: Tensor, lead: tuple[int, ...], inside: tuple[int, ...]) -> Tensor:
        if self.layout in (FIRST, FOUR, FLASH) and mask.dim() == len(lead) + 2 > 2:
            mask = mask.expand(*lead, *mask.shape[-2:]).reshape(*inside, *mask.shape[-2:])
        elif self.layout in (FOUR, FLASH):
            mask = mask[None, None]
        added = torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)
        return dict(zip(MASKS, (mask, ~mask, mask.float(), added), strict=True))[self.mask]

    def _back(self, x: Any, what: str, lead: tuple[int, ...], inside: tuple[int, ...]) -> Any:
        """A result as the course wants it; what has another shape or other numbers than it should stays as it is."""
        if not isinstance(x, Tensor):
            return x
        if self.makes_masks and self.mask != OURS:
            shown, hidden = {"True hides": (x == 0, x == 1), "additive": (x == 0, x < -3e38)}.get(self.mask, (x == 1, x == 0))
            return shown if (shown | hidden).all() else x
        if what and self.layout == HALVES and x.dim() and x.shape[-1] % 2 == 0:
            return torch.stack(x.chunk(2, -1), -1).flatten(-2)
        x = self._swapped(x) if what == "tokens" else x
        return x.reshape(*lead, *x.shape[-2:]) if what and x.dim() > 2 and x.shape[:-2] == inside else x
