"""Which misconception explains the wrong entries of a prediction, or what a wrong number has to do with the right one."""

from typing import Any

from .compare import same
from .exercise import Exercise
from .misconceptions import Misconception
from .sentences import quoted
from .trial import Finding


def name_the_entries(exercise: Exercise, finding: Finding) -> None:
    """Reasons for the wrong entries of a prediction: the misconception that is wrong in the same way, entry by entry, or a plain ratio."""
    got, expected = finding.got, finding.expected
    if not isinstance(expected, dict) or not isinstance(got, dict):
        return
    for whole in exercise.misconceptions:
        if all(_meant(exercise, got[key], whole.answer[key]) for key in expected):
            finding.mistake, finding.hint = whole.name, whole.hint
            return
    wrong = [key for key in expected if not same(exercise, got[key], expected[key])]
    reasons: dict[str, list[str]] = {}

    def explains(t: Misconception) -> tuple[int, int]:
        """How much of what is wrong, and how little beside it."""
        claims = sum(not same(exercise, t.answer[k], expected[k]) for k in expected)
        return sum(_meant(exercise, got[k], t.answer[k]) for k in wrong), -claims

    for key in wrong:
        fitting = [
            t
            for t in exercise.misconceptions
            if not same(exercise, t.answer[key], expected[key])  # wrong in the same way, and nowhere else in another
            and all(_meant(exercise, got[k], t.answer[k]) for k in expected if not same(exercise, t.answer[k], expected[k]))
        ]
        best = max(fitting, key=explains, default=None)
        tip = f" the mistake is: {best.name}. {best.hint}" if best else _ratio(exercise, key, got[key], expected)
        if tip:
            reasons.setdefault(tip if best else f": {tip}", []).append(key)
    finding.clues = ["\n".join(f"In {', '.join(map(quoted, keys))}{reason}" for reason, keys in reasons.items())] if reasons else []


def _ratio(exercise: Exercise, key: str, got: Any, expected: dict[str, Any]) -> str:
    """What a wrong number has to do with the right ones; empty when nothing is seen."""
    want = expected[key]
    if isinstance(want, list) and isinstance(got, list):
        if len(got) != len(want):
            return f"This has {len(want)} axes; you wrote {len(got)}."
        if sorted(map(str, got)) == sorted(map(str, want)):
            return "These are the right numbers in another order."
        return f"Look again at axis {', '.join(str(i) for i, item in enumerate(want) if got[i] != item)}, counted from 0."
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
