"""The course's version of an exercise as a text that runs by itself in the sandbox, for other answers of a notebook to go on with."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from functools import cache
from pathlib import Path

from course_checks.lookup import find
from course_utils.mine.text import first_line, global_names, tidy

from .package_copy import OPEN_PACKAGES

VERSION = "version"  # the name that the text gives it
_INSIDE = tuple(f"course_utils.{package}" for package in OPEN_PACKAGES)


def may_help(helper: str, exercise_id: str) -> bool:
    """Whether the course's version of one exercise may be inside while another is judged: it must not hold the other's answer."""
    text, name = helper_text(helper), re.escape(find(exercise_id).name)
    return bool(text) and not re.search(rf"^(?:def|class) {name}\b", text, re.MULTILINE)


@cache
def helper_text(exercise_id: str) -> str:
    """What the check of an exercise hands on where the answer is not right; empty where that cannot be had inside."""
    exercise = find(exercise_id)
    module, name = getattr(exercise.reference, "__module__", ""), getattr(exercise.reference, "__qualname__", "")
    if not exercise.runs or not name.isidentifier() or module not in sys.modules:
        return ""
    if module.startswith(_INSIDE):
        return f"from {module} import {name} as {VERSION}\n"
    found = _Gathered()
    try:
        found.add(module, name)
    except LookupError:
        return ""
    if any(re.search(r"^\s+from \.", part, re.MULTILINE) for part in found.parts.values()):  # an import inside a function
        return ""
    return tidy(found.imports, [*found.parts.values(), f"{VERSION} = {name}"])


class _Gathered:
    """Import lines, and by module and name the statements that a name needs, in an order that runs."""

    def __init__(self) -> None:
        self.imports: list[str] = []
        self.parts: dict[tuple[str, str], str] = {}
        self.names: dict[str, str] = {}  # what each name stands for: an import line, or the module that defines it

    def add(self, module: str, name: str) -> None:
        """Add what defines ``name`` in one of the course's modules, after everything that it uses. LookupError where that does not lie
        inside, or where two things have one name."""
        source = Path(sys.modules[module].__file__ or "").read_text(encoding="utf-8")
        lines = source.split("\n")
        for node in ast.parse(source).body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias in node.names:
                    if (alias.asname or alias.name.split(".")[0]) == name:
                        return self._imported(module, node, alias)
            elif name in _bound(node):
                return self._defined(module, name, "\n".join(lines[first_line(node) - 1 : node.end_lineno]))
        raise LookupError(name)

    def _defined(self, module: str, name: str, text: str) -> None:
        if self._known(name, module):
            return
        others = dir(sys.modules[module])
        for used in global_names(text):
            if used != name and used in others:
                self.add(module, used)
        self.parts[module, name] = text

    def _imported(self, module: str, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> None:
        name, ending = alias.asname or alias.name, f" as {alias.asname}" if alias.asname else ""
        if isinstance(node, ast.Import):
            home, line = alias.name, f"import {alias.name}{ending}"
        else:
            home = importlib.util.resolve_name("." * node.level + (node.module or ""), module.rpartition(".")[0])
            line = f"from {home} import {alias.name}{ending}"
        if not home.startswith("course_checks."):
            if home.startswith("course_") and not home.startswith(_INSIDE):
                raise LookupError(home)
            if not self._known(name, line):
                self.imports.append(line)
            return
        importlib.import_module(home)
        self.add(home, alias.name)
        if ending and not self._known(name, line):
            self.parts[home, name] = f"{name} = {alias.name}"

    def _known(self, name: str, meaning: str) -> bool:
        """Whether a name was added before; LookupError where it stood for something else."""
        known = name in self.names
        if self.names.setdefault(name, meaning) != meaning:
            raise LookupError(name)
        return known


def _bound(node: ast.stmt) -> set[str]:
    """The names that a statement of a module defines."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
