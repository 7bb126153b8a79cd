"""What stays the same from answer to answer, so that it is found out once: the oracle's results, and what misconceptions do."""

from typing import Any

import torch

from .case import Case
from .exercise import Exercise
from .expected import expected_of
from .misconceptions import Misconception
from .observation import Observation
from .observe import observe


class Known:
    """Remembers results of one check, or of many checks with the same cases. Whatever it has seen stays alive, so no identity is reused."""

    def __init__(self) -> None:
        self._expected: dict[tuple[int, int], Any] = {}
        self._observed: dict[tuple[int, int], Any] = {}

    def expected(self, exercise: Exercise, case: Case) -> tuple[Any, dict[str, torch.Tensor | None]]:
        """The oracle's value for a case, and its gradients."""
        key = (id(exercise.oracle), id(case))
        if key not in self._expected:
            self._expected[key] = (expected_of(exercise, case), exercise, case)
        return self._expected[key][0]

    def observed(self, exercise: Exercise, misconception: Misconception, case: Case) -> Observation:
        """What a misconception does on a case."""
        key = (id(misconception), id(case))
        if key not in self._observed:
            seen = observe(exercise.kind, misconception.answer, case.args, case.gradients)
            self._observed[key] = (exercise.judged(seen, case), misconception, case)
        return self._observed[key][0]
