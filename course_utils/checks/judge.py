"""Compare observations with the oracle and with the twins; say what is wrong, and why it probably is.

The judge never runs a learner's code: it reads what :func:`.observe.observe` wrote down.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from . import sentences
from .detective import close, clues
from .exercise import Case, Exercise
from .observe import cotangent, first_tensor, observe

STAGES = ("not attempted", "raised", "type", "shape", "finite", "values", "gradients", "forbidden shortcut")


@dataclass
class Finding:
    """One thing that is wrong with one case."""

    stage: str
    message: str
    case: Case
    index: int
    mistake: str | None = None
    hint: str | None = None
    got: Any = None
    expected: Any = None
    clues: list[str] = field(default_factory=list)


@dataclass
class Verdict:
    """What the judge says of one answer."""

    earned: dict[str, float]
    finding: Finding | None
    remarks: list[str]

    @property
    def points(self) -> float:
        """Points over all parts."""
        return sum(self.earned.values())


def expected_of(exercise: Exercise, case: Case) -> tuple[Any, dict[str, torch.Tensor | None]]:
    """The oracle's value for a case and its gradients by ``case.gradients``."""
    args = {key: value for key, value in case.args.items()}
    if not case.gradients:
        return exercise.oracle(**args), {}
    if exercise.kind == "module":
        args["parameters"] = {k: v.clone().requires_grad_(k in case.gradients) for k, v in args["parameters"].items()}
        args["inputs"] = {k: _leaf(v, k in case.gradients) for k, v in args["inputs"].items()}
        leaves = {**args["inputs"], **args["parameters"]}
    else:
        args = {k: _leaf(v, k in case.gradients) for k, v in args.items()}
        leaves = args
    value = exercise.oracle(**args)
    output = first_tensor(value)
    tensors = [leaves[name] for name in case.gradients]
    grads = torch.autograd.grad(output, tensors, cotangent(output.shape).to(output.dtype), allow_unused=True)
    return _detach(value), dict(zip(case.gradients, grads, strict=True))


def _leaf(value: Any, wanted: bool) -> Any:
    return value.clone().requires_grad_(True) if wanted and isinstance(value, torch.Tensor) else value


def _detach(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, (tuple, list)):
        return [_detach(item) for item in value]
    return value


def judge(exercise: Exercise, cases: list[Case], seen: list[dict[str, Any]]) -> Verdict:
    """Judge the observations ``seen`` of one answer on ``cases`` (``seen`` may stop early)."""
    findings: list[Finding] = []
    failed: set[str] = set()
    wanted: dict[int, Any] = {}
    for index, case in enumerate(cases):
        if index >= len(seen):
            failed.add(case.part)
            continue
        finding = _examine(exercise, case, index, seen[index], wanted)
        if finding is not None:
            findings.append(finding)
            failed.add(case.part)
    earned = {part: 0.0 if part in failed else points for part, points in exercise.parts.items()}
    findings.sort(key=lambda f: (STAGES.index(f.stage), f.case.rejects is not None, f.index))
    first = findings[0] if findings else None
    if first is not None and first.stage != "not attempted":
        _name_the_mistake(exercise, cases, seen, first, failed)
        if first.stage == "not attempted":  # an untouched find-the-bug stub
            earned = dict.fromkeys(earned, 0.0)
    remarks = sentences.remarks(seen[0]) if seen else []
    return Verdict(earned, first, remarks)


def _examine(exercise: Exercise, case: Case, index: int, seen: dict, wanted: dict[int, Any]) -> Finding | None:
    def found(stage: str, message: str, **more: Any) -> Finding:
        return Finding(stage, message, case, index, **more)

    status, error = seen["status"], seen["error"] or {}
    if status == "blank" or (exercise.kind == "value" and sentences.is_blank(seen["value"])):
        return found("not attempted", "Not attempted yet: replace the blank above with your answer, run that cell, "
                                      "then run this one again.")
    if status == "forbidden":
        return found("forbidden shortcut", sentences.forbidden(error["message"], exercise), mistake="forbidden shortcut")
    if case.rejects is not None:
        return _examine_rejection(case, seen, found)
    if status == "raised":
        message, mistake = sentences.raised(error)
        return found("raised", message, mistake=mistake)
    if isinstance(seen["value"], dict) and "module" in seen["value"]:
        return found("type", *sentences.module_problem(seen["value"]["module"], exercise))
    expected, gradients = expected_of(exercise, case)
    wanted[index] = expected
    got = seen["value"]
    problem = sentences.type_problem(seen, expected, exercise, lambda a, b: _same(exercise, a, b))
    if problem:
        return found("type", problem[0], mistake=problem[1], got=got, expected=expected)
    pairs = list(zip(_flat(got), _flat(expected), strict=True))
    for got_item, want in pairs:
        if isinstance(want, torch.Tensor) and got_item.shape != want.shape:
            shape = f"{case.shape} = " if case.shape else ""
            return found("shape", f"Your result has shape {tuple(got_item.shape)}; expected {shape}{tuple(want.shape)}.",
                         got=got_item, expected=want, clues=clues(got_item, want, exercise.rtol, exercise.atol))
    for got_item, want in pairs:
        if isinstance(want, torch.Tensor) and torch.isfinite(want).all() and not torch.isfinite(got_item).all():
            bad = "NaN (not a number)" if torch.isnan(got_item).any() else "infinity"
            return found("finite", f"Your result contains {bad}; every expected number is finite.", got=got_item,
                         expected=want)
    if not _same(exercise, got, expected):
        wrong = next(((g, w) for g, w in pairs if not _same_item(exercise, g, w)), (got, expected))
        tips = clues(*wrong, exercise.rtol, exercise.atol) if isinstance(wrong[1], torch.Tensor) else []
        message = _wrong_entries(exercise, got, expected) if exercise.kind == "value" else "These are not the expected numbers."
        return found("values", message, got=wrong[0], expected=wrong[1], clues=tips)
    if seen["changed"]:
        return found("values", f"The result is right, but your code changed its input `{seen['changed'][0]}` in place. Whoever "
                               "called it goes on with damaged data.", mistake="input changed in place",
                     hint="Make a new tensor instead: operations that end in an underscore, `+=` and assignments into "
                          "a slice write into the caller's tensor.")
    return _examine_gradients(exercise, seen, gradients, found)


def _examine_rejection(case: Case, seen: dict, found) -> Finding | None:
    error = seen["error"] or {}
    name = case.rejects.__name__
    if seen["status"] == "ok":
        return found("values", f"This input must be refused with a {name}, but your answer returned a result.",
                     mistake="accepts bad input", got=seen["value"],
                     hint="Look at the arguments before computing anything, and say in the message what is wrong with them.")
    if name not in error.get("classes", []):
        return found("values", f"This input must be refused with a {name}; your answer stopped with "
                               f"{error['type']}: {error['message']}", mistake="accepts bad input",
                     hint="It fails somewhere inside, by accident. Test for the bad input first.")
    missing = [text for text in case.mentions if text not in error["message"]]
    if missing:
        return found("values", f"It raises {name}, as it should, but the message does not say {missing[0]!r}: "
                               f"“{error['message']}”.", mistake="error without the numbers",
                     hint="A message that names the offending numbers saves its reader a debugging session.")
    return None


def _examine_gradients(exercise: Exercise, seen: dict, gradients: dict, found) -> Finding | None:
    for name, want in gradients.items():
        got = seen["gradients"].get(name)
        if want is None:
            continue
        if got is None:
            return found("gradients", f"The numbers are right, but no gradient reaches `{name}`.", mistake="gradient cut",
                         hint="Something on the way leaves PyTorch: a `.detach()`, `.item()`, `.data`, a detour through NumPy, "
                              "or a new tensor built from numbers.")
        if not torch.isfinite(got).all():
            return found("gradients", f"The numbers are right, but the gradient of `{name}` contains NaN or infinity.",
                         got=got, expected=want)
        if not close(got, want, 10 * exercise.rtol, 10 * exercise.atol):
            return found("gradients", f"The numbers are right, but the gradient of `{name}` is not.", got=got,
                         expected=want, clues=clues(got, want, exercise.rtol, exercise.atol))
    return None


def _flat(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _flat(item)]
    return [value]


def _same_item(exercise: Exercise, got: Any, want: Any) -> bool:
    if isinstance(want, torch.Tensor):
        if not isinstance(got, torch.Tensor) or got.shape != want.shape:
            return False
        if exercise.raw is not None:
            got, want = exercise.raw(got), exercise.raw(want)
        return close(got, want, exercise.rtol, exercise.atol)
    if isinstance(want, bool) or isinstance(want, (str, bytes)) or want is None:
        return type(got) is type(want) and _plain(got) == _plain(want)
    if isinstance(want, (int, float)):
        if isinstance(got, torch.Tensor):
            got = got.item() if got.numel() == 1 else None
        return isinstance(got, (int, float)) and not isinstance(got, bool) and bool(
            abs(got - want) <= exercise.atol + exercise.rtol * abs(want))
    return got == want


def _plain(value: Any) -> Any:
    return " ".join(value.lower().split()) if isinstance(value, str) else value


def _same(exercise: Exercise, got: Any, want: Any) -> bool:
    if isinstance(want, dict):
        return isinstance(got, dict) and set(got) == set(want) and all(_same(exercise, got[k], want[k]) for k in want)
    if isinstance(want, (list, tuple)):
        return isinstance(got, (list, tuple)) and len(got) == len(want) and all(
            _same(exercise, g, w) for g, w in zip(got, want, strict=True))
    return _same_item(exercise, got, want)


def _wrong_entries(exercise: Exercise, got: Any, expected: Any) -> str:
    """Which entries of a value exercise are wrong, without telling the right ones."""
    if not isinstance(expected, dict):
        return f"The measurement does not say {got!r}."
    wrong = [key for key in expected if not _same(exercise, got[key], expected[key])]
    listed = "; ".join(f"“{key}”: you wrote {got[key]!r}" for key in wrong)
    return f"{len(expected) - len(wrong)} of {len(expected)} entries agree with the measurement. Not these: {listed}."


def _agree(exercise: Exercise, one: dict, two: dict, with_gradients: bool) -> bool:
    """Whether two observations are of the same behaviour."""
    if one["status"] != two["status"]:
        return False
    if one["status"] == "raised":
        return (one["error"]["type"], one["error"]["message"]) == (two["error"]["type"], two["error"]["message"])
    if not _same(exercise, one["value"], two["value"]):
        return False
    if with_gradients:
        for name, left in one["gradients"].items():
            right = two["gradients"].get(name)
            if (left is None) != (right is None):
                return False
            if left is not None and not close(left, right, 10 * exercise.rtol, 10 * exercise.atol):
                return False
    return True


def _name_the_mistake(exercise: Exercise, cases: list[Case], seen: list[dict], finding: Finding, failed: set[str]) -> None:
    """Find the twin that behaves like the answer on the whole part in which the finding lies."""
    if finding.mistake not in (None, "gradient cut") or finding.case.rejects is not None:
        return
    with_gradients = finding.stage == "gradients"
    part = [i for i in range(len(seen)) if cases[i].part == finding.case.part and cases[i].rejects is None]
    part.sort(key=lambda i: i != finding.index)  # where they differ first: most twins are dismissed by one run
    for twin in exercise.twins:
        if all(_agree(exercise, seen[i], observe(exercise.kind, twin.answer, cases[i]), with_gradients) for i in part):
            finding.mistake, finding.hint = twin.name, twin.hint
            if twin.untouched:
                finding.stage = "not attempted"
                finding.message = "This is still the code as it was handed out, bug included: the check sees it."
            return
