"""Whether two functions, classes or constants are one and the same but for the place where they were made."""

from __future__ import annotations

import dis
import functools
import types
from typing import Any

SKIPPED = {
    "__dict__",
    "__weakref__",
    "__module__",
    "__doc__",
    "__qualname__",
    "__annotations__",
    "__firstlineno__",
    "__static_attributes__",
}


def alike(left: Any, right: Any, seen: set[tuple[int, int]] | None = None) -> bool:
    """Compare code step by step, constants by value; what is neither is alike only to itself."""
    seen = set() if seen is None else seen
    if left is right or (id(left), id(right)) in seen:
        return True
    seen.add((id(left), id(right)))
    if type(left) is not type(right) and not (isinstance(left, type) and isinstance(right, type)):
        return False
    if hasattr(left, "__wrapped__") and hasattr(right, "__wrapped__"):
        return alike(left.__wrapped__, right.__wrapped__, seen)
    if isinstance(left, types.FunctionType):
        cells = ([cell.cell_contents for cell in f.__closure__ or ()] for f in (left, right))
        return _same_code(left.__code__, right.__code__) and all(
            alike(a, b, seen)
            for a, b in ((left.__defaults__, right.__defaults__), (left.__kwdefaults__, right.__kwdefaults__), tuple(cells))
        )
    if isinstance(left, type):
        one, other = ({key: value for key, value in vars(c).items() if key not in SKIPPED} for c in (left, right))
        return left.__name__ == right.__name__ and alike(left.__bases__, right.__bases__, seen) and alike(one, other, seen)
    if isinstance(left, functools.partial):
        return alike((left.func, left.args, left.keywords), (right.func, right.args, right.keywords), seen)
    if isinstance(left, (staticmethod, classmethod)):
        return alike(left.__func__, right.__func__, seen)
    if isinstance(left, property):
        return alike((left.fget, left.fset), (right.fget, right.fset), seen)
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(alike(a, b, seen) for a, b in zip(left, right, strict=True))
    if isinstance(left, dict):
        return list(left) == list(right) and all(alike(left[key], right[key], seen) for key in left)
    if type(left).__name__ == "Tensor":
        return bool(left.dtype == right.dtype and left.shape == right.shape and (left == right).all())
    if isinstance(left, (int, float, complex, str, bytes, set, frozenset)) or type(left).__name__ == "dtype":
        return bool(left == right or left != left and right != right)
    return False


def _same_code(left: types.CodeType, right: types.CodeType) -> bool:
    """The same steps, names and constants, wherever they stand."""
    if _steps(left) != _steps(right) or len(left.co_consts) != len(right.co_consts):
        return False
    return all(
        _same_code(a, b) if isinstance(a, types.CodeType) and isinstance(b, types.CodeType) else type(a) is type(b) and a == b
        for a, b in zip(left.co_consts, right.co_consts, strict=True)
    )


def _steps(code: types.CodeType) -> list[tuple[str, Any]]:
    """Instructions, without those that depend on whether an import stands in the same cell: ``nn.Linear`` is then no method."""
    found = []
    for step in dis.get_instructions(code):
        if step.opname not in ("PUSH_NULL", "PRECALL", "CACHE", "EXTENDED_ARG"):
            apart = isinstance(step.argval, types.CodeType) or step.opcode in dis.hasjrel or step.opcode in dis.hasjabs
            found.append((step.opname.replace("METHOD", "ATTR"), None if apart else repr(step.argval)))
    return found
