"""What is said of a result that is not of the kind that was asked for: one small function for each kind."""

import itertools
from collections.abc import Callable
from typing import Any

import torch

from .exercise import Exercise
from .observation import Observation
from .sentences import brief, does, is_number

Problem = tuple[str, str]  # message and mistake
Same = Callable[[Any, Any], bool]


def type_problem(seen: Observation, expected: Any, exercise: Exercise, same: Same) -> Problem | None:
    """Message and mistake when the result is not of the kind that was asked for."""
    got, kind = seen.value, seen.type
    if isinstance(got, dict) and "object" in got:
        return f"Your function returns something this exercise cannot use: {got['object']}.", "wrong type"
    if got is None:
        return _nothing(seen)
    if isinstance(expected, list) and all(isinstance(item, str) for item in expected):
        good = isinstance(got, list) and all(isinstance(item, str) for item in got)
        return None if good else (f"Your function returns a {kind}; expected a list of strings.", "wrong type")
    if isinstance(expected, (list, tuple)):
        return _of_several(got, kind, expected, exercise, same)
    if isinstance(expected, torch.Tensor):
        return _of_tensor(got, kind, expected, same)
    if isinstance(expected, (int, float)) and not isinstance(expected, bool):
        problem = _entry_problem("result", got, expected)
        return (problem, "wrong type") if problem else None
    return None


def _nothing(seen: Observation) -> Problem:
    if seen.printed.strip():
        return (
            "Your function prints, and returns None: it ends without a `return` line. Printing shows a number to a person; "
            "`return` hands it to the code that called.",
            "prints instead of returning",
        )
    return "Your function returns None: it ends without a `return` line.", "no return"


def _of_several(got: Any, kind: str, expected: Any, exercise: Exercise, same: Same) -> Problem | None:
    """Where several results are asked for."""
    if kind.startswith(("tuple", "list")) and len(got) == len(expected):
        if _in_another_order(got, list(expected), same):
            return "The results are right, but they come in the wrong order. Compare with the docstring.", "results swapped"
        for i, (g, w) in enumerate(zip(got, expected, strict=True)):
            if problem := _entry_problem(exercise.outputs[i] if len(exercise.outputs) == len(got) else f"entry {i}", g, w):
                return problem, "wrong type"
        return None
    found = f"a {kind}" if not kind.startswith("tuple") else f"a {kind} entries"
    for i, want in enumerate(expected):
        if isinstance(got, torch.Tensor) and same(got, want):
            return (
                f"Your function returns only one thing, and it is right: entry {i} of the {len(expected)} that are "
                "asked for. Return them all, separated by a comma.",
                "returns only one of the results",
            )
    wanted = f"expected {len(expected)} {_plural(expected)}, separated by a comma"
    return f"Your function returns {found}; {wanted}.", "wrong number of results"


def _in_another_order(got: Any, expected: list[Any], same: Same) -> bool:
    if not 1 < len(got) < 5 or same(got, expected):
        return False
    return any(same([got[i] for i in order], expected) for order in itertools.permutations(range(len(got))))


def _of_tensor(got: Any, kind: str, expected: torch.Tensor, same: Same) -> Problem | None:
    """Where one tensor is asked for."""
    if kind == "tensor":
        if problem := _entry_problem("result", got, expected):
            return problem, "wrong type"
        if got.dtype in (torch.float16, torch.bfloat16):
            kept = "too coarse for the comparison. Keep the float32 that went in"
            return f"Your result is {str(got.dtype).removeprefix('torch.')}: {kept}.", "half precision"
        return None
    if kind == "number" and expected.dim() == 0 and same(torch.tensor(float(got)), expected):
        return (
            "The number is right, but it is a Python number; expected a tensor of shape (). With `.item()` no gradient can flow.",
            "number instead of tensor",
        )
    if kind == "NumPy array":
        right = "The numbers are right. " if same(got, expected) else ""
        return (
            f"{right}Your function returns a NumPy array; expected a tensor. Outside PyTorch no gradient flows: stay "
            "with torch functions all the way.",
            "NumPy array instead of tensor",
        )
    if kind.startswith(("tuple", "list")):
        at = next((i for i, item in enumerate(got) if isinstance(item, torch.Tensor) and same(item, expected)), None)
        tail = f" Entry {at} alone is the right answer." if at is not None else ""
        return f"Your function returns a {kind}; expected one tensor.{tail}", "tuple instead of tensor"
    return f"Your function returns a {kind}; expected a tensor.", "wrong type"


def _plural(expected: Any) -> str:
    """What kind of things a function should return."""
    if all(isinstance(item, torch.Tensor) for item in expected):
        return "tensors"
    if all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in expected):
        return "numbers"
    return "lists" if all(isinstance(item, list) for item in expected) else "things"


def _entry_problem(name: str, got: Any, want: Any) -> str | None:
    """What is wrong with the kind of one result, None when nothing is."""
    if got is None:
        return None if want is None else f"Your {name} {does(name, 'is', 'are')} None."
    if isinstance(want, torch.Tensor):
        if not isinstance(got, torch.Tensor):
            mend = " Keep it a tensor: `.item()` and `float` make a number of it." if _kind(got) == "number" and not want.dim() else ""
            return f"Your {name} {does(name, 'is', 'are')} a {_kind(got)}; expected a tensor of shape {tuple(want.shape)}.{mend}"
        if want.dtype is torch.bool and got.dtype is not torch.bool:
            return f"Your {name} {does(name, 'has', 'have')} numbers ({got.dtype}); expected booleans, True and False."
        if not want.is_floating_point() and want.dtype is not torch.bool and (got.is_floating_point() or got.dtype is torch.bool):
            return (
                f"Your {name} {does(name, 'has', 'have')} the type {got.dtype}; expected whole numbers, such as torch.long. Ids, "
                "labels and places are used as indices, and PyTorch takes no other type there."
            )
        return None
    if isinstance(want, bool):
        good = isinstance(got, bool) or isinstance(got, torch.Tensor) and got.dtype is torch.bool and got.numel() == 1
        return None if good else f"Your {name} {does(name, 'is', 'are')} {brief(got)}; expected True or False."
    if isinstance(want, (int, float)):
        if not is_number(got):
            return f"Your {name} {does(name, 'is', 'are')} a {_kind(got)}; expected a number."
        if isinstance(want, int) and (got.is_floating_point() if isinstance(got, torch.Tensor) else isinstance(got, float)):
            return (
                f"Your {name} {does(name, 'is', 'are')} {brief(got)}, a number with a decimal point; expected a whole number (an int), "
                "which can count or point at a place."
            )
        return None
    if isinstance(want, (list, tuple)):
        return None if isinstance(got, (list, tuple)) else f"Your {name} {does(name, 'is', 'are')} a {_kind(got)}; expected a list."
    return None if type(got) is type(want) else f"Your {name} {does(name, 'is', 'are')} a {_kind(got)}; expected a {_kind(want)}."


def _kind(value: Any) -> str:
    """The type of a plain value in a learner's words."""
    if isinstance(value, torch.Tensor):
        return "tensor"
    if isinstance(value, dict) and "object" in value:
        return str(value["object"])
    return {"str": "string", "int": "number", "float": "number", "NoneType": "None"}.get(type(value).__name__, type(value).__name__)
