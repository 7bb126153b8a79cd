"""Which misconception explains a wrong answer: the misconception that behaves like it."""

from typing import Any

import torch

from .again import changes
from .case import Case
from .compare import close, same
from .exercise import Exercise, FunctionExercise
from .known import Known
from .misconceptions import Misconception
from .observation import Observation
from .observe import prepare
from .predictions import name_the_entries
from .trial import RANDOM, RANDOM_WHY, Finding


def _behaves_like(exercise: Exercise, one: Observation, two: Observation, finding: Finding) -> bool:
    """Whether two observations are of the same behaviour, as far as it matters for what was found."""
    if one.status != two.status:
        return False
    if one.error is not None and two.error is not None and one.status == "raised":
        return (one.error.type, one.error.message) == (two.error.type, two.error.message)
    if one.module != two.module or not same(exercise, one.value, two.value):  # the value of a misfit: by its own parameters
        return False
    if finding.mistake == "wrong type" and _kinds(one.value) != _kinds(two.value):
        return False
    return finding.stage != "gradients" or all(
        _same_gradient(exercise, left, two.gradients.get(name)) for name, left in one.gradients.items()
    )


def _same_gradient(exercise: Exercise, left: torch.Tensor | None, right: torch.Tensor | None) -> bool:
    if left is None or right is None:
        return left is right
    return close(left, right, 10 * exercise.rtol, 10 * exercise.atol)


def _kinds(value: Any) -> Any:
    """Of what a result is made: a misconception explains a wrong type only where its own type is as wrong."""
    if isinstance(value, list):
        return [_kinds(item) for item in value]
    return (value.is_floating_point(), value.dtype is torch.bool) if isinstance(value, torch.Tensor) else type(value)


def name_the_mistake(exercise: Exercise, cases: list[Case], seen: list[Observation], finding: Finding, known: Known) -> None:
    """Find the misconception that behaves like the answer everywhere, or else on the whole part in which the finding lies.

    An answer may hold two mistakes, one in each part; then only its part tells a misconception. The untouched code of a find-the-bug
    exercise is named only where the answer behaves like it everywhere: half of a repair is not nothing.
    """
    if finding.mistake not in (None, "gradient cut", "wrong type", "results swapped") or finding.case.rejects is not None or finding.later:
        return
    if not exercise.runs:
        return name_the_entries(exercise, finding)
    misconception = _explanation(exercise, cases, seen, finding, known)
    if misconception is not None:
        finding.mistake, finding.hint = misconception.name, misconception.hint
        if misconception.untouched:
            finding.stage = "not attempted"
            finding.message = "This behaves exactly like the code that was handed out."
    elif finding.mistake is None:
        again = seen[finding.index].again
        if again is not None and again.random:
            finding.mistake, finding.hint = RANDOM, RANDOM_WHY
        elif (one := _here_alone(exercise, cases, seen, finding, known)) is not None:
            finding.guessed, finding.mistake = True, one.name
            finding.hint = f"This explains this test. In another one your result differs, so look for a second thing after that. {one.hint}"
        elif finding.stage in ("values", "shape") and (name := _without_effect(exercise, cases, seen, known)):
            text = f"our result stays the same when `{name}` is changed, and it should not."
            if _decides(exercise, cases, finding, name, known):
                finding.guessed, finding.mistake = True, f"`{name}` has no effect"
                finding.hint = f"Y{text} Is it used? Or is a fixed number written in its place?"
            else:
                finding.clues = [f"Besides, y{text}"]


def _explanation(exercise: Exercise, cases: list[Case], seen: list[Observation], finding: Finding, known: Known) -> Misconception | None:
    """The misconception that agrees with the answer on the finding's part and, where one does, on all other cases too."""
    usable = [i for i in range(len(seen)) if cases[i].rejects is None]
    part = [i for i in usable if cases[i].part == finding.case.part]
    part.sort(key=lambda i: i != finding.index)  # where they differ first: most misconceptions are dismissed by one run

    def alike(misconception: Misconception, indices: list[int]) -> bool:
        with torch.random.fork_rng(devices=[]):
            others = ((seen[i], known.observed(exercise, misconception, cases[i])) for i in indices)
            return all(_behaves_like(exercise, one, other, finding) for one, other in others)

    candidates = [one for one in exercise.misconceptions if alike(one, part)]
    everywhere = [i for i in range(len(seen)) if i not in part]
    if untouched := next((one for one in candidates if one.untouched and alike(one, everywhere)), None):
        return untouched
    candidates = [one for one in candidates if not one.untouched]
    rest = [i for i in usable if i not in part]
    return max(candidates, key=lambda one: sum(alike(one, [i]) for i in rest), default=None)


def _here_alone(exercise: Exercise, cases: list[Case], seen: list[Observation], finding: Finding, known: Known) -> Misconception | None:
    """The one misconception that agrees in the finding's case, where many numbers do; None where two agree there, or only few numbers
    are wrong: that can be chance."""
    wrong = [(got, want) for _, got, want in finding.wrong if isinstance(want, torch.Tensor) and want.is_floating_point()]
    if finding.stage != "values" or sum(int((~torch.isclose(got.double(), want.double(), 1e-3, 1e-3)).sum()) for got, want in wrong) < 4:
        return None
    with torch.random.fork_rng(devices=[]):
        others = [(one, known.observed(exercise, one, cases[finding.index])) for one in exercise.misconceptions if not one.untouched]
    found = [one for one, other in others if _behaves_like(exercise, seen[finding.index], other, finding)]
    return found[0] if len(found) == 1 else None


def _decides(exercise: Exercise, cases: list[Case], finding: Finding, name: str, known: Known) -> bool:
    """Whether every other value of this input changes the right result in the finding's case: else it is not what is wrong there."""
    expected = known.expected(exercise, finding.case)[0]
    asked = changes(exercise.kind, [(case.args, ()) for case in cases], finding.index)
    return not any(other == name and _still_right(exercise, args, expected) for other, args in asked)


def _without_effect(exercise: Exercise, cases: list[Case], seen: list[Observation], known: Known) -> str:
    """An input that can be changed without any effect, though the right result changes with it; empty when there is none."""
    for index, name in ((i, name) for i, observation in enumerate(seen) for name in observation.ignored):
        expected = known.expected(exercise, cases[index])[0]
        for other, args in changes(exercise.kind, [(case.args, ()) for case in cases], index):
            if other == name and not _still_right(exercise, args, expected):
                return name
    return ""


def _still_right(exercise: Exercise, args: dict[str, Any], expected: Any) -> bool:
    """Whether the right result for changed arguments is what it was; also where they are no input any more."""
    try:
        with torch.random.fork_rng(devices=[]):
            if isinstance(exercise, FunctionExercise):  # it refuses what is no input: an oracle might never come back
                exercise.reference(**{name: prepare(argument) for name, argument in args.items()})
            value = exercise.oracle(**args)
    except Exception:
        return True
    return same(exercise, *(list(item) if isinstance(item, tuple) else item for item in (value, expected)))
