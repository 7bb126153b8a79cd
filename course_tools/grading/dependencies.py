"""Which cells of a notebook have to run before another one: those that give its names their values, or change them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cells import Cell

LAST_VALUES = ("_", "__", "___")  # of the expressions that cells ended in


def needs(cell: Cell, cells: Sequence[Cell], end: int | None = None, changes: bool = True) -> list[int]:
    """Indices of the cells to run for ``cell``, in the notebook's order: those that define or change what is used, and so on.

    The nearest definition above is taken, and the nearest below if there is none above (a notebook can be run out of order); with it
    what changes the name from there down to cell ``end``, where the check stands (None: down to ``cell``), unless ``changes`` is False.
    """
    return Dependencies(cells, cell.index if end is None else end, changes).behind(cell)


class Dependencies:
    """The cells of a notebook by the names that they give and change, as far down as cell ``end``."""

    def __init__(self, cells: Sequence[Cell], end: int, changes: bool = True):
        self.cells, self.end, self.changes = cells, end, changes
        setters = {function: names for cell in cells for function, names in cell.sets.items()}
        self.gives = {
            cell.index: (cell.defines | cell.imported).union(*(setters.get(function, ()) for function in cell.calls)) for cell in cells
        }
        changed = {name for cell in cells for name in cell.defines - cell.functions}
        self.functions = {name for cell in cells for name in cell.functions} - changed
        self.imported = {name for cell in cells for name in cell.imported - cell.defines}

    def behind(self, cell: Cell) -> list[int]:
        """Indices of ``cell`` and of all cells that it depends on, directly or through others."""
        chosen, todo = {cell.index}, [(name, cell) for name in sorted(cell.uses | cell.files)]
        asked = {(name, cell.index) for name in cell.uses | cell.files}
        while todo:
            name, user = todo.pop()
            for helper in self.helpers(name, user):
                chosen.add(helper.index)
                for used in helper.uses | helper.files | ({name} & (helper.touches | helper.handed)):
                    if (used, helper.index) not in asked:
                        asked.add((used, helper.index))
                        todo.append((used, helper))
        return sorted(chosen)

    def helpers(self, name: str, user: Cell) -> list[Cell]:
        """The cells that make ``name`` what it is when ``user`` looks it up."""
        holders = [cell for cell in self.cells if name in self.gives[cell.index] and cell is not user]
        found = self.definers(name, user, holders)
        if self.changes:
            found += self.changers(name, user, found[0].index if found else user.index)
        if not holders and " " not in name:  # a file that is imported is no variable
            found += self.opaque()
        if name in LAST_VALUES:
            found += [cell for cell in self.cells if cell.shows and cell.index < user.index][-len(LAST_VALUES) :]
        return found

    @staticmethod
    def definers(name: str, user: Cell, holders: list[Cell]) -> list[Cell]:
        """The one of its ``holders`` from which ``user`` has the name: the nearest above that runs, else the nearest below; or none."""
        above = [cell for cell in holders if cell.index < user.index]
        if above:
            return [cell for cell in above if cell.broken is None][-1:] or above[-1:]
        if name in user.defines | user.imported:
            return []
        return [cell for cell in holders if cell.index > user.index][:1]

    def changers(self, name: str, user: Cell, start: int) -> list[Cell]:
        """Cells between ``start`` and the end that give the name anew, or change what it holds. What was imported nobody changes."""
        return [
            cell
            for cell in self.cells
            if start < cell.index <= self.end and cell is not user and cell.broken is None and self._changes(name, cell)
        ]

    def _changes(self, name: str, cell: Cell) -> bool:
        touched = name in cell.touches or (name in cell.handed and name not in self.functions)
        return name in self.gives[cell.index] or (touched and name not in self.imported)

    def opaque(self) -> list[Cell]:
        """Cells whose text does not tell which names they give: a star import, ``exec``, ``globals()``. Anything may come from them."""
        return [cell for cell in self.cells if (cell.star or cell.hidden) and cell.index <= self.end]
