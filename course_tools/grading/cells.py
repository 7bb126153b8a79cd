"""Find the exercises in a notebook, and the cells each of them needs. Runs inside the sandbox: a notebook is hostile.

An exercise is found by its cell's metadata, and by the name of its function when metadata was lost or the cell was
duplicated, moved or renamed. Cells it needs are those that define a name it uses, directly or through another cell.
"""

from __future__ import annotations

import ast
import builtins
import json
import re
import symtable
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

MOST_CELLS, MOST_SOURCE = 2_000, 1_000_000


class Unreadable(ValueError):
    """A notebook that cannot be graded; the message is for the feedback page."""


@dataclass
class Cell:
    """A code cell: what it says it is, which names it defines and which it uses."""

    index: int
    source: str
    exercise: str | None = None
    role: str | None = None
    defines: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)
    blank: set[str] = field(default_factory=set)
    imported: set[str] = field(default_factory=set)
    broken: str | None = None


def read_notebook(data: bytes) -> list[Cell]:
    """Code cells of a notebook, format 4 or 3; Unreadable, with the reason, for anything else."""
    try:
        book = json.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise Unreadable("this file is not a notebook: it is not readable as JSON") from None
    if not isinstance(book, dict):
        raise Unreadable("this file is not a notebook: it holds no object")
    cells = book.get("cells")
    if not isinstance(cells, list):  # format 3 kept them in worksheets
        sheets = book.get("worksheets")
        if not isinstance(sheets, list) or not sheets or not isinstance(sheets[0], dict) or not isinstance(sheets[0].get("cells"), list):
            raise Unreadable("this file is not a notebook: it has no cells")
        cells = [cell for sheet in sheets if isinstance(sheet, dict) for cell in sheet.get("cells") or []]
    found = []
    for index, cell in enumerate(cells[:MOST_CELLS]):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", cell.get("input", ""))
        source = "".join(s for s in source if isinstance(s, str)) if isinstance(source, list) else source
        if not isinstance(source, str) or len(source) > MOST_SOURCE:
            continue
        metadata = cell.get("metadata")
        course = metadata.get("course") if isinstance(metadata, dict) else None
        exercise, role = (course.get("exercise"), course.get("role")) if isinstance(course, dict) else (None, None)
        found.append(analysed(Cell(index, plain_python(source), exercise if isinstance(exercise, str) else None,
                                   role if isinstance(role, str) else None)))
    return found


def plain_python(source: str) -> str:
    """A cell without what only a notebook understands: magics, shell lines and help requests become comments."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    if re.match(r"\s*%%(?!time|capture|timeit)", source):
        return "\n".join("# " + line for line in source.split("\n"))
    lines = []
    for line in source.split("\n"):
        bare = line.lstrip()
        magic = bare.startswith(("%", "!")) or (bare.startswith("?") or re.match(r"[\w.]+\?{1,2}\s*$", bare))
        lines.append(line[: len(line) - len(bare)] + "pass  # " + bare if magic and not bare.startswith("%%") else
                     "# " + bare if magic else line)
    return "\n".join(lines)


def analysed(cell: Cell) -> Cell:
    """Fill in names; a cell that does not parse says so in ``broken`` and defines what its text seems to define."""
    try:
        tree = ast.parse(cell.source)
        compile(cell.source, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        cell.broken = f"{type(error).__name__}: {getattr(error, 'msg', error)}" + (f" (line {line})" if line else "")
        cell.defines = {a or b for a, b in re.findall(r"^(?:def|class)\s+(\w+)|^(\w+)\s*=", cell.source, re.M)}
        return cell
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and any(map(_raises_not_implemented, ast.walk(node))):
            cell.blank.add(node.name)
    for node in _walk_outside_functions(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            cell.defines.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            cell.defines.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            cell.imported |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    cell.imported -= cell.defines  # what is imported is nobody's answer, but other cells may need it
    cell.uses = global_names(symtable.symtable(cell.source, "cell", "exec")) - (set(dir(builtins)) - cell.defines - cell.imported)
    return cell


def global_names(table: symtable.SymbolTable) -> set[str]:
    """Names that are looked up in the notebook, not parameters or variables of a function."""
    top = table.get_type() == "module"
    found = {s.get_name() for s in table.get_symbols() if s.is_referenced() and (top or s.is_global())}
    return found.union(*(global_names(child) for child in table.get_children()))


def _raises_not_implemented(node: ast.AST) -> bool:
    if not isinstance(node, ast.Raise):
        return False
    target = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return isinstance(target, ast.Name) and target.id == "NotImplementedError"


def _walk_outside_functions(tree: ast.AST) -> list[ast.AST]:
    """Nodes that belong to the cell's own level: a name stored inside a function is not defined here."""
    found, todo = [], list(ast.iter_child_nodes(tree))
    while todo:
        node = todo.pop()
        found.append(node)
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp,
                                 ast.DictComp, ast.GeneratorExp)):
            todo += ast.iter_child_nodes(node)
    return found


def is_check(cell: Cell) -> bool:
    """A cell that asks for a check, or hands the checked version on: grading asks for itself."""
    return cell.role == "check" or bool(re.search(r"\bcheck\(\s*[\"']\d\d[a-z]?\.\d+[\"']", cell.source))


def find(cells: list[Cell], exercises: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Exercises that are in a notebook: ``{id: {"cell": index, "name": …, "needs": [index, …], "builds_on": [id, …], "notes": […]}}``.

    ``exercises`` maps ids to the names that are asked for.
    """
    tagged = {cell.exercise for cell in cells if cell.role == "answer"}
    chapters = {exercise.split(".")[0] for exercise in tagged & set(exercises)}
    answers = [cell for cell in cells if not is_check(cell)]
    untagged = Counter(name for exercise, name in exercises.items() if exercise not in tagged)
    found: dict[str, dict[str, Any]] = {}
    for exercise, asked in exercises.items():
        if chapters and exercise.split(".")[0] not in chapters:
            continue  # the notebook of one chapter may define a helper that has the name of another chapter's exercise
        own = [cell for cell in answers if cell.exercise == exercise and cell.role == "answer"]
        name = _name_in(cells, answers, own, exercise, asked)
        chosen, notes = _choose(answers, own, name, alone=untagged[name] <= 1)
        if chosen is None:
            continue
        needed = needs(chosen, answers)
        below = {c.exercise for c in answers if c.index in needed and c.role == "answer" and c.exercise in exercises} - {exercise}
        found[exercise] = {"cell": chosen.index, "name": name, "needs": needed, "builds_on": sorted(below), "notes": notes}
    return found


def _name_in(cells: list[Cell], answers: list[Cell], own: list[Cell], exercise: str, name: str) -> str:
    """The name that an answer has in this notebook; a student may have changed it."""
    called = checked_name(cells, exercise)
    if called and not any(name in cell.defines for cell in own or answers):
        name = called  # the name that the notebook itself hands to the check
    if own and not any(name in cell.defines for cell in own) and len(own[-1].defines) == 1 and not own[-1].uses:
        name, = own[-1].defines  # a prediction: the cell holds one table and nothing else
    return name


def _choose(answers: list[Cell], own: list[Cell], name: str, alone: bool) -> tuple[Cell | None, list[str]]:
    """The cell that counts, and what to say of the choice: the exercise's own cell if it is solved, else one elsewhere that is.

    ``alone``: no other exercise without a cell of its own asks for the name; else nobody can tell whose a cell without metadata is.
    """
    mine = [cell for cell in own if name in cell.defines]
    others = [cell for cell in answers if name in cell.defines and cell not in own and (cell.exercise is None or cell.role != "answer")]
    if not mine and not alone:
        others = []
    solved = [cell for cell in mine if name not in cell.blank]
    elsewhere = [cell for cell in others if name not in cell.blank]
    candidates = solved or elsewhere or mine or others or own
    if not candidates:
        return None, []
    chosen, notes = candidates[-1], []
    if chosen not in own:
        why = "its own cell is blank" if mine else "its own cell does not define it" if own else "its metadata was lost"
        notes.append(f"found by the name `{name}` in cell {chosen.index + 1}: {why}")
    elif len(solved) > 1:
        notes.append(f"{len(solved)} cells of this exercise define `{name}`: the last one counts (cell {chosen.index + 1})")
    if name not in chosen.defines and chosen.broken is None:
        notes.append(f"cell {chosen.index + 1} does not define `{name}`: was it renamed?")
    return chosen, notes


def checked_name(cells: list[Cell], exercise: str) -> str | None:
    """The name that the last check cell of this exercise passes: ``check("03.3", prediction_of_spread)``."""
    calls = [re.search(r"\bcheck\(\s*[\"']" + re.escape(exercise) + r"[\"']\s*,\s*(\w+)\s*\)", cell.source) for cell in cells]
    names = [call.group(1) for call in calls if call]
    return names[-1] if names else None


def needs(cell: Cell, cells: list[Cell]) -> list[int]:
    """Indices of the cells to run for ``cell``, in the notebook's order: those that define what is used, and so on.

    The nearest definition above is taken, and the nearest below if there is none above (a notebook can be run out of order).
    """
    chosen, todo = {cell.index}, [(name, cell) for name in cell.uses]
    while todo:
        name, user = todo.pop()
        holders = [c for c in cells if name in c.defines | c.imported and c is not user]
        above = [c for c in holders if c.index < user.index]
        below = [] if above or name in user.defines | user.imported else [c for c in holders if c.index > user.index]
        intact = [c for c in above if c.broken is None]
        helpers = intact[-1:] or above[-1:] or below[:1]
        for helper in helpers:
            if helper.index not in chosen:
                chosen.add(helper.index)
                todo += [(used, helper) for used in helper.uses]
    return sorted(chosen)
