"""Answers of learners, written by readers who saw nothing but the blank chapters: right ones in other words, and wrong ones.

One file a chapter, ``ch03.py``, each with a tuple ``BANK``; ``what`` is the mistake as a tutor would put it.
"""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from listed import Listed

# What this folder does not hold, because it is right after all: 02.5 with a tensor of one element, and 06.4 and 12b.4 with an empty
# row mended after the softmax or the division (`masked_fill` and `where` keep NaN out of the gradient there).
CHAPTERS = Path(__file__).resolve().parents[3] / "chapters"


def edit(text: str, old: str, new: str) -> str:
    """``text`` with the one place changed where ``old`` stands; ValueError when there is none, or more than one."""
    if text.count(old) != 1:
        raise ValueError(f"{old!r} stands {text.count(old)} times in\n{text}")
    return text.replace(old, new)


@dataclass(frozen=True)
class Answer(Listed):
    """An entry of the bank. It runs behind the import lines of its notebook."""

    def given(self) -> str:
        return imports(self.exercise.split(".")[0])


@cache
def imports(chapter: str) -> str:
    """What the cells of a blank chapter import."""
    notebook = json.loads(next(CHAPTERS.glob(f"{chapter}_*.ipynb")).read_text(encoding="utf-8"))
    trees = [ast.parse("".join(cell["source"])) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return "\n".join(ast.unparse(node) for tree in trees for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom)))


@cache
def bank(chapter: str) -> tuple[Answer, ...]:
    """The answers of one chapter."""
    return import_module(f"bank.ch{chapter}").BANK
