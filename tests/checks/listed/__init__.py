"""Answers that were once judged wrongly: wrong ones that passed, right ones that were refused, false reasons.

One file a chapter, ``ch03.py``, each with a tuple ``LISTED``. Every entry is what a learner could have typed into an answer cell.
"""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from course_checks.lookup import find


@dataclass(frozen=True)
class Listed:
    """An answer: the exercise's id, what is special about it, the cell, and what the check must make of it.

    ``right``: it must pass. ``says``: texts that the panel of a wrong answer must hold. ``never``: texts that it must not hold.
    """

    exercise: str
    what: str
    cell: str
    right: bool = False
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()

    def given(self) -> str:
        """What runs before the cell."""
        return "import math, torch\nfrom torch import nn\nfrom torch.nn import functional as F"

    def answer(self) -> Any:
        """What the cell defines under the exercise's name."""
        name = f"<cell of {self.exercise}: {self.what}>"
        linecache.cache[name] = (len(self.cell), None, self.cell.splitlines(True), name)
        space: dict[str, Any] = {"__name__": "__main__"}
        exec(self.given(), space)
        exec(compile(self.cell, name, "exec"), space)
        return space[find(self.exercise).name]


@cache
def listed() -> tuple[Listed, ...]:
    """Those of every chapter."""
    files = sorted(Path(__file__).parent.glob("ch*.py"))
    return tuple(entry for file in files for entry in import_module(f"listed.{file.stem}").LISTED)
