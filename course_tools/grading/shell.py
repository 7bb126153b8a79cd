"""Run cells as a notebook would: ``display``, ``get_ipython()``, ``In``, ``Out``, ``_`` and ``await`` are there; magics do nothing."""

from __future__ import annotations

import ast
import asyncio
import builtins
import importlib
import inspect
import linecache
import os
import signal
import sys
import traceback
import types
from typing import Any

from .cell_names import WRITES
from .reply import Problem

CELL_LIMIT = 10.0  # seconds for a cell that is not the answer's own: what only trains costs nobody the mark


class CellTimeIsUp(BaseException):
    """A cell has run long enough."""


class Shell:
    """What ``get_ipython()`` gives: every magic is accepted and does nothing."""

    def __init__(self, space: dict[str, Any]):
        self.user_ns = self.user_global_ns = space
        self.execution_count = 1
        self.input_transformers_post: list[Any] = []  # kept, and never asked: cells are translated before anything runs
        self.input_transformers_cleanup: list[Any] = []

    def run_line_magic(self, name: str, line: str = "", *more: Any) -> Any:
        """``%timeit -o`` gives an object with times, all of them a microsecond; other magics give None."""
        if name == "timeit" and "-o" in line.split():
            return types.SimpleNamespace(
                average=1e-6, best=1e-6, worst=1e-6, stdev=0.0, loops=1, repeat=1, all_runs=[1e-6], timings=[1e-6], compile_time=0.0
            )
        return None

    def run_cell_magic(self, name: str, line: str, body: str) -> None:
        """``%%writefile my_scores.py`` writes into the folder of this exercise, which vanishes with it; other magics do nothing."""
        words = line.split()
        if name in WRITES and words and not os.path.isabs(words[-1]) and ".." not in words[-1].split("/"):
            with open(words[-1], "a" if "-a" in words else "w", encoding="utf-8") as file:
                file.write(body)
            sys.path[:0] = [] if os.getcwd() in sys.path else [os.getcwd()]  # a notebook imports from its own folder
            importlib.invalidate_caches()

    def getoutput(self, command: str = "", *more: Any, **options: Any) -> list[str]:
        """``!ls``: there is no shell here, so nothing comes out."""
        return []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **options: None


def new_space() -> dict[str, Any]:
    """The namespace of a notebook before its first cell."""
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    space = module.__dict__
    shell = Shell(space)
    space |= {
        "__builtins__": builtins,
        "display": lambda *args, **options: None,
        "get_ipython": lambda: shell,
        "In": [""],
        "Out": {},
        "_": "",
        "__": "",
        "___": "",
        "_i": "",
        "_ii": "",
        "_iii": "",
        "_ih": [""],
        "_oh": {},
        "exit": lambda *args: None,
        "quit": lambda *args: None,
    }
    return space


def run_cells(sources: list[tuple[int, str]], answer_cell: int, seconds: float = 60.0) -> tuple[dict[str, Any], list[Problem]]:
    """Run cells in one namespace; a cell that fails or takes too long is noted and the next one runs. ``seconds``: for all together."""
    space = new_space()
    problems: list[Problem] = []
    for index, source in sources:
        name = f"<ipython-input-{index}>"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        try:
            allowed = seconds / 2 if index == answer_cell else min(CELL_LIMIT, seconds / 2)
            with_limit(allowed, lambda source=source, name=name: run_cell(source, name, space))
        except BaseException as error:  # a cell may raise SystemExit or KeyboardInterrupt, too
            problems.append(_problem(error, index, index == answer_cell, name, source))
    return space, problems


def _problem(error: BaseException, cell: int, answer: bool, name: str, source: str) -> Problem:
    """What stopped a cell, and the deepest line of its own text that the traceback names."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == name]
    number = frames[-1].lineno if frames else getattr(error, "lineno", None)
    lines = source.split("\n")
    line = lines[number - 1].strip()[:200] if isinstance(number, int) and 0 < number <= len(lines) else ""
    kind = "TimeoutError" if isinstance(error, CellTimeIsUp) else type(error).__name__[:100]
    return Problem(cell, answer, kind, _message(error), line)


def with_limit(seconds: float, work: Any) -> None:
    """Call ``work``; CellTimeIsUp after ``seconds``, where Python can be interrupted."""

    def stop(number: int, frame: Any) -> None:
        raise CellTimeIsUp(f"stopped after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def run_cell(source: str, name: str, space: dict[str, Any]) -> None:
    """Run one cell; a last expression becomes ``_`` and ``Out[n]``."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    tree = compile(source, name, "exec", flags | ast.PyCF_ONLY_AST)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    space["In"].append(source)
    space["_iii"], space["_ii"], space["_i"] = space["_ii"], space["_i"], source
    _value(compile(tree, name, "exec", flags), space)
    if last is not None:
        value = _value(compile(ast.Expression(last.value), name, "eval", flags), space)
        if value is not None:
            space["___"], space["__"], space["_"] = space["__"], space["_"], value
            space["Out"][len(space["In"]) - 1] = value


def _value(code: types.CodeType, space: dict[str, Any]) -> Any:
    result = eval(code, space)
    return asyncio.run(result) if code.co_flags & inspect.CO_COROUTINE else result


def _message(error: BaseException) -> str:
    try:
        text = error.msg if isinstance(error, SyntaxError) and isinstance(error.msg, str) else str(error)  # without our name of the cell
        return str.__str__(text)[:300]
    except Exception:
        return ""
