"""Compare observations with the oracle and with the twins; say what is wrong, and why it probably is.

The judge never runs a learner's code: it reads what :func:`.observe.observe` wrote down.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from . import sentences
from .detective import close, clues
from .exercise import Case, Exercise, Twin
from .observe import backward, observe

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
    grads = backward(value, [leaves[name] for name in case.gradients])
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
    failed: set[str] = {case.part for case in cases[len(seen):]}
    something_right = False
    for index, (case, observation) in enumerate(zip(cases, seen, strict=False)):
        finding = _examine(exercise, case, index, observation)
        if finding is not None:
            findings.append(finding)
            failed.add(case.part)
        something_right |= finding is None and case.rejects is None
    if not something_right:  # refusing everything is no work: rejections count beside something that is right
        failed |= {case.part for case in cases if case.rejects is not None}
    earned = {part: 0.0 if part in failed else points for part, points in exercise.parts.items()}
    findings.sort(key=lambda f: (f.case.rejects is not None, STAGES.index(f.stage), f.index))
    first = findings[0] if findings else None
    if first is not None and first.stage != "not attempted":
        _name_the_mistake(exercise, cases, seen, first)
    if first is not None and first.stage == "not attempted":  # a blank, or an untouched find-the-bug stub
        earned = dict.fromkeys(earned, 0.0)
    remarks = sentences.remarks(seen[0], exercise) if seen else []
    return Verdict(earned, first, remarks)


def _examine(exercise: Exercise, case: Case, index: int, seen: dict) -> Finding | None:
    def found(stage: str, message: str, mistake: str | None = None, **more: Any) -> Finding:
        return Finding(stage, message, case, index, mistake, **more)

    status, error = seen["status"], seen["error"] or {}
    if status == "blank":
        if index:
            return found("raised", "A branch of your code still ends in `raise NotImplementedError`: this input reaches it.")
        return found("not attempted", "Not attempted yet: replace the blank above with your answer, run that cell, then run this one "
                                      "again.")
    if status == "forbidden":
        return found("forbidden shortcut", sentences.forbidden(error["message"], exercise), "forbidden shortcut")
    if case.rejects is not None:
        return _examine_rejection(case, seen, found)
    if status == "raised":
        return found("raised", *sentences.raised(error, exercise))
    if seen["module"] is not None:
        return found("type", sentences.module_problem(seen["module"], exercise))
    expected, gradients = expected_of(exercise, case)
    got = seen["value"]
    if exercise.kind == "value":
        return _examine_value(exercise, got, seen["type"], expected, found)
    problem = sentences.type_problem(seen, expected, exercise, lambda a, b: _same(exercise, a, b))
    if problem:
        return found("type", *problem, got=got, expected=expected)
    return (_examine_numbers(exercise, case, got, expected, found) or _examine_inputs(seen, found)
            or _examine_gradients(exercise, seen, gradients, found))


def _examine_value(exercise: Exercise, got: Any, kind: str, expected: Any, found) -> Finding | None:
    problem = sentences.value_problem(got, kind, expected, exercise)
    if problem:
        return found(*problem)
    if _same(exercise, got, expected):
        return None
    return found("values", _wrong_entries(exercise, got, expected), got=got, expected=expected)


def _examine_numbers(exercise: Exercise, case: Case, got: Any, expected: Any, found) -> Finding | None:
    if isinstance(expected, list) and all(isinstance(item, str) for item in expected):
        return None if _same(exercise, got, expected) else found(
            "values", f"Your result is {sentences.brief(got)}; expected {sentences.brief(expected)}.", got=got, expected=expected)
    if len(flat := list(_flat(got))) != len(wanted := list(_flat(expected))):  # lists of another length inside a tuple
        return found("shape", f"Your result holds {len(flat)} entries in all; expected {len(wanted)}.", got=got, expected=expected)
    pairs = list(zip(flat, wanted, strict=True))
    names = exercise.outputs if len(exercise.outputs) == len(pairs) else ("result",) * len(pairs)
    for name, (got_item, want) in zip(names, pairs, strict=True):
        if isinstance(want, torch.Tensor) and got_item.shape != want.shape:
            shape = f"{case.shape} = " if case.shape and name == names[0] else ""
            return found("shape", f"Your {name} has shape {tuple(got_item.shape)}; expected {shape}{tuple(want.shape)}.",
                         got=got_item, expected=want, clues=clues(got_item, want, exercise.rtol, exercise.atol))
    for name, (got_item, want) in zip(names, pairs, strict=True):
        if isinstance(want, torch.Tensor) and torch.isfinite(want).all() and not torch.isfinite(got_item).all():
            bad = "NaN (not a number)" if torch.isnan(got_item).any() else "infinity"
            return found("finite", f"Your {name} contains {bad}; every expected number is finite.", got=got_item, expected=want)
    for name, (got_item, want) in zip(names, pairs, strict=True):
        if not _same_item(exercise, got_item, want):
            note = ""
            if exercise.raw is not None:
                got_item, want, note = exercise.raw(got_item), exercise.raw(want), f" ({exercise.compared})"
            tips = clues(got_item, want, exercise.rtol, exercise.atol) if isinstance(want, torch.Tensor) else []
            return found("values", sentences.wrong_numbers(name, got_item, want) + f"{note}.", got=got_item, expected=want, clues=tips)
    return None


def _examine_inputs(seen: dict, found) -> Finding | None:
    if not seen["changed"]:
        return None
    return found("values", f"The result is right, but your code changed its input `{seen['changed'][0]}` in place. Whoever called it "
                           "goes on with damaged data.", "input changed in place",
                 hint="Make a new tensor instead: operations that end in an underscore, `+=` and assignments into a slice write into "
                      "the caller's tensor.")


def _examine_rejection(case: Case, seen: dict, found) -> Finding | None:
    error = seen["error"] or {}
    name = case.rejects.__name__
    if seen["status"] == "ok":
        return found("values", f"This input must be refused with a {name}, but your answer returned a result.",
                     mistake="accepts bad input", got=seen["value"],
                     hint="Look at the arguments before computing anything, and say in the message what is wrong with them.")
    if name not in error.get("classes", []):
        return found("values", f"This input must be refused with a {name}; your answer stopped with {error['type']}: {error['message']}",
                     mistake="accepts bad input", hint="It fails somewhere inside, by accident. Test for the bad input first.")
    missing = [text for text in case.mentions if text not in error["message"]]
    if missing:
        what = "number" if any(c.isdigit() for c in missing[0]) else "word"
        return found("values", f"It raises {name}, as it should, but the message does not say {missing[0]!r}: “{error['message']}”.",
                     mistake=f"error without the {what}s", hint=f"A message that names the {what}s saves its reader a debugging session.")
    return None


def _examine_gradients(exercise: Exercise, seen: dict, gradients: dict, found) -> Finding | None:
    for name, want in gradients.items():
        got = seen["gradients"].get(name)
        if want is None and got is not None and got.any():
            return found("gradients", f"The numbers are right, but a gradient reaches `{name}`, which is not to be trained here.", got=got)
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
        return type(got) is type(want) and _text(got) == _text(want)
    if isinstance(want, (int, float)):
        if isinstance(got, torch.Tensor):
            got = got.item() if got.numel() == 1 else None
        return isinstance(got, (int, float)) and not isinstance(got, bool) and bool(
            abs(float(got) - want) <= exercise.atol + exercise.rtol * abs(want))
    return got == want


def _text(value: Any) -> Any:
    return sentences.plain(value) if isinstance(value, str) else value


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
        return f"The measurement does not say {sentences.brief(got)}."
    wrong = [key for key in expected if not _same(exercise, got[key], expected[key])]
    listed = "; ".join(f"“{key}”: you wrote {sentences.brief(got[key])}" for key in wrong)
    return f"{len(expected) - len(wrong)} of {len(expected)} entries agree with the measurement. Not these: {listed}."


def _agree(exercise: Exercise, one: dict, two: dict, with_gradients: bool) -> bool:
    """Whether two observations are of the same behaviour."""
    if one["status"] != two["status"]:
        return False
    if one["status"] == "raised":
        return (one["error"]["type"], one["error"]["message"]) == (two["error"]["type"], two["error"]["message"])
    if one["module"] != two["module"] or not _same(exercise, one["value"], two["value"]):
        return False
    if with_gradients:
        for name, left in one["gradients"].items():
            right = two["gradients"].get(name)
            if (left is None) != (right is None) or left is not None and not close(left, right, 10 * exercise.rtol, 10 * exercise.atol):
                return False
    return True


def _name_the_mistake(exercise: Exercise, cases: list[Case], seen: list[dict], finding: Finding) -> None:
    """Find the twin that behaves like the answer everywhere, or else on the whole part in which the finding lies.

    An answer may hold two mistakes, one a part; then only its part tells a twin.
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
