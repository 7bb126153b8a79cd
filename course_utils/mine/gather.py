"""A function or a class as text that runs by itself: its definition, and the imports, constants and helpers that it uses.

The text comes from the cells of a notebook, the values from its namespace. Where a definition uses a name, the value that the name has
*now* is what counts, because that is what the answer was checked with. What has no text of its own is refused with :class:`Leans`.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import inspect
import linecache
import math
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..paths import PACKAGE
from .alike import alike
from .text import first_line, global_names, text_of, tidy

LONGEST = 2_000  # characters of a constant; what is longer is data
MOST = 32  # entries of a tensor that is written out
NOTEBOOK = ("IPython", "ipykernel", "ipywidgets")
READS = {"open": "a file", "input": "what somebody types", "eval": "`eval`", "exec": "`exec`", "globals": "`globals`"}
PLAIN = (int, float, complex, bool, str, bytes, type(None))
SHORT = ("torch", "torch.nn.functional", "math", "numpy")  # where the functions of C stand that do not say where


class Leans(Exception):
    """An answer that cannot stand by itself; the message is what it leans on, as the end of a sentence."""


def gather(name: str, value: Any, space: dict[str, Any], known: Callable[[Any], str | None] = lambda value: None) -> str:
    """Text that gives ``name`` its ``value`` in an empty namespace. ``space``: where the value looks names up.

    ``known(value)`` may give an expression for a value that comes from the course, such as ``mine("04.2")``. The text has been run once,
    and what it makes was compared with what was asked for. Raises :class:`Leans`.
    """
    found = _Gathered(space, known)
    found.add(name, value)
    text = tidy(found.imports, found.parts)
    made: dict[str, Any] = {"__name__": "mine", "__builtins__": builtins}
    try:
        exec(compile(text, "<mine>", "exec", dont_inherit=True), made)
    except Exception as error:
        raise Leans(f"something that only this notebook has ({type(error).__name__}: {error})") from None
    for other, wanted in found.own.items():
        if not alike(made.get(other), wanted):
            raise Leans(f"`{other}`, which was given another value since")
    return text


class _Gathered:
    """What has been found so far: import lines, definitions in an order that runs, and the value of every name."""

    def __init__(self, space: dict[str, Any], known: Callable[[Any], str | None]):
        self.space, self.known = space, known
        self.imports: list[str] = []
        self.parts: list[str] = []
        self.own: dict[str, Any] = {}  # names that the text defines
        self.values: dict[str, Any] = {}

    def add(self, name: str, value: Any) -> None:
        """Add what gives ``name`` this value, after everything that it uses."""
        if name in self.values:
            if not alike(self.values[name], value):
                raise Leans(f"`{name}`, which stands for something else by now")
            return
        self.values[name] = value
        expression = self.known(value)
        if expression is not None:
            self.imports.append("from course_checks import mine")
            self.parts.append(f"{name} = {expression}")
            return
        line = import_of(name, value)
        if line:
            self.imports.append(line)
            return
        self.own[name] = value
        constant = literal(value)
        text = self._defined(name, value) if constant is None else f"{name} = {constant}"
        for used in global_names(text):
            if used in self.space and used != name:
                self.add(used, self.space[used])
            elif used == "torch":  # in a literal
                self.add(used, sys.modules["torch"])
            elif used in READS and used not in self.space:
                raise Leans(READS[used])
            elif used == name and self.space.get(name, value) is not value and not alike(self.space[name], value):
                raise Leans(f"`{name}`, which stands for something else by now")
        self.parts.append(text)

    def _defined(self, name: str, value: Any) -> str:
        """The statement of a cell that defines a value; with another name, the definition goes first."""
        if not callable(value) or not (isinstance(value, (types.FunctionType, type, functools.partial)) or hasattr(value, "__wrapped__")):
            raise Leans(f"`{name}`, which another cell computed")
        own = getattr(value, "__name__", name)
        if own != name and "<" not in getattr(value, "__qualname__", "<"):
            self.add(own, value)
            return f"{name} = {own}"
        for statement, source in _statements(name, value):
            text = text_of(statement, source)
            if changed := changed_globals(text):
                raise Leans(f"`{changed}`, which it changes from call to call")
            return text
        raise Leans(f"`{name}`, whose definition stands in no cell by itself" if own == name or "<" in own else f"`{own}`")


def _statements(name: str, value: Any) -> Iterator[tuple[ast.stmt, str]]:
    """Top-level statements that may have defined a value, the surest first, each with the text of its cell."""
    code = _code_of(value)
    files = [code.co_filename] if code else []
    files += [file for file in reversed(list(linecache.cache)) if file not in files and _is_cell(file)]
    for file in files:
        source = "\n".join(line.rstrip("\r\n") for line in linecache.getlines(file))
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            continue
        for statement in reversed(tree.body):
            if not _binds(statement, name):
                continue
            until = statement.end_lineno or 0
            inside = code is not None and code.co_filename == file and first_line(statement) <= code.co_firstlineno <= until
            nested = code is not None and "<locals>" in getattr(value, "__qualname__", "")  # made by a call of another function
            if inside or code is None or nested:
                yield statement, source


def _binds(statement: ast.stmt, name: str) -> bool:
    """Whether a statement gives a name its value: a definition, or ``name = …`` that no check stands in."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return statement.name == name
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, (ast.Lambda, ast.Call, ast.Name, ast.Attribute)):
        return False
    handed_on = any(getattr(n, "attr", "") == "use" or getattr(n, "id", "") == "check" for n in ast.walk(statement.value))
    return not handed_on and any(isinstance(target, ast.Name) and target.id == name for target in statement.targets)


def _code_of(value: Any) -> types.CodeType | None:
    """The code of a function, of what a wrapper wraps, or of the first method of a class."""
    value = inspect.unwrap(value) if callable(value) and not isinstance(value, type) else value
    if isinstance(value, type):
        methods = (getattr(item, "__func__", getattr(item, "fget", item)) for item in vars(value).values())
        return next(
            (m.__code__ for m in methods if isinstance(m, types.FunctionType) and m.__qualname__.startswith(value.__qualname__)), None
        )
    return getattr(value, "__code__", None)


def _is_cell(file: str) -> bool:
    return "ipykernel" in file or "ipython-input" in file or file.startswith("<mine")


def changed_globals(text: str) -> str:
    """A name that a definition declares ``global`` and gives a value; empty without one."""
    tree = ast.parse(text)
    declared = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return next(iter(sorted(declared & stored)), "")


# ------------------------------------------------------------------------------------- values with a text of their own


def import_of(name: str, value: Any) -> str | None:
    """The import line that gives a name its value; None where nothing installed has it. :class:`Leans` for a file of one's own."""
    if isinstance(value, types.ModuleType):
        _installed(value)
        above, _, last = value.__name__.rpartition(".")
        return (f"from {above} " if above else "") + f"import {last}" + (f" as {name}" if last != name else "")
    if isinstance(value, (*PLAIN, list, tuple, dict, set, frozenset)):
        return None
    called = getattr(value, "__name__", None)
    if not isinstance(called, str) or not called.isidentifier():
        return None
    home = getattr(value, "__module__", None)
    pieces = home.split(".") if isinstance(home, str) else []
    for place in (*(".".join(pieces[: i + 1]) for i in range(len(pieces))), *SHORT):
        module = sys.modules.get(place)
        if module is not None and place not in ("__main__", "mine") and getattr(module, called, None) is value:
            if getattr(module, "__mine__", False):
                return None
            _installed(module)
            return f"from {place} import {called}" + (f" as {name}" if called != name else "")
    return None


def _installed(module: types.ModuleType) -> None:
    """Nothing for what Python or the course brings along; :class:`Leans` for the notebook's machinery, and a file of one's own."""
    top = module.__name__.split(".")[0]
    if top in NOTEBOOK:
        raise Leans("what only a notebook has: a magic, or `get_ipython`")
    file = getattr(module, "__file__", None)
    homes = (*(Path(sysconfig.get_path(kind)).resolve() for kind in ("stdlib", "platstdlib", "purelib", "platlib")), PACKAGE)
    if file and not any(Path(file).resolve().is_relative_to(home) for home in homes):
        raise Leans(f"`{module.__name__}`, a file of your own")


def literal(value: Any) -> str | None:
    """A constant as it is typed; None for what has no such form, or is as long as data."""
    torch, text, kind = sys.modules.get("torch"), "", type(value)
    inside = list(value.values()) if kind is dict else list(value) if kind in (list, tuple) else [value]
    if torch is not None and inside and all(type(item) is torch.dtype for item in inside):
        text = repr(value)
    elif kind is float and not math.isfinite(value):
        text = f'float("{value}")'
    elif kind in (*PLAIN, list, tuple, set, dict) and (not hasattr(value, "__len__") or len(value) <= LONGEST):
        with contextlib.suppress(ValueError, SyntaxError, RecursionError, MemoryError):  # of what is no constant
            text = repr(value) if alike(ast.literal_eval(repr(value)), value) else ""
    elif torch is not None and kind is torch.Tensor and value.numel() <= MOST and not value.requires_grad and value.device.type == "cpu":
        text = f"torch.tensor({value.tolist()}, dtype={value.dtype})" if bool(torch.isfinite(value).all()) else ""
    return text if 0 < len(text) <= LONGEST else None
