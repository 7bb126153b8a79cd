"""Compare observations with the oracle and with the misconceptions: what is wrong, and why. Nothing here runs a learner's code."""

from dataclasses import dataclass

import torch

from . import sentences
from .case import Case
from .clues import clues
from .exercise import Exercise
from .known import Known
from .naming import name_the_mistake
from .observation import Observation
from .trial import Finding, Trial


@dataclass
class Verdict:
    """What the judge says of one answer."""

    earned: dict[str, float]
    finding: Finding | None
    remarks: list[str]
    refuses: bool = True  # all that must be refused

    @property
    def points(self) -> float:
        """Points over all parts."""
        return sum(self.earned.values())

    @property
    def unexplained(self) -> bool:
        """Whether nothing is wrong, or nobody knows why: later calls may tell."""
        found = self.finding
        return (
            found is None
            or found.mistake in ("input changed in place", "result changed in place")
            or (found.stage in ("raised", "type", "values", "finite", "shape", "gradients") and (found.guessed or not found.mistake))
        )


def judge(exercise: Exercise, cases: list[Case], seen: list[Observation], known: Known | None = None, named: bool = True) -> Verdict:
    """Judge the observations ``seen`` of one answer on ``cases`` (``seen`` may stop early); ``named``: with the reason."""
    known = known or Known()
    seen = [exercise.judged(one, case) for one, case in zip(seen, cases, strict=False)]
    findings: list[Finding] = []
    failed: set[str] = {case.part for case in cases[len(seen) :]}
    something_right = False
    for index, (case, observation) in enumerate(zip(cases, seen, strict=False)):
        finding = Trial(exercise, case, index, observation, known).finding()
        if finding is not None:
            findings.append(finding)
            failed.add(case.part)
        something_right |= finding is None and case.rejects is None
    if not something_right:  # refusing everything is no work: rejections count beside something that is right
        failed |= {case.part for case in cases if case.rejects is not None}
    earned = {part: 0.0 if part in failed else points for part, points in exercise.parts.items()}
    findings.sort(key=_plainness)
    first = findings[0] if findings else None
    if named and first is not None and first.stage != "not attempted":
        name_the_mistake(exercise, cases, seen, first, known)
        first.clues = sorted([*_clues(exercise, first), *first.clues], key=lambda tip: "entries differ" in tip)
    if first is not None and first.stage == "not attempted":  # a blank, or an untouched find-the-bug stub
        earned = dict.fromkeys(earned, 0.0)
    elif not exercise.runs and first is not None and first.right:
        earned = {part: round(points * first.right, 2) for part, points in exercise.parts.items()}
    remarks = [] if first else sentences.remarks(seen[0], exercise, cases[0])
    return Verdict(earned, first, remarks, not any(finding.case.rejects for finding in findings))


def _clues(exercise: Exercise, finding: Finding) -> list[str]:
    """What the numbers tell: of the first wrong output before the others, unless another tells more than a place."""
    tips: list[str] = []
    for name, got, want in finding.wrong:
        found = clues(got, want, exercise.rtol, exercise.atol) if isinstance(want, torch.Tensor) else []
        tips += [tip if name == finding.wrong[0][0] else f"In your {name}: {tip[0].lower()}{tip[1:]}" for tip in found]
    return tips


def _plainness(finding: Finding) -> tuple:
    """The plainest case speaks first: one that computes something, in the order of the cases; a missing gradient after wrong numbers."""
    return (
        finding.stage not in ("not attempted", "forbidden shortcut"),
        finding.case.rejects is not None,
        finding.stage == "gradients",
        finding.later,
        finding.index,
    )
