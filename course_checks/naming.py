"""Which misconception explains a wrong answer: the misconception that behaves like it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from .again import changes
from .case import Case
from .compare import close, same
from .disturb import alike, answer_to, explained_by_an_input
from .exercise import Exercise
from .expected import expected_of
from .misconceptions import Misconception
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
    if one.module != two.module or not same(exercise, one.value, two.value):  # the value of a misfit: by its own parameters
        return False
    if with_gradients:
        for name, left in one.gradients.items():
            right = two.gradients.get(name)
            if (left is None) != (right is None) or left is not None and not close(left, right, 10 * exercise.rtol, 10 * exercise.atol):
                return False
    return True


def _kinds(value: Any) -> Any:
    """Of what a result is made: a misconception explains a wrong type only where its own type is as wrong."""
    if isinstance(value, list):
        return [_kinds(item) for item in value]
    return (value.is_floating_point(), value.dtype is torch.bool) if isinstance(value, torch.Tensor) else type(value)


RANDOM = "left to chance"
RANDOM_WHY = (
    "The result depends on a random draw, such as a dropout that nobody asked for, a random push, or fresh random weights in every call."
)


def name_the_mistake(
    exercise: Exercise,
    cases: list[Case],
    seen: list[Observation],
    finding: Finding,
    misconceptions_seen: dict[tuple[int, int], Observation],
) -> None:
    """Find the misconception that behaves like the answer everywhere, or else on the whole part in which the finding lies.

    ``misconceptions_seen`` keeps what misconceptions did on these cases: an answer that is called again is judged again.

    An answer may hold two mistakes, one in each part; then only its part tells a misconception. The untouched code of a find-the-bug exercise is
    named only where the answer behaves like it everywhere: half of a repair is not nothing.
    """
    if finding.mistake not in (None, "gradient cut", "wrong type", "results swapped") or finding.case.rejects is not None or finding.later:
        return
    if exercise.kind == "value":
        return _name_the_entries(exercise, finding)
    with_gradients = finding.stage == "gradients"
    usable = [i for i in range(len(seen)) if cases[i].rejects is None]
    part = [i for i in usable if cases[i].part == finding.case.part]
    part.sort(key=lambda i: i != finding.index)  # where they differ first: most misconceptions are dismissed by one run
    rest = [i for i in usable if i not in part]

    def alike(misconception: Misconception, indices: list[int]) -> bool:
        with torch.random.fork_rng(devices=[]):
            for i in indices:
                if (id(misconception), i) not in misconceptions_seen:
                    misconceptions_seen[id(misconception), i] = observe(
                        exercise.kind, misconception.answer, cases[i].args, cases[i].gradients
                    )
                other = misconceptions_seen[id(misconception), i]
                if not _agree(exercise, seen[i], other, with_gradients):
                    return False
                if finding.mistake == "wrong type" and _kinds(seen[i].value) != _kinds(other.value):
                    return False
            return True

    candidates = [misconception for misconception in exercise.misconceptions if alike(misconception, part)]
    untouched = [
        misconception
        for misconception in candidates
        if misconception.untouched and alike(misconception, [i for i in range(len(seen)) if i not in part])
    ]
    candidates = untouched or [misconception for misconception in candidates if not misconception.untouched]
    misconception = next((t for t in candidates if alike(t, rest)), candidates[0] if candidates else None)
    if misconception is None:
        again, value = seen[finding.index].again, seen[finding.index].value
        if finding.mistake is not None:
            return
        if again is not None and again.random:
            finding.mistake, finding.hint = RANDOM, RANDOM_WHY
        elif finding.stage in ("values", "finite", "shape"):
            expected, _ = expected_of(exercise, finding.case)
            reason = _without_effect(exercise, cases, seen) or explained_by_an_input(exercise, cases, finding.case, value, expected)
            finding.guessed = reason is not None
            finding.mistake, finding.hint = reason or (None, finding.hint)
        return
    finding.mistake, finding.hint = misconception.name, misconception.hint
    if misconception.untouched:
        finding.stage = "not attempted"
        finding.message = "This behaves exactly like the code that was handed out, bug included."


def _without_effect(exercise: Exercise, cases: list[Case], seen: list[Observation]) -> tuple[str, str] | None:
    """An input that can be changed without any effect, though the right result changes with it."""
    for index, name in ((i, name) for i, observation in enumerate(seen) for name in observation.ignored):
        ways = [args for other, args in changes(exercise.kind, [(case.args, ()) for case in cases], index) if other == name]
        changed = [value for args in ways if (value := answer_to(exercise, args)) is not None]
        if any(not alike(exercise, value, expected_of(exercise, cases[index])[0]) for value in changed):
            return (
                f"`{name}` has no effect",
                f"Your result stays the same when `{name}` is changed, and it should not. Is it used? "
                "Or is a fixed number written in its place?",
            )
    return None


def _name_the_entries(exercise: Exercise, finding: Finding) -> None:
    """Reasons for the wrong entries of a prediction: the misconception that is wrong in the same way, entry by entry, or a plain ratio."""
    got, expected = finding.got, finding.expected
    if not isinstance(expected, dict) or not isinstance(got, dict):
        return
    whole = next(
        (
            misconception
            for misconception in exercise.misconceptions
            if all(_meant(exercise, got[key], misconception.answer[key]) for key in expected)
        ),
        None,
    )
    if whole is not None:
        finding.mistake, finding.hint = whole.name, whole.hint
        return
    wrong = [key for key in expected if not same(exercise, got[key], expected[key])]
    reasons: dict[str, list[str]] = {}
    for key in wrong:
        fitting = [
            t
            for t in exercise.misconceptions
            if not same(exercise, t.answer[key], expected[key])  # wrong in the same way, and nowhere else in another
            and all(_meant(exercise, got[k], t.answer[k]) for k in expected if not same(exercise, t.answer[k], expected[k]))
        ]
        # the misconception that explains most of what is wrong, and claims least beside it
        best = max(
            fitting,
            default=None,
            key=lambda t: (
                sum(_meant(exercise, got[k], t.answer[k]) for k in wrong),
                -sum(not same(exercise, t.answer[k], expected[k]) for k in expected),
            ),
        )
        reason = f"the mistake is “{best.name}”. {best.hint}" if best else _ratio(exercise, key, got[key], expected)
        if reason:
            reasons.setdefault(reason, []).append(key)
    finding.clues = ["\n".join(f"{', '.join(f'“{key}”' for key in keys)}: {reason}" for reason, keys in reasons.items())] if reasons else []


def _ratio(exercise: Exercise, key: str, got: Any, expected: dict[str, Any]) -> str:
    """What a wrong number has to do with the right ones; empty when nothing is seen."""
    want = expected[key]
    if isinstance(want, list) and isinstance(got, list):
        if len(got) != len(want):
            return f"There are {len(want)} axes; you have {len(got)}."
        return (
            "These are the right numbers in another order."
            if sorted(map(str, got)) == sorted(map(str, want))
            else (f"Look again at axis {', '.join(str(i) for i, item in enumerate(want) if got[i] != item)}, counted from 0.")
        )
    if not _number(want) or not _number(got):
        return ""
    others = [other for other, value in expected.items() if _meant(exercise, got, value) and not same(exercise, value, want)]
    if others and not (got == int(got) and abs(got) < 10):
        return f"That is the answer to “{others[0]}”."
    if not want or not got:
        return ""
    if abs(got + want) <= 1e-3 * abs(want):
        return "The sign is wrong."
    ratio = got / want
    for power in (2, 3, 6, 9):
        if any(abs(ratio * factor - 1) < 0.02 for factor in (10.0**power, 10.0**-power)):
            return "The digits are right, the unit is not: is the number asked for in thousands, in millions, as a share, in percent?"
    if want != 1 and abs(got * want - 1) < 0.01:
        return "That is the number turned over: one divided by it."
    return ""


def _meant(exercise: Exercise, got: Any, misconception: Any) -> bool:
    """Whether an entry is a misconception's; nearer than what would be taken for right, since 2.5 is not meant as 2.77."""
    return same(exercise, got, misconception) and (
        not _number(got) or not _number(misconception) or abs(got - misconception) <= 0.05 * abs(misconception)
    )


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
