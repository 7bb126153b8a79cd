"""Which files of the course's packages a chapter runs: what its cells import, what that imports, and so on.

A notebook is keyed by these files, so that a changed hint of exercise 03.2 asks for chapter 03 to be built again and for
no other. Imports are read from the text and never executed. A module that looks for files beside itself (by ``__file__``
or ``importlib.resources``) counts together with the data in its folder: so does an exercise with its page of mistakes.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

from course_utils.launcher.notebooks import digest

from .chapter import SOLUTION, Chapter

PACKAGES = ("course_utils", "course_checks")
_CODE = {".py", ".pyc"}
_BINARY = {".safetensors", ".png"}


def files_behind(chapter: Chapter, root: Path) -> list[Path]:
    """The files of the packages that a chapter depends on, sorted."""
    todo = {name for cell in chapter.cells if cell.kind == "code" for name in imported(cell.source(SOLUTION))}
    if any(cell.role == "check" for cell in chapter.cells):
        todo.add(f"course_checks.exercises.ch{chapter.number}")  # the engine imports it by the exercise's id
    todo = _ours(todo)
    seen: set[str] = set()
    files: set[Path] = set()
    while todo:
        name = todo.pop()
        seen.add(name)
        path = _file(name, root)
        if path is None:
            continue
        text, mark = path.read_text(encoding="utf-8"), path.stat().st_mtime_ns
        files.add(path)
        if "__file__" in text or "importlib.resources" in text:
            files |= {data for data in path.parent.iterdir() if data.is_file() and data.suffix not in _CODE}
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        todo |= _ours(_imports_of(path, mark, package)) - seen
    return sorted(files)


def _ours(names: set[str] | frozenset[str]) -> set[str]:
    return {name for name in names if name.split(".")[0] in PACKAGES}


def package_key(chapter: Chapter, root: Path) -> str:
    """A hash that changes when any file changes that the chapter depends on."""
    total = hashlib.sha256()
    for path in files_behind(chapter, root):
        raw = path.read_bytes()
        content = hashlib.sha256(raw).hexdigest() if path.suffix in _BINARY else digest(raw.decode("utf-8"))
        total.update(f"{path.relative_to(root).as_posix()}\n{content}\n".encode())
    return total.hexdigest()


def imported(text: str, package: str = "") -> set[str]:
    """Dotted names that a text may import, with every package above them; magics and broken text import nothing."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *filter(None, [node.module])])
            names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}  # a name may be a module
    return {".".join(name.split(".")[:length]) for name in names for length in range(1, name.count(".") + 2)}


@cache
def _imports_of(path: Path, mark: int, package: str) -> frozenset[str]:
    return frozenset(imported(path.read_text(encoding="utf-8"), package))


def _file(name: str, root: Path) -> Path | None:
    """The file of a module; None for a name that is no module (a function, say)."""
    path = root.joinpath(*name.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)
