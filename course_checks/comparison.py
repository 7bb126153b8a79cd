"""A right answer beside the course's own, with the difference between them."""

import ast
import json
import linecache
import re
import textwrap
import timeit
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import torch

from course_utils.launcher.notebooks import chapters_in
from course_utils.paths import PACKAGE, ROOT

from .case import Case
from .exercise import Exercise
from .observe import neutral_torch, observe
from .own_code import functions_of, namespaces_of

STYLE = " ".join((PACKAGE / "show" / "lab" / "panel.css").read_text(encoding="utf-8").split())  # of every panel
NOTES = dict(re.findall(r"^- (.+?): (.+)$", Path(__file__).with_name("operations.md").read_text(encoding="utf-8"), re.MULTILINE))


@dataclass
class Comparison:
    """Two pieces of code and what is said about them; drawn side by side, or one above the other where the page is narrow."""

    sentence: str
    own: str = ""
    ours: str = ""

    def __repr__(self) -> str:
        parts = [f"{head}\n{textwrap.indent(code, '    ')}" for head, code in (("Yours", self.own), ("The course's", self.ours)) if code]
        return "\n\n".join([*parts, self.sentence])

    def _repr_html_(self) -> str:
        box = "<div><b>{}</b><pre tabindex='0'>{}</pre></div>"
        codes = ("Yours", self.own, self.ours), ("The course’s", self.ours, self.own)
        columns = "".join(box.format(head, _marked(code, other)) for head, code, other in codes if code)
        return f"<style>{STYLE}</style><div class='course-panel'><div class='codes'>{columns}</div><p>{escape(self.sentence)}</p></div>"


def _marked(code: str, other: str) -> str:
    """Lines of code as HTML; those that the other has not are marked."""
    theirs = {line.strip() for line in (other or code).splitlines()}
    return "".join(f"<span{'' if line.strip() in theirs else ' class=other'}>{escape(line) or ' '}</span>" for line in code.splitlines())


def _undocumented(code: str) -> str:
    """Code without its docstrings."""
    for node in ast.walk(ast.parse(whole := code)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) and len(node.body) > 1:
            code = code.replace(ast.get_source_segment(whole, node.body[0]) or "", "", 1)
    return re.sub(r"(?m)^[ \t]+\n", "", code)


def compare(exercise: Exercise, answer: Any, cases: list[Case]) -> Comparison:
    """The cell that defines ``answer``, the course's solution, and what differs; both are timed on the largest case.

    The solution runs where the answer runs, among the names of the notebook; where it cannot, nothing is timed.
    """
    if not exercise.runs:
        return Comparison("A right prediction is the same for everybody: there is no code to compare.")
    own = "".join(linecache.getlines(functions_of(answer)[0].__code__.co_filename)).strip() if functions_of(answer) else ""
    ours = _solution(exercise)
    if not ours or not own:
        lost = "This copy of the course comes without its solutions: ask your instructor for them."
        return Comparison("Your code is not to be found: it was not typed into a cell." if ours else lost, own, ours)
    case = max((case for case in cases if case.rejects is None), key=lambda case: _size(case.args))
    space, clock = dict(namespaces_of(answer)[0]), ""
    try:
        exec(compile(ours, "<the course's solution>", "exec"), space)
        mine, theirs = (_seconds(exercise, code, case) for code in (answer, space[exercise.name]))
        clock = f" On the largest input of this check yours takes {mine * 1e3:.2g} ms and the course's {theirs * 1e3:.2g} ms."
    except Exception:  # the notebook lacks a name that the solution needs
        pass
    return Comparison(_difference(own, ours) + clock, _undocumented(own), _undocumented(ours))


def _difference(own: str, ours: str) -> str:
    """What only one of the two uses, and what the weightiest of it is good for."""
    used = [_operations(ast.parse(code)) for code in (own, ours)]
    only = [sorted(used[0] - used[1], key=_weight)[:4], sorted(used[1] - used[0], key=_weight)[:4]]
    parts = [f"{who} uses {', '.join(names)}" for who, names in zip(("yours", "the course's"), only, strict=True) if names]
    if not parts:
        return "Both use the same operations; only names, order or comments differ."
    first, text = min([*only[0], *only[1]], key=_weight), ", ".join(parts)
    note = f": {NOTES[first]}" if first in NOTES else ", and the other does not" if len(parts) == 1 else ""
    return f"{text[0].upper()}{text[1:]}{note}. The results were the same in every case of this check."


def _weight(name: str) -> tuple[int, str]:
    return ([*NOTES, name].index(name), name)


def _operations(tree: ast.Module) -> set[str]:
    """Names of what is called, and constructions worth a word."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.While, ast.comprehension)):
            found.add("a loop")
        elif isinstance(node, ast.Call):
            found.add(node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", ""))
        elif isinstance(node, ast.MatMult):
            found.add("@")
    return found - {"", "float", "int", "tuple", "ValueError", "super", "__init__", "len", "str", "list"}


def _solution(exercise: Exercise) -> str:
    """The answer cell of the solved chapter; empty in a copy without solutions."""
    for path in chapters_in(ROOT / "solutions", exercise.id.split(".")[0]):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            course = cell["metadata"].get("course", {})
            if (course.get("exercise"), course.get("role")) == (exercise.id, "answer"):
                return "".join(cell["source"]).strip()
    return ""


def _seconds(exercise: Exercise, answer: Any, case: Case) -> float:
    """Seconds of one call, the fastest of five."""
    with neutral_torch():
        return min(timeit.repeat(lambda: observe(exercise.kind, answer, case.args), number=1, repeat=5))


def _size(value: Any) -> int:
    """How many numbers, or characters, the arguments of a case hold."""
    if isinstance(value, (dict, list)):
        return sum(_size(item) for item in (value.values() if isinstance(value, dict) else value))
    return value.numel() if isinstance(value, torch.Tensor) else len(value) if isinstance(value, str) else 0
