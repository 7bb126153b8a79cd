"""Which misconception explains a wrong answer: the twin that behaves like it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .compare import close, same
from .exercise import Case, Exercise, Twin
from .observation import Observation
from .observe import observe

if TYPE_CHECKING:
    from .judge import Finding


def _agree(exercise: Exercise, one: Observation, two: Observation, with_gradients: bool) -> bool:
    """Whether two observations are of the same behaviour."""
    if one.status != two.status:
        return False
    if one.status == "raised":
        return (one.error.type, one.error.message) == (two.error.type, two.error.message)
    if one.module != two.module or not same(exercise, one.value, two.value):
        return False
    if with_gradients:
        for name, left in one.gradients.items():
            right = two.gradients.get(name)
            if (left is None) != (right is None) or left is not None and not close(left, right, 10 * exercise.rtol, 10 * exercise.atol):
                return False
    return True


def name_the_mistake(exercise: Exercise, cases: list[Case], seen: list[Observation], finding: Finding) -> None:
    """Find the twin that behaves like the answer everywhere, or else on the whole part in which the finding lies.

    An answer may hold two mistakes, one in each part; then only its part tells a twin.
    """
    if finding.mistake not in (None, "gradient cut") or finding.case.rejects is not None:
        return
    with_gradients = finding.stage == "gradients"
    usable = [i for i in range(len(seen)) if cases[i].rejects is None]
    part = [i for i in usable if cases[i].part == finding.case.part]
    part.sort(key=lambda i: i != finding.index)  # where they differ first: most twins are dismissed by one run
    rest = [i for i in usable if i not in part]

    def alike(twin: Twin, indices: list[int]) -> bool:
        return all(_agree(exercise, seen[i], observe(exercise.kind, twin.answer, cases[i].args, cases[i].gradients), with_gradients)
                   for i in indices)

    candidates = [twin for twin in exercise.twins if alike(twin, part)]
    twin = next((t for t in candidates if alike(t, rest)), candidates[0] if candidates else None)
    if twin is None:
        return
    finding.mistake, finding.hint = twin.name, twin.hint
    if twin.untouched:
        finding.stage = "not attempted"
        finding.message = "This behaves exactly like the code that was handed out, bug included."
