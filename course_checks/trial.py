"""One case: what was seen of an answer, and what is wrong with it. Nothing here runs a learner's code."""

from dataclasses import dataclass, field
from typing import Any

import torch

from . import sentences
from .case import Case
from .compare import close, flat, labelled, nesting, same, same_item
from .exercise import Exercise, Prediction
from .known import Known
from .observation import Error, Observation
from .wrong_types import type_problem

RANDOM = "left to chance"
RANDOM_WHY = (
    "The result depends on a random draw, such as a dropout that nobody asked for, a random push, or fresh random weights in every call."
)
_KEEPS = "something is kept between calls"
_KEEPS_WHY = (
    "Something that one call leaves behind changes the next: an attribute set in forward, a default argument that is a list, a "
    "global, a cache that does not look at every argument."
)


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
    wrong: list[tuple[str, Any, Any]] = field(default_factory=list)  # name, got and expected of every output that is wrong
    right: float = 0.0  # share of a prediction's entries that are right
    later: bool = False  # the first call was right, a later one was not
    guessed: bool = False  # the reason was found by changing inputs: an edit of the code that mends it tells more


@dataclass(frozen=True)
class Trial:
    """One case, what was seen of the answer on it, and what is wrong with that."""

    exercise: Exercise
    case: Case
    index: int
    seen: Observation
    known: Known = field(default_factory=Known)

    def found(self, stage: str, message: str, mistake: str | None = None, hint: str | None = None, **more: Any) -> Finding:
        """A finding about this case."""
        return Finding(stage, message, self.case, self.index, mistake, hint, **more)

    def finding(self) -> Finding | None:
        """What is wrong, None when nothing is."""
        exercise, case, seen = self.exercise, self.case, self.seen
        error = seen.error or Error()
        if seen.status == "blank":
            return self._blank()
        if seen.status == "forbidden":
            return self.found("forbidden shortcut", sentences.forbidden(error.message, exercise), "forbidden shortcut")
        if case.rejects is not None:
            return self._rejection()
        if seen.status == "raised":
            return self.found("raised", *sentences.raised(error, exercise, case))
        if seen.module is not None:
            return self.found("type", sentences.module_problem(seen.module, exercise))
        expected, gradients = self.known.expected(exercise, case)
        if not exercise.runs:
            return self._value(expected)
        problem = type_problem(seen, expected, exercise, lambda a, b: same(exercise, a, b))
        if problem:
            text = problem[0].replace("Your function", "Your module") if exercise.kind == "module" else problem[0]
            return self.found("type", text, problem[1], got=seen.value, expected=expected)
        return self._numbers(expected) or self._inputs() or self._gradients(gradients) or self._again() or self._calls()

    def _blank(self) -> Finding:
        if self.index:
            return self.found("raised", "A branch of your code still ends in `raise NotImplementedError`: this input reaches it.")
        text = "Not attempted yet: replace the blank above with your answer, run that cell, then run this one again."
        return self.found("not attempted", text)

    def _value(self, expected: Any) -> Finding | None:
        choices = self.exercise.choices if isinstance(self.exercise, Prediction) else ()
        got = _as_words(choices, self.seen.value, expected)
        problem = sentences.value_problem(got, self.seen.type, expected, choices)
        if problem:
            return self.found(*problem)
        if same(self.exercise, got, expected):
            return None
        wrong = [key for key in expected if not same(self.exercise, got[key], expected[key])] if isinstance(expected, dict) else []
        right = 1 - len(wrong) / len(expected) if wrong else 0.0
        return self.found("values", sentences.wrong_entries(got, expected, wrong), got=got, expected=expected, right=right)

    def _numbers(self, expected: Any) -> Finding | None:
        exercise, got = self.exercise, self.seen.value
        if isinstance(expected, list) and all(isinstance(item, str) for item in expected):
            text = sentences.other_texts(got, expected)
            return None if same(exercise, got, expected) else self.found("values", text, got=got, expected=expected)
        if (mine := nesting(got)) != (wanted := nesting(expected)):
            return self.found("shape", sentences.other_nesting(exercise.outputs, mine, wanted), got=got, expected=expected)
        named = labelled(got, exercise.outputs)
        names = [name for name, _ in named]
        results = [(name, got, want) for (name, got), want in zip(named, flat(expected), strict=True)]
        for name, got, want in results:
            if isinstance(want, torch.Tensor) and got.shape != want.shape:
                shape, has = f"{self.case.shape} = " if self.case.shape and name == names[0] else "", sentences.does(name, "has", "have")
                text = f"Your {name} {has} shape {tuple(got.shape)}; expected {shape}{tuple(want.shape)}."
                return self.found("shape", text, got=got, expected=want, wrong=[(name, got, want)])
        for name, got, want in results:
            if isinstance(want, torch.Tensor) and torch.isfinite(want).all() and not torch.isfinite(got).all():
                bad = "NaN (not a number)" if torch.isnan(got).any() else "infinity"
                return self.found(
                    "finite",
                    f"Your {name} {sentences.does(name, 'contains', 'contain')} {bad}; every expected number is finite.",
                    got=got,
                    expected=want,
                )
        wrong = [result for result in results if not same_item(exercise, *result[1:])]
        if not wrong:
            return None
        if exercise.raw and exercise.compared:
            wrong = [(name, *map(exercise.raw, (mine, wanted))) for name, mine, wanted in wrong]
        name, got, want = wrong[0]
        note = f" ({exercise.compared})" if exercise.compared and not _alike(want, results[0][2]) else ""
        return self.found("values", sentences.wrong_numbers(name, got, want) + f"{note}.", got=got, expected=want, wrong=wrong)

    def _inputs(self) -> Finding | None:
        if not self.seen.changed:
            return None
        name = self.seen.changed[0]
        given = self.case.args.get("inputs", self.case.args).get(name)
        hint = "Work on a copy: methods such as append, pop, sort and update, and assignments to an entry, change the caller's "
        hint += f"{type(given).__name__}."
        if isinstance(given[0] if isinstance(given, list) else given, torch.Tensor):
            hint = (
                "Make a new tensor instead: operations that end in an underscore, `+=` and assignments into a slice write into the "
                "caller's tensor."
            )
        text = f"Here the result is right, but your code changed its input `{name}` in place. Whoever called it goes on with damaged data."
        return self.found("values", text, "input changed in place", hint)

    def _again(self) -> Finding | None:
        """What a later call on the same input did differently."""
        again = self.seen.again
        if again is None or again.error is None and same(self.exercise, again.value, self.seen.value):
            return None
        what = "it gives another result" if again.error is None else f"it stopped with {again.error.type}: {again.error.message}"
        said = f"The first call is right. Called once more on this input, after others, {what}.", _KEEPS, _KEEPS_WHY
        if again.random:
            said = "Two calls with the same input give two results; the task leaves nothing to chance.", RANDOM, RANDOM_WHY
        elif again.evaluated:
            text = "In training mode the result is right; after `.eval()` it is another."
            said = text, "depends on the mode", "Nothing in this task depends on the mode: the same must happen in training and afterwards."
        return self.found("values", *said, later=True)

    def _calls(self) -> Finding | None:
        """Whether callables that were handed in were called as often as the task says."""
        for name, wanted in self.case.calls.items():
            if (made := self.seen.calls.get(name, 0)) != wanted:
                text = f"The result is right, but `{name}` was called {made} times; the task asks for {wanted}."
                hint = "Each call computes everything anew: one can do it all at once."
                return self.found("values", text, "called another number of times", hint)
        return None

    def _rejection(self) -> Finding | None:
        error, name, kind = self.seen.error or Error(), getattr(self.case.rejects, "__name__", ""), self.seen.type
        if self.seen.status == "ok":
            what, hint = "None" if kind == "None" else "a result", "It must get no result: test for it before anything is computed, "
            hint += "and say in the message what is wrong."
            if kind == name:
                what, hint = f"the {kind}", "An exception has to be raised, with `raise`; `return` hands it over like any result."
            text = f"This input must be refused with a {name}, but your answer returned {what}."
            return self.found("values", text, "accepts bad input", hint, got=self.seen.value)
        missing = [text for text in self.case.mentions if not sentences.mentions(error.message, text)]
        accident = not sentences.on_purpose(error)
        if name not in error.classes or accident and missing:
            text = f"This input must be refused with a {name}; your answer stopped with {error.type}: {error.message}"
            if accident:
                hint = "Python stopped, and not a test of yours: test for this input first, before anything is computed."
                return self.found("values", text, "stops by accident", hint)
            hint = "You do test for this input, as you should. Only the kind of exception is another one than the docstring promises, and "
            hint += "whoever calls you waits for that one."
            hint += " (An assert also vanishes when Python runs with -O.)" if error.type == "AssertionError" else ""
            return self.found("values", text, f"not a {name}", hint)
        if missing:
            what = "number" if any(c.isdigit() for c in missing[0]) else "word"
            text = f"It raises {name}, as it should, but the message does not say {missing[0]!r}: “{error.message}”."
            return self.found("values", text, f"a {what} missing in the message", "Such a message saves its reader a debugging session.")
        return None

    def _gradients(self, gradients: dict[str, torch.Tensor | None]) -> Finding | None:
        but = "The numbers are right, but"
        if self.case.finished and any(self.seen.attached):
            hint = "Such a tensor keeps every step that led to it. `.item()` makes a float; under `with torch.no_grad():` nothing is kept."
            return self.found("gradients", f"{but} a result still carries a gradient.", "gradient kept", hint)
        for name, want in gradients.items():
            got = self.seen.gradients.get(name)
            if want is None:
                if got is not None and got.any():
                    return self.found("gradients", f"{but} a gradient reaches `{name}`, which is not to be trained here.", got=got)
            elif got is None:
                hint = "Something on the way leaves PyTorch: a `.detach()`, `.item()`, `.data`, a detour through NumPy, or a new tensor "
                return self.found("gradients", f"{but} no gradient reaches `{name}`.", "gradient cut", hint + "built from numbers.")
            elif not torch.isfinite(got).all():
                return self.found("gradients", f"{but} the gradient of `{name}` contains NaN or infinity.", got=got, expected=want)
            elif not close(got, want, 10 * self.exercise.rtol, 10 * self.exercise.atol):
                outputs, attached = self.exercise.outputs, self.seen.attached
                cut = [f"`{output}`" for output, flag in zip(outputs, attached, strict=False) if not flag] if any(attached) else []
                tail = f" None comes out of your {' and '.join(cut)}." if cut and len(outputs) == len(attached) else ""
                text = f"{but} the gradient of `{name}` is not.{tail}"
                return self.found("gradients", text, got=got, expected=want, wrong=[(name, got, want)])
        return None


def _alike(left: Any, right: Any) -> bool:
    return isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor) and close(left, right, 0.0, 0.0)


def _as_words(choices: tuple[str, ...], got: Any, expected: Any) -> Any:
    """True and False as the words yes and no, where those are asked for."""
    if not isinstance(got, dict) or not isinstance(expected, dict) or not {"yes", "no"} <= set(choices):
        return got
    return {
        key: ("no", "yes")[value] if isinstance(value, bool) and isinstance(expected.get(key), str) else value for key, value in got.items()
    }
