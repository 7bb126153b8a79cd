"""Code that was written for another convention, PyTorch's for example: ``check`` can judge it in that; grading never does."""

import contextlib
import re
import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from course_utils.models.conventions import LAYOUTS, MASKS, OURS, USUAL, Translated

from .case import Case
from .exercise import Exercise
from .judge import Verdict, judge
from .known import Known
from .observe import TooLong, observe_all

PLACES: dict[str, dict[str, tuple[list[str], list[str]]]] = {USUAL: {}}  # layout: name of the answer: its arguments, its results
for _block in Path(__file__).with_suffix(".md").read_text(encoding="utf-8").split("\n## ")[1:]:
    _rows = re.findall(r"^- (.*)→(.*): (.+)$", _block, re.MULTILINE)
    PLACES[_block.split("\n")[0]] = {name: (there.split(), back.split()) for there, back, names in _rows for name in names.split()}
MADE = {"visibility", "causal_mask", "decoder_mask", "prefix_window_mask", "block_mask", "order_masks"}  # answers that are masks
GIVEN = ("mask", "memory_mask", "content", "query")  # arguments, where they are booleans
SECONDS = 0.4  # of the processor, to find the convention that an answer follows


class NoSuchConvention(ValueError):
    """A mask or layout that means nothing in an exercise; the message names those that do."""


def possible(exercise: Exercise) -> dict[str, list[str]]:
    """The masks and the layouts that mean something in an exercise, the course's first."""
    masked = exercise.name in MADE or re.search(r"[( ](mask|content)\b", exercise.signature) and exercise.name != "mask_for_pytorch"
    return {"mask": [*MASKS][: None if masked else 1], "layout": [USUAL, *(name for name in LAYOUTS if exercise.name in PLACES[name])]}


@dataclass(frozen=True)
class Convention:
    """How an answer wants to be called. ``foreign``: somebody said so, or it is only tried."""

    exercise: Exercise
    mask: str = OURS
    layout: str = USUAL
    foreign: bool = False

    @classmethod
    def named(cls, exercise: Exercise, **given: str | None) -> "Convention":
        """The ``mask`` and ``layout`` given to ``check``, None for the course's. NoSuchConvention where there is no such thing."""
        found = {argument: name for argument, name in given.items() if name is not None}
        for argument, name in found.items():
            if name not in (choices := possible(exercise)[argument]):
                have = " or ".join(f'{argument}="{choice}"' for choice in choices)
                raise NoSuchConvention(f"{argument}={name!r} means nothing for exercise {exercise.id}, {exercise.name}: it knows {have}")
        return cls(exercise, **found, foreign=bool(found))

    def __str__(self) -> str:
        """As the arguments of ``check``."""
        both = {"mask": self.mask, "layout": self.layout}
        return ", ".join(f'{argument}="{name}"' for argument, name in both.items() if name not in (OURS, USUAL))

    def around(self, answer: Any) -> Any:
        """The answer as the course calls it; :mod:`.own_code` finds the learner's lines under its ``func``."""
        name = self.exercise.name
        places = PLACES[self.layout].get(name, ((), ()))
        more = self.mask, self.layout, *places, GIVEN, name in MADE
        return Translated(answer, *more) if self.foreign and self.exercise.runs else answer

    def judged(self, answer: Any, cases: list[Case], known: Known) -> Verdict:
        """What the judge says of an answer in this convention, without a reason; TooLong after a second."""
        asked = [(case.args, case.gradients) for case in cases]
        seen = observe_all(self.exercise.kind, self.around(answer), asked, (), 1.0)
        return judge(self.exercise, cases, seen, known, named=False)

    def explains(self, answer: Any, cases: list[Case], verdict: Verdict, known: Known) -> bool:
        """Whether a wrong answer earns more in another convention, which the verdict then names; True also where one was asked for."""
        found, exercise, until = verdict.finding, self.exercise, time.process_time() + SECONDS
        if found is None or found.case.rejects is not None or found.stage in ("not attempted", "forbidden shortcut", "gradients"):
            return self.foreign
        best, most, choices = self, verdict.points, [*product(*possible(exercise).values())]
        with contextlib.suppress(TooLong):
            for other in (Convention(exercise, mask, layout, foreign=True) for mask, layout in (choices if len(choices) > 1 else ())):
                if time.process_time() < until and other.judged(answer, [found.case], known).finding is None:
                    points = other.judged(answer, cases, known).points
                    best, most = (other, points) if points > most else (best, most)
        if best is self or not (str(best) or self.foreign):
            return self.foreign
        what = " and ".join((MASKS | LAYOUTS)[name] for name in (best.mask, best.layout) if name not in (OURS, USUAL))
        arguments = str(best) or f'mask="{OURS}"'
        what = f"another convention{' than the one you named' if self.foreign else ''}: {what}" if what else "the course's own convention"
        how = f"To have it judged so: `check({exercise.id!r}, {exercise.name}, {arguments})`."
        text = f"Your answer seems to follow {what}. That gives {most:g} of {exercise.points:g} points, not {verdict.points:g}. {how}"
        if self.foreign or verdict.unexplained or not found.mistake:
            found.mistake, found.hint = "another convention", text
        else:
            verdict.remarks.append(text)
        return True
