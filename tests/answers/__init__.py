"""Answers as people typed them: right ones in other words, wrong ones that no misconception names, and what was once judged wrongly.

One page a chapter, ``ch03.md``, in the form of an exercise's page of mistakes: a heading with the exercise and what is special about the
answer, whether it passes, and the code. Code is a change of the solution's answer (its docstrings left out), or a whole in a fence::

    ## 03.2 a low fill instead of minus infinity
    fails; says "a low fill"; never "by accident"
    - scores = scores.masked_fill(~mask, -torch.inf)
    + scores = scores.masked_fill(~mask, -1e9)

``once`` behind ``passes`` or ``fails`` marks an answer that a check once judged wrongly. ``from "…"`` names the entry of the same exercise
that is changed, where it is not the solution. ``seen "…"`` says where the same was published by somebody who did not know this course:
``python benchmarks/judge_record.py`` counts how those are judged.
"""

import ast
import json
import linecache
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from course_checks.changes import Change, read_change
from course_checks.lookup import find, in_chapter
from course_utils.launcher.notebooks import chapters_in
from course_utils.paths import ROOT

USUAL = "import math, torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"
PAGES = Path(__file__).resolve().parent
VERDICT = re.compile(r'(passes|fails)( once)?((?:; (?:says|never|from|seen) "[^"]+")*)')


@dataclass(frozen=True)
class Answer:
    """An entry: ``says`` are texts that the panel must hold, ``never`` texts that it must not hold."""

    exercise: str
    what: str
    change: Change
    passes: bool
    once: bool = False
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    other: str = ""  # the entry that this one changes; the solution without it
    seen: str = ""  # where it was published

    def code(self) -> str:
        """What stands in the answer cell."""
        if self.change.whole:
            return self.change.whole
        return self.change.made(entry(self.exercise, self.other).code() if self.other else base(self.exercise))

    def answer(self) -> Any:
        """What the cell defines under the exercise's name, behind the usual imports and those of its notebook."""
        return run(self.exercise, self.code(), self.what)


def run(exercise: str, code: str, what: str) -> Any:
    """What an answer cell defines; its lines can be shown in a traceback."""
    name = f"<cell of {exercise}: {what}>"
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    before = [other for other in in_chapter(exercise.split(".")[0]).values() if other.runs and other.id != exercise]
    space: dict[str, Any] = {"__name__": "__main__", **{other.name: other.reference for other in before}}  # result.use of earlier cells
    exec(USUAL + imports(exercise.split(".")[0]), space)
    exec(compile(code, name, "exec"), space)
    return space[find(exercise).name]


@cache
def answers(chapter: str) -> tuple[Answer, ...]:
    """The entries of a chapter's page. ValueError for one in another form."""
    path = PAGES / f"ch{chapter}.md"
    return tuple(map(_entry, re.split(r"(?m)^## +", path.read_text(encoding="utf-8"))[1:])) if path.exists() else ()


def entry(exercise: str, what: str) -> Answer:
    """The entry of this name."""
    return next(answer for answer in answers(exercise.split(".")[0]) if (answer.exercise, answer.what) == (exercise, what))


def right_ones(exercise: str) -> list[Any]:
    """Right answers to an exercise, written differently from its solution."""
    return [one.answer() for one in answers(exercise.split(".")[0]) if one.exercise == exercise and one.passes]


def _entry(text: str) -> Answer:
    heading, verdict, body = [*text.split("\n", 2), "", ""][:3]
    exercise, _, what = heading.partition(" ")
    found = VERDICT.fullmatch(verdict.strip())
    change = read_change(body)
    if found is None or not what or not (change.edits or change.whole) or change.others:
        raise ValueError(f"## {heading}: a verdict and a change are wanted, not {verdict!r} {change.others}")
    says, never, other, seen = (tuple(re.findall(rf'; {word} "([^"]+)"', found[3])) for word in ("says", "never", "from", "seen"))
    return Answer(exercise, what, change, found[1] == "passes", bool(found[2]), says, never, "".join(other), ", ".join(seen))


@cache
def imports(chapter: str) -> str:
    """What the cells of a blank chapter import, and what they take from ``mine``."""
    trees = [ast.parse("".join(cell["source"])) for cell in notebook("chapters", chapter) if cell["cell_type"] == "code"]
    return "\n".join(ast.unparse(node) for tree in trees for node in tree.body if _is_taken(node))


def _is_taken(node: ast.stmt) -> bool:
    called = {ast.unparse(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)}
    return isinstance(node, (ast.Import, ast.ImportFrom)) or isinstance(node, ast.Assign) and called == {"mine"}


@cache
def bases(chapter: str) -> dict[str, str]:
    """The solution's answer cells of a chapter, without docstrings."""
    cells = [(cell["metadata"].get("course", {}), "".join(cell["source"])) for cell in notebook("solutions", chapter)]
    return {course["exercise"]: plain(source) for course, source in cells if course.get("role") == "answer"}


def notebook(folder: str, chapter: str) -> list[dict[str, Any]]:
    """The cells of a chapter's notebook, and behind them its companion's."""
    return [cell for path in chapters_in(ROOT / folder, chapter) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]


def base(exercise: str) -> str:
    """The solution's answer to an exercise, without docstrings."""
    return bases(exercise.split(".")[0])[exercise]


def plain(code: str) -> str:
    """Code without its docstrings and empty lines."""
    gone: set[int] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None and len(node.body) > 1:
            first = node.body[0]
            gone.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return "\n".join(line for number, line in enumerate(code.split("\n"), 1) if number not in gone and line.strip()) + "\n"
