"""Whether two functions, classes or constants are one and the same but for the place where they were made."""

from __future__ import annotations

import dis
import functools
import types
from typing import Any

PLAIN = (int, float, complex, str, bytes, set, frozenset)
SKIPPED = set("__dict__ __weakref__ __module__ __doc__ __qualname__ __annotations__ __firstlineno__ __static_attributes__".split())


def alike(left: Any, right: Any, seen: dict[tuple[int, int], Any] | None = None) -> bool:
    """Compare code step by step, constants by value; what is neither is alike only to itself."""
    seen = {} if seen is None else seen
    if left is right or (id(left), id(right)) in seen:
        return True
    seen[id(left), id(right)] = left, right  # kept alive: nothing else may get their numbers
    if type(left) is not type(right) and not (isinstance(left, type) and isinstance(right, type)):
        return False
    if hasattr(left, "__wrapped__") and hasattr(right, "__wrapped__"):
        return alike(left.__wrapped__, right.__wrapped__, seen)
    if type(left).__name__ == "Tensor":
        return bool(left.dtype == right.dtype and left.shape == right.shape and (left == right).all())
    if isinstance(left, PLAIN) or type(left).__name__ == "dtype":
        return bool(left == right or left != left and right != right)
    ours, theirs = _inside(left), _inside(right)
    return ours is not None and theirs is not None and len(ours) == len(theirs) and all(map(alike, ours, theirs, [seen] * len(ours)))


def _inside(value: Any) -> list[Any] | None:
    """What a value is made of, to be compared one after the other; None for what is not looked into."""
    match value:
        case types.FunctionType():
            held = [cell.cell_contents for cell in value.__closure__ or ()]
            return [value.__code__, value.__defaults__, value.__kwdefaults__, held]
        case types.CodeType():
            return [_steps(value), value.co_consts]
        case type():
            return [value.__name__, value.__bases__, {key: item for key, item in vars(value).items() if key not in SKIPPED}]
        case functools.partial():
            return [value.func, value.args, value.keywords]
        case staticmethod() | classmethod():
            return [value.__func__]
        case property():
            return [value.fget, value.fset]
        case dict():
            return [list(value), *value.values()]
        case list() | tuple():
            return list(value)
    return None


def _steps(code: types.CodeType) -> list[tuple[str, Any]]:
    """Instructions, without those that depend on whether an import stands in the same cell: ``nn.Linear`` is then no method."""
    found = []
    for step in dis.get_instructions(code):
        if step.opname not in ("PUSH_NULL", "PRECALL", "CACHE", "EXTENDED_ARG"):
            apart = isinstance(step.argval, types.CodeType) or step.opcode in dis.hasjrel or step.opcode in dis.hasjabs
            found.append((step.opname.replace("METHOD", "ATTR"), None if apart else repr(step.argval)))
    return found
