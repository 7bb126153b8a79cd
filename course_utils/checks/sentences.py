"""The sentences a learner reads when an answer is not a plain wrong number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .exercise import Exercise
from .observation import Error, Misfit, Observation


def is_blank(value: Any) -> bool:
    """An entry nobody has filled in: None, ``...``, "?" or "" or an empty container."""
    if value is None or isinstance(value, str) and value.strip() in ("", "?", "..."):
        return True
    return value in ({"object": "ellipsis"}, {}, [])


def brief(value: Any) -> str:
    """A learner's value, short enough for a sentence."""
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        value = value.item()
    text = f"{value:.6g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def wrong_numbers(name: str, got: Any, want: Any) -> str:
    """One number is named; of many the panel shows an excerpt."""
    if isinstance(want, torch.Tensor) and want.numel() != 1:
        return f"Your {name} does not have the expected numbers"
    return f"Your {name} is {brief(got)}; expected {brief(want)}"


# What PyTorch says, and what it means here: (a part of its message, the mistake, the sentence).
_PLAIN_WORDS = (
    ("Can't call numpy()", "leaves PyTorch for NumPy",
     "A tensor that takes part in training cannot become a NumPy array: no gradient would flow. Stay with torch functions."),
    ("leaf Variable that requires grad is being used in an in-place", "input changed in place",
     "Your code writes into its input. Make a new tensor instead."),
    ("modified by an inplace operation", "result changed in place",
     "A tensor that the gradient still needs was overwritten after it was computed, by an assignment into it or an operation "
     "that ends in an "
     "underscore. Make a new tensor instead."),
    ("unexpected keyword argument", "parameter renamed",
     "The check calls your answer with the parameter names of the stub. Keep them as they were: {signature}"),
    ("does not require grad and does not have a grad_fn", "gradient cut",
     "Nothing in the result depends on the inputs in a way PyTorch can follow."),
)


def raised(error: Error, exercise: Exercise) -> tuple[str, str | None]:
    """Message and mistake for an answer that stopped with an exception, with the learner's own line."""
    where = f" in line {error.number} of your cell: `{error.line}`" if error.line else ""
    text = f"Your code stopped{where} with {error.type}: {error.message}"
    if error.hidden:
        return (f"{text}\nA variable named `{error.hidden}` hides Python's own `{error.hidden}`: run `del {error.hidden}`, then run the "
                "cell again and give that variable another name.", "redefined name")
    for part, mistake, words in _PLAIN_WORDS:
        if part in error.message:
            return f"{text}\n{words.format(signature=exercise.signature)}", mistake
    return text, None


def too_long(limit: float, number: int | None, line: str) -> str:
    """What is said of an answer that the clock has stopped, in this line of its cell."""
    where = f", at line {number} of your cell: `{line}`" if line else ""
    return (f"Stopped after {limit:g} s{where}. Is there a loop that never ends, or one that is far too long? The inputs here are "
            "tiny.")


def forbidden(name: str, exercise: Exercise) -> str:
    """What is said of a forbidden shortcut."""
    return (f"`{name}` does the whole job, and is out of bounds here: the exercise is to build `{exercise.name}` from smaller "
            "operations. You may use it again in every later cell.")


def _some(names: tuple[str, ...], most: int = 3) -> str:
    """The first names, and how many there are beside them."""
    listed = ", ".join(f"`{name}`" for name in names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"


def module_problem(problem: Misfit, exercise: Exercise) -> str:
    """What is said of a module that cannot take the parameters of the test."""
    if problem.problem == "not a module":
        return (f"`{exercise.name}(…)` does not make a torch.nn.Module. Derive the class from nn.Module and call "
                "super().__init__() first.")
    if problem.problem == "sizes":
        return f"Parameter `{problem.name}` has shape {problem.got}; expected {problem.want}."
    parts = []
    if problem.missing:
        parts.append(f"it lacks {_some(problem.missing)}")
    if problem.extra:
        parts.append(f"it has {_some(problem.extra)} which should not be there")
    return (f"The parameters of your module are not the ones of the docstring: {' and '.join(parts)}. (A plain tensor is not a parameter: "
            "wrap it in nn.Parameter or use a layer. And layers must be made in __init__, not in forward.)")


def type_problem(seen: Observation, expected: Any, exercise: Exercise,
                 same: Callable[[Any, Any], bool]) -> tuple[str, str | None] | None:
    """Message and mistake when the result is not of the kind that was asked for."""
    got, kind = seen.value, seen.type
    if isinstance(got, dict) and "object" in got:
        return f"Your function returns something this exercise cannot use: {got['object']}.", "wrong type"
    if got is None:
        if seen.printed.strip():
            return ("Your function prints its result but returns None. Printing shows a number to a person; `return` "
                    "hands it to the code that called.", "prints instead of returning")
        return "Your function returns None: it ends without a `return` line.", "no return"
    if isinstance(expected, list) and all(isinstance(item, str) for item in expected):
        good = isinstance(got, list) and all(isinstance(item, str) for item in got)
        return None if good else (f"Your function returns a {kind}; expected a list of strings.", "wrong type")
    if isinstance(expected, (list, tuple)):
        if kind.startswith(("tuple", "list")) and len(got) == len(expected):
            bad = [i for i, (g, w) in enumerate(zip(got, expected, strict=True)) if type(g) is not type(w)]
            if bad:
                return f"Entry {bad[0]} of the result is not a tensor.", "wrong type"
            for i, (g, w) in enumerate(zip(got, expected, strict=True)):
                if isinstance(w, torch.Tensor) and w.dtype is torch.bool and g.dtype is not torch.bool:
                    return f"Entry {i} of the result has numbers ({g.dtype}); expected booleans, True and False.", None
            if len(expected) == 2 and same([got[1], got[0]], list(expected)):
                return "The results are right, but they come in the wrong order. Compare with the docstring.", "results swapped"
            return None
        found = f"a {kind}" if not kind.startswith("tuple") else f"a {kind} entries"
        for i, want in enumerate(expected):
            if isinstance(got, torch.Tensor) and same(got, want):
                return (f"Your function returns only one thing, and it is right: entry {i} of the {len(expected)} that are "
                        "asked for. Return them all, separated by a comma.", "returns only one of the results")
        return f"Your function returns {found}; expected {len(expected)} tensors, separated by a comma.", "wrong number of results"
    if isinstance(expected, torch.Tensor):
        if kind == "tensor":
            if expected.dtype is torch.bool and got.dtype is not torch.bool:
                return f"Your result has numbers ({got.dtype}); expected booleans, True and False.", None
            if got.dtype in (torch.float16, torch.bfloat16):
                return (f"Your result is {str(got.dtype).removeprefix('torch.')}: too coarse for the comparison. Keep the float32 "
                        "that went in.", "half precision")
            return None
        if kind == "number" and expected.dim() == 0 and same(torch.tensor(float(got)), expected):
            return ("The number is right, but it is a Python number; expected a tensor of shape (). With `.item()` no gradient can "
                    "flow.", "number instead of tensor")
        if kind == "NumPy array":
            right = "The numbers are right. " if same(got, expected) else ""
            return (f"{right}Your function returns a NumPy array; expected a tensor. Outside PyTorch no gradient flows: stay "
                    "with torch functions all the way.", "NumPy array instead of tensor")
        if kind.startswith(("tuple", "list")):
            at = next((i for i, item in enumerate(got) if isinstance(item, torch.Tensor) and same(item, expected)), None)
            tail = f" Entry {at} alone is the right answer." if at is not None else ""
            return f"Your function returns a {kind}; expected one tensor.{tail}", "tuple instead of tensor"
        return f"Your function returns a {kind}; expected a tensor.", "wrong type"
    if isinstance(expected, (int, float)) and not isinstance(expected, bool):
        number = isinstance(got, (int, float)) or (isinstance(got, torch.Tensor) and got.numel() == 1)
        return None if number else (f"Your function returns a {kind}; expected a number.", "wrong type")
    return None


def value_problem(got: Any, kind: str, expected: Any, exercise: Exercise) -> tuple[str, str, str | None] | None:
    """Stage, message and mistake when a value exercise is blank or not filled in as asked."""
    if is_blank(got) or isinstance(got, dict) and got and all(map(is_blank, got.values())):
        return "not attempted", "Not attempted yet: fill in the blanks above, run that cell, then run this one again.", None
    if kind.startswith(("function", "class")):
        return "type", f"You passed a {kind}; this exercise asks for a value.", "wrong type"
    if not isinstance(expected, dict):
        return None
    if not isinstance(got, dict) or kind != "dict":
        return "type", f"You passed a {kind}; expected the dictionary of the cell above with its blanks filled in.", "wrong type"
    if set(got) != set(expected):
        lost = sorted(set(expected) - set(got)) or sorted(set(got) - set(expected))
        return "type", f"The keys of the dictionary have changed: look at {brief(lost[0])}.", "wrong type"
    for key, want in expected.items():
        if is_blank(got[key]):
            return "not attempted", f"Entry “{key}” is still blank.", None
        if isinstance(want, str) and (not isinstance(got[key], str) or exercise.choices and plain(got[key]) not in exercise.choices):
            allowed = " Choose from: " + ", ".join(f"“{word}”" for word in exercise.choices) + "." if exercise.choices else ""
            return "type", f"Entry “{key}”: {brief(got[key])} is not one of the words asked for.{allowed}", "wrong type"
        if isinstance(want, (int, float)) and not isinstance(want, bool) and not _is_number(got[key]):
            return "type", f"Entry “{key}”: {brief(got[key])} is not a number. (Without quotes?)", "wrong type"
    return None


def _is_number(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return value.numel() == 1
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def plain(text: str) -> str:
    """Lower case, single spaces: how words are compared."""
    return " ".join(text.lower().split())


def remarks(seen: Observation, exercise: Exercise) -> list[str]:
    """Things worth saying about an answer even when it is right."""
    notes = []
    if seen.printed.strip() and seen.value is not None:
        first = seen.printed.strip().splitlines()[0][:60]
        notes.append(f"Your code printed something on the way (“{first}”). That does no harm.")
    if exercise.kind != "value" and isinstance(seen.value, torch.Tensor) and seen.value.dtype == torch.float64:
        notes.append("Your result is float64: right, at twice the memory of the float32 that went in.")
    return notes
