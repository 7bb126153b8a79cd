"""What a learner's answer is made of, and where in it an error lies."""

import builtins
import inspect
import linecache
import traceback
from typing import Any

from .observation import Error


def functions_of(answer: Any) -> list[Any]:
    """The Python functions an answer consists of: itself, the methods of a class, what a wrapper or a closure holds."""
    found: list[Any] = []
    todo = [answer]
    while todo and len(found) < 50:
        item = todo.pop()
        if any(item is other for other in found):
            continue
        if isinstance(item, type):
            todo += [v for v in vars(item).values() if callable(v)]
        elif hasattr(item, "__code__"):
            found.append(item)
            held = [*inspect.getclosurevars(item).nonlocals.values(), *(item.__defaults__ or ())]
            todo += [v for v in held if callable(v) and hasattr(v, "__code__")]
            todo += [item.__wrapped__] if hasattr(item, "__wrapped__") else []
        elif hasattr(item, "func"):
            todo.append(item.func)  # functools.partial
        elif inspect.isfunction(vars(type(item)).get("__call__")):
            todo.append(vars(type(item))["__call__"])
    return found


def namespaces_of(answer: Any) -> list[dict[str, Any]]:
    """The globals an answer looks names up in."""
    spaces = {id(f.__globals__): f.__globals__ for f in functions_of(answer) if hasattr(f, "__globals__")}
    return list(spaces.values())


def own_line(error: BaseException, answer: Any, stopped: bool = False) -> tuple[int | None, str]:
    """Number and text of the deepest line of the traceback that lies in the learner's own code.

    Of code that was ``stopped``, a line of the answer itself is told first: the function it was calling just then may be innocent.
    """
    files = {f.__code__.co_filename for f in functions_of(answer)}
    frames = traceback.extract_tb(error.__traceback__)[::-1]
    own = [f for f in frames if f.filename in files or "ipykernel" in f.filename or "ipython-input" in f.filename]
    for frame in sorted(own, key=lambda f: f.filename not in files) if stopped else own:
        return frame.lineno, linecache.getline(frame.filename, frame.lineno or 0).strip()[:200]
    return None, ""


def _hidden_name(error: BaseException, answer: Any) -> str:
    """A built-in or library name the learner has overwritten, when that explains the error."""
    if not isinstance(error, (TypeError, AttributeError)):
        return ""
    used = {name for f in functions_of(answer) for name in f.__code__.co_names}
    for space in namespaces_of(answer):
        for name in sorted(used & set(space)):
            if hasattr(builtins, name) and not callable(space[name]):
                return name
            if name in ("torch", "math", "nn", "F", "np") and not hasattr(space[name], "__name__"):
                return name
    return ""


def describe(error: BaseException, answer: Any) -> Error:
    """An exception as plain data."""
    number, line = own_line(error, answer)
    try:
        message = str.__str__(str(error))[:500]
    except Exception:
        message = "(an error without a readable message)"
    return Error(type(error).__name__, message, number, line, _hidden_name(error, answer), tuple(c.__name__ for c in type(error).__mro__))
