"""What of the course lies inside the sandbox, and where the rest of it must not be seen."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import sysconfig
from collections.abc import Collection
from functools import cache
from pathlib import Path

import course_checks
from course_utils.paths import PACKAGE, ROOT

CHECKS = Path(course_checks.__file__).resolve().parent
TOOLS = Path(__file__).resolve().parents[1]
COURSE = ("course_utils", "course_checks", "course_tools")  # an installed copy of these must not be seen
BESIDE = ("solutions", "tests", ".git")  # what lies beside them in a clone
WHEEL = "attention_from_kernels_to_gpt-"  # how its wheels and archives are called
OPEN_PACKAGES = ("models", "text", "training", "show", "experiments")  # of course_utils, for submissions to import
OBSERVERS = ("again", "case", "kinds", "limits", "observation", "observe", "own_code", "plain_data", "shortcuts")  # of course_checks
WORKERS = tuple(  # of course_tools.grading
    "answer_text blocked_calls cell_names cells dependencies forkserver likeness messages other_user refused_calls reply shell wire "
    "worker".split()
)


def copy_package(folder: Path) -> None:
    """Copy into ``folder`` what submissions may import: the course without exercises, judge, launcher and authoring."""
    utils, checks, tools = (folder / name for name in COURSE)
    utils.mkdir(parents=True)
    for name in ("__init__", "paths"):
        shutil.copy2(PACKAGE / f"{name}.py", utils)
    for name in OPEN_PACKAGES:
        shutil.copytree(PACKAGE / name, utils / name, ignore=shutil.ignore_patterns("__pycache__"))
    checks.mkdir()
    shutil.copy2(TOOLS / "grading" / "inside" / "checks.py", checks / "__init__.py")
    for name in OBSERVERS:
        shutil.copy2(CHECKS / f"{name}.py", checks)
    for path in sorted((CHECKS / "exercises").glob("ch*/callables.py")):
        chapter = checks / "exercises" / path.parent.name
        _empty_package(chapter.parent, "Only what cases hand to an answer.")
        _empty_package(chapter, "Only what cases hand to an answer.")
        shutil.copy2(path, chapter)
    _empty_package(tools, "The part of the tools that runs inside.")
    _empty_package(tools / "grading", "The part of grading that runs inside.")
    shutil.copy2(TOOLS / "metadata.py", tools)
    for name in WORKERS:
        shutil.copy2(TOOLS / "grading" / f"{name}.py", tools / "grading")
    for path in (folder, *folder.rglob("*")):  # the course itself may be its owner's alone
        path.chmod(0o755 if path.is_dir() else 0o644)


def _empty_package(folder: Path, docstring: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "__init__.py").write_text(f'"""{docstring}"""\n', encoding="utf-8")


def copies_of_the_course() -> set[Path]:
    """Folders that hold oracles, or would if they existed: ours, and an installed copy wherever Python looks."""
    folders = [*sys.path, sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    return {PACKAGE, CHECKS, TOOLS, *(Path(folder).resolve() / name for folder in folders if folder for name in COURSE)}


def hidden_in(shown: Collection[Path]) -> set[Path]:
    """Everything below the folders ``shown`` that has to be covered: ours, and every copy that was installed, cloned or built there."""
    found = copies_of_the_course() | {ROOT / name for name in BESIDE}
    tops = {top for top in shown if not any(top.is_relative_to(other) for other in shown if other != top)}
    inside = {path for path in found if path.exists() and any(path.is_relative_to(top) for top in tops)}
    return inside | {path for top in tops for path in _copies_below(top)}


@cache
def _copies_below(top: Path) -> frozenset[Path]:
    """Copies of the course anywhere below a folder, found by their names: another Python's packages, a clone, a wheel."""
    found: set[Path] = set()
    waiting = [str(top)]  # texts: there are tens of thousands of folders
    while waiting:
        folder = waiting.pop()
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name in COURSE:
                    found |= {Path(folder, one) for one in (name, *BESIDE)}
                elif name.startswith(WHEEL):
                    found.add(Path(entry.path))
                elif entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    return frozenset(path for path in found if path.exists() and not path.is_symlink())
