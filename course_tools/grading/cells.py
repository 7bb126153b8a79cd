"""Find the exercises in a notebook, and the cells each of them needs. Runs inside the sandbox: a notebook is hostile.

An exercise is found by its cell's metadata, and by the name of its function when metadata was lost or the cell was
duplicated, moved or renamed. Cells it needs are those that define or change a name it uses, directly or through another cell.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from ..metadata import tag_of
from .answer_text import bare, text_digest
from .cell_names import Names, names_in, plain_python, without_checks
from .dependencies import needs
from .messages import Task

MOST_CELLS, MOST_SOURCE = 2_000, 1_000_000
_CHECKED = re.compile(r"\bcheck\(\s*[\"'](\d\d[a-z]?\.\d+)[\"']")
_HIDES = re.compile(r"\b(?:exec|eval|globals|vars|locals|setattr|user_ns|user_global_ns|__dict__|builtins|run_line_magic)\b")
_RIGHT = re.compile(r"\s*✓ (\d\d[a-z]?\.\d+) [^\n]*: right \(")


class Unreadable(ValueError):
    """A notebook that cannot be graded; the message is for the feedback page."""


@dataclass
class Cell(Names):
    """A code cell: where it stands, what it says it is, and its names."""

    index: int = 0
    source: str = ""
    exercise: str | None = None
    role: str | None = None
    right: tuple[str, ...] = ()  # exercises whose check said "right" when the notebook was saved, as its output claims


def cell_of(index: int, source: str, exercise: str | None = None, role: str | None = None, right: tuple[str, ...] = ()) -> Cell:
    """A cell with the names in it."""
    source = plain_python(source)
    return Cell(**vars(names_in(source)), index=index, source=source, exercise=exercise, role=role, right=right)


@dataclass(frozen=True)
class Found:
    """An exercise in a notebook: the index of the cell that answers it, and the name that the answer has there.

    ``needs`` are the indices of the cells to run for it, ``above`` of all cells down to its check, ``checks`` of the cells that ask for
    it; ``builds_on`` names other exercises whose answers it uses, ``notes`` are for the feedback page, ``right`` is what the notebook's
    saved output claims, ``blank`` whether its text still raises NotImplementedError, ``text`` a digest of the answer as it is written,
    ``answer`` its cell without comments, to be shown to others.
    """

    cell: int
    name: str
    needs: list[int]
    above: list[int]
    checks: list[int]
    builds_on: list[str]
    notes: list[str]
    right: bool = False
    blank: bool = False
    text: str = ""
    answer: str = ""


def read_notebook(data: bytes) -> list[Cell]:
    """Code cells of a notebook, format 4 or 3; Unreadable, with the reason, for anything else."""
    found = []
    for index, cell in enumerate(_raw_cells(data)[:MOST_CELLS]):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", cell.get("input", ""))
        source = "".join(s for s in source if isinstance(s, str)) if isinstance(source, list) else source
        if isinstance(source, str) and len(source) <= MOST_SOURCE:
            found.append(cell_of(index, source, *tag_of(cell), _said_right(cell.get("outputs"))))
    return found


def _raw_cells(data: bytes) -> list[Any]:
    """The cells as the file has them, whatever they are."""
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise Unreadable("this file is not a notebook: it is not readable as JSON") from None
    if not isinstance(notebook, dict):
        raise Unreadable("this file is not a notebook: it holds no object")
    cells = notebook.get("cells")
    if isinstance(cells, list):
        return cells
    sheets = notebook.get("worksheets")  # format 3 kept them there
    if not isinstance(sheets, list) or not sheets or not isinstance(sheets[0], dict) or not isinstance(sheets[0].get("cells"), list):
        raise Unreadable("this file is not a notebook: it has no cells")
    return [cell for sheet in sheets if isinstance(sheet, dict) for cell in sheet.get("cells") or []]


def _said_right(outputs: Any) -> tuple[str, ...]:
    """Exercises that a cell's saved output calls right; anybody can write that, so it decides nothing."""
    found = []
    for output in outputs if isinstance(outputs, list) else []:
        data = output.get("data") if isinstance(output, dict) else None
        text = data.get("text/plain") if isinstance(data, dict) else None
        text = "".join(part for part in text if isinstance(part, str)) if isinstance(text, list) else text
        match = _RIGHT.match(text[:300]) if isinstance(text, str) else None
        found += [match[1]] if match else []
    return tuple(found)


def _likely(answers: list[Cell], exercises: dict[str, str], places: dict[str, str]) -> set[str]:
    """Places of a notebook without metadata: those of which it defines most names. A cell of the course may define a helper that has
    the name of another chapter's exercise; one or two such names make no hand-in of that chapter."""
    defined = {name for cell in answers for name in cell.defines}
    all_of = Counter(places[exercise] for exercise in exercises)
    here = Counter(places[exercise] for exercise, name in exercises.items() if name in defined)
    shares = {place: number / all_of[place] for place, number in here.items()}
    return {place for place, share in shares.items() if share >= max(shares.values()) / 2}


def cells_for(task: Task, found: dict[str, Found], sources: dict[int, str]) -> list[tuple[int, str]] | None:
    """The cells to run for a task, with their numbers; below the checks of helpers what puts the course's version in their place (such a
    line has a number below 0). None where a name is not known and no cell that was not run mentions it."""
    one = found[task.exercise]
    others = "\n".join(sources[index] for index in one.above if index not in one.needs)
    if task.unknown and not re.search(rf"\b{re.escape(task.unknown)}\b", others) and not _HIDES.search(others):
        return None
    lines = [(index, 0, sources[index]) for index in (one.above if task.everything else one.needs)]
    for number, (helper, (asked, text)) in enumerate(task.helpers.items()):
        its = found[helper]
        names = " = ".join(sorted({asked, its.name} - {one.name}))
        given = f"_given = {{'__name__': 'given'}}\nexec({text!r}, _given)\n{names} = _given['version']"
        lines += [(index, 1 + number, given) for index in {its.cell, *its.checks} if index >= its.cell]
    return [(-place if turn else index, source) for place, (index, turn, source) in enumerate(sorted(lines))]


def is_check(cell: Cell) -> bool:
    """A cell that asks for a check, or hands the checked version on: grading asks for itself."""
    return cell.role == "check" or bool(_CHECKED.search(cell.source))


def find(cells: list[Cell], exercises: dict[str, str], places: dict[str, str]) -> dict[str, Found]:
    """Exercises that are in a notebook, by id. ``exercises`` maps ids to the names that are asked for, ``places`` to the notebook in
    which each stands: a chapter, or a companion."""
    tagged = {cell.exercise for cell in cells if cell.role == "answer" and cell.exercise}
    answers = [cell for cell in map(_unchecked, cells) if cell is not None]
    here = {places[exercise] for exercise in tagged & set(exercises)} or _likely(answers, exercises, places)
    untagged = Counter(name for exercise, name in exercises.items() if exercise not in tagged)
    right = {exercise for cell in cells for exercise in cell.right}
    found: dict[str, Found] = {}
    for exercise, asked in exercises.items():
        if here and places[exercise] not in here:
            continue  # one notebook may define a helper that has the name of another one's exercise
        one = _find_one(cells, answers, exercise, asked, untagged, right)
        if one is not None:
            found[exercise] = one
    uses = {cell.index: cell.uses for cell in answers}
    return {
        exercise: replace(one, builds_on=[other for other, its in found.items() if its is not one and _builds_on(one, its, uses)])
        for exercise, one in found.items()
    }


def _builds_on(one: Found, other: Found, uses: dict[int, set[str]]) -> bool:
    """Whether an answer uses another one; where both stand in one cell, by its name."""
    return other.cell in one.needs and one.name != other.name and (one.cell != other.cell or other.name in uses[one.cell])


def _find_one(cells: list[Cell], answers: list[Cell], exercise: str, asked: str, untagged: Counter[str], right: set[str]) -> Found | None:
    """One exercise in a notebook, not yet with the answers that it builds on; None where it is not there."""
    own = [cell for cell in answers if cell.exercise == exercise and cell.role == "answer"]
    name = _name_in(cells, answers, own, exercise, asked)
    asking = {cell.index for cell in cells if is_check(cell) and exercise in _CHECKED.findall(cell.source)}
    chosen, notes = _choose(answers, own, name, alone=untagged[name] <= 1, asking=asking)
    if chosen is None:
        return None
    end = max(asking | {chosen.index})
    needed = needs(chosen, answers, end)
    above = [c.index for c in answers if c.index <= end]
    texts = text_digest(chosen.source, name), bare(chosen.source)
    return Found(chosen.index, name, needed, above, sorted(asking), [], notes, exercise in right, name in chosen.blank, *texts)


def runnable(cells: list[Cell]) -> dict[int, str]:
    """Index → text of the cells as grading runs them: without what asks for a check."""
    return {cell.index: cell.source for cell in map(_unchecked, cells) if cell is not None}


def _unchecked(cell: Cell) -> Cell | None:
    """A cell as it is without its checks; None where nothing is left."""
    if not is_check(cell):
        return cell
    rest = without_checks(cell.source)
    return cell_of(cell.index, rest, cell.exercise, cell.role) if rest.strip() else None


def _name_in(cells: list[Cell], answers: list[Cell], own: list[Cell], exercise: str, name: str) -> str:
    """The name that an answer has in this notebook; a student may have changed it."""
    called = checked_name(cells, exercise)
    if called and not any(name in cell.defines for cell in own or answers):
        name = called  # the name that the notebook itself hands to the check
    if own and not any(name in cell.defines for cell in own) and len(own[-1].defines) == 1 and not own[-1].uses:
        (name,) = own[-1].defines  # a prediction: the cell holds one table and nothing else
    return name


def _choose(answers: list[Cell], own: list[Cell], name: str, alone: bool, asking: set[int]) -> tuple[Cell | None, list[str]]:
    """The cell that counts, and what to say of the choice: the exercise's own cell if it is solved, else one elsewhere that is.

    ``asking``: the cells that ask for its check. ``alone``: no other exercise without a cell of its own asks for the name; else nobody
    can tell whose a cell without metadata is.
    """
    mine = [cell for cell in own if name in cell.defines]
    others = _others(answers, own, name) if mine or alone else []
    solved = [cell for cell in mine if name not in cell.blank]
    elsewhere = [cell for cell in others if name not in cell.blank]
    with_check = [cell for cell in elsewhere if cell.index in asking]  # defined right above its check, in the same cell: that is checked
    start, end = max((cell.index for cell in own), default=-1), max(asking, default=-1)
    between = [cell for cell in answers if name in cell.defines - cell.blank and start < cell.index < end]  # in another one's cell
    candidates = with_check or solved or elsewhere or (between if alone else []) or mine or others or own
    if not candidates:
        return None, []
    return candidates[-1], _remarks(candidates[-1], own, mine, solved, name)


def _others(answers: list[Cell], own: list[Cell], name: str) -> list[Cell]:
    """Cells elsewhere that define the name and are nobody's answer."""
    return [cell for cell in answers if name in cell.defines and cell not in own and (cell.exercise is None or cell.role != "answer")]


def _remarks(chosen: Cell, own: list[Cell], mine: list[Cell], solved: list[Cell], name: str) -> list[str]:
    """What the feedback says of the cell that was chosen."""
    notes = []
    if chosen not in own:
        why = "its own cell is blank" if mine else "its own cell does not define it" if own else "its cell or its metadata was lost"
        notes.append(f"found by the name `{name}` in cell {chosen.index + 1}: {why}")
    elif len(solved) > 1:
        notes.append(f"{len(solved)} cells of this exercise define `{name}`: the last one counts (cell {chosen.index + 1})")
    if name not in chosen.defines | chosen.imported and chosen.broken is None:
        notes.append(f"cell {chosen.index + 1} does not define `{name}`: was it renamed?")
    return notes


def checked_name(cells: list[Cell], exercise: str) -> str | None:
    """The name that the last check cell of this exercise passes: ``check("03.3", prediction_of_spread)``."""
    calls = [re.search(r"\bcheck\(\s*[\"']" + re.escape(exercise) + r"[\"']\s*,\s*(\w+)\s*\)", cell.source) for cell in cells]
    names = [call.group(1) for call in calls if call]
    return names[-1] if names else None
