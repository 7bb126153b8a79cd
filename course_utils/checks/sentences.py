"""The sentences a learner reads when an answer is not a plain wrong number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .exercise import Exercise


def is_blank(value: Any) -> bool:
    """A value exercise nobody has filled in: None, ``...``, "?" or an empty container, also inside a dict."""
    if value is None or isinstance(value, str) and value.strip() in ("", "?", "..."):
        return True
    if value == {"object": "ellipsis"}:
        return True
    if isinstance(value, dict):
        return not value or any(is_blank(item) for item in value.values())
    if isinstance(value, list):
        return not value or any(is_blank(item) for item in value)
    return False


def raised(error: dict[str, Any]) -> tuple[str, str | None]:
    """Message and mistake for an answer that stopped with an exception, with the learner's own line."""
    where = f" in line {error['number']} of your cell: `{error['line']}`" if error.get("line") else ""
    text = f"Your code stopped{where} with {error['type']}: {error['message']}"
    if error.get("hidden"):
        name = error["hidden"]
        return (f"{text}\nA variable named `{name}` hides Python's own `{name}`: run `del {name}`, then run the cell again "
                "and give that variable another name.", "redefined name")
    if error["type"] == "TimeIsUp":
        return text, "endless loop"
    return text, None


def forbidden(name: str, exercise: Exercise) -> str:
    """What is said of a forbidden shortcut."""
    return (f"`{name}` does the whole job, and is out of bounds here: the exercise is to build `{exercise.name}` from smaller "
            "operations. You may use it again in every later cell.")


def module_problem(problem: dict[str, Any], exercise: Exercise) -> tuple[str]:
    """What is said of a module that cannot take the parameters of the test."""
    if problem["problem"] == "not a module":
        return (f"`{exercise.name}(…)` does not make a torch.nn.Module. Derive the class from nn.Module and call "
                "super().__init__() first.",)
    if problem["problem"] == "sizes":
        name, (got, want) = next(iter(problem["sizes"].items()))
        return (f"Parameter `{name}` has shape {tuple(got)}; expected {tuple(want)}.",)
    parts = []
    if problem["missing"]:
        parts.append("it lacks " + ", ".join(f"`{n}`" for n in problem["missing"]))
    if problem["extra"]:
        parts.append("it has " + ", ".join(f"`{n}`" for n in problem["extra"]) + " which should not be there")
    return (f"The parameters of your module are not the ones of the docstring: {' and '.join(parts)}. (A plain tensor is "
            "not a parameter: wrap it in nn.Parameter or use a layer.)",)


def type_problem(seen: dict[str, Any], expected: Any, exercise: Exercise,
                 same: Callable[[Any, Any], bool]) -> tuple[str, str] | None:
    """Message and mistake when the result is not of the kind that was asked for."""
    got, kind = seen["value"], seen["type"]
    if exercise.kind == "value":
        return _value_problem(got, kind, expected)
    if got is None:
        if seen["printed"].strip():
            return ("Your function prints its result but returns None. Printing shows a number to a person; `return` "
                    "hands it to the code that called.", "prints instead of returning")
        return "Your function returns None: it ends without a `return` line.", "no return"
    if isinstance(expected, (list, tuple)):
        if kind.startswith(("tuple", "list")) and len(got) == len(expected):
            bad = [i for i, (g, w) in enumerate(zip(got, expected, strict=True)) if type(g) is not type(w)]
            if not bad:
                return None
            return f"Entry {bad[0]} of the result is not a tensor.", "wrong type"
        found = f"a {kind}" if not kind.startswith("tuple") else f"a {kind} entries"
        for i, want in enumerate(expected):
            if isinstance(got, torch.Tensor) and same(got, want):
                return (f"Your function returns only one thing, and it is right: entry {i} of the {len(expected)} that are "
                        "asked for. Return them all, separated by a comma.", "returns only one of the results")
        return f"Your function returns {found}; expected {len(expected)} tensors, separated by a comma.", "wrong number of results"
    if isinstance(expected, torch.Tensor):
        if kind == "tensor":
            return None
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


def _value_problem(got: Any, kind: str, expected: Any) -> tuple[str, str] | None:
    if kind.startswith(("function", "class")):
        return f"You passed a {kind}; this exercise asks for a value.", "wrong type"
    if isinstance(expected, dict):
        if not isinstance(got, dict):
            return f"You passed a {kind}; expected the dictionary of the cell above with its blanks filled in.", "wrong type"
        if set(got) != set(expected):
            lost = sorted(set(expected) - set(got)) or sorted(set(got) - set(expected))
            return f"The keys of the dictionary have changed: look at {lost[0]!r}.", "wrong type"
    return None


def remarks(seen: dict[str, Any]) -> list[str]:
    """Things worth saying about an answer even when it is right."""
    notes = []
    if seen["printed"].strip() and seen["value"] is not None:
        first = seen["printed"].strip().splitlines()[0][:60]
        notes.append(f"Your code printed something on the way (“{first}”). That does no harm.")
    if isinstance(seen["value"], torch.Tensor) and seen["value"].dtype == torch.float64:
        notes.append("Your result is float64: right, at twice the memory of the float32 that went in.")
    return notes
