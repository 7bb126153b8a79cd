"""What a chapter may ask of its reader: the budgets, and a chapter's figures beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .clock import Figures


@dataclass(frozen=True)
class Budget:
    """A figure that is at most ``limit``; at least, where ``floor`` is set."""

    of: Callable[[Figures], float]
    limit: int
    unit: str = ""
    floor: bool = False

    def over(self, figure: float) -> float:
        """How far a figure is on the wrong side of the limit; 0 or less where the budget is kept."""
        return self.limit - figure if self.floor else figure - self.limit


BUDGETS: dict[str, Budget] = {
    "words": Budget(lambda f: f.words, 2_900),
    "lines of code": Budget(lambda f: f.lines, 260),
    "longest cell": Budget(lambda f: f.longest, 18, "lines"),
    "median cell": Budget(lambda f: f.median, 6, "lines"),
    "tables": Budget(lambda f: len(f.tables), 6),
    "largest table": Budget(lambda f: max(f.tables, default=0), 20, "numbers"),
    "pictures": Budget(lambda f: f.pictures, 8, floor=True),
    "tables over pictures": Budget(lambda f: len(f.tables) - f.pictures, 0),
    "claim checks": Budget(lambda f: f.claims, 1),
    "reading": Budget(lambda f: round(f.reading), 65, "minutes"),
    "with core exercises": Budget(lambda f: round(f.with_core), 130, "minutes"),
}
COMPANION_WORDS, COMPANIONS_WORDS = 2_500, 25_000  # of one companion, and of all together


def run_seconds(number: str) -> int:
    """What running a chapter's solved notebook may take, on two quiet cores: it runs on one thread, so also its seconds of a processor."""
    return 30 if number[:2] <= "07" else 60


def over_budget(figures: Figures) -> dict[str, float]:
    """The lines of the budget that a chapter does not keep, each with its figure."""
    return {name: budget.of(figures) for name, budget in BUDGETS.items() if budget.over(budget.of(figures)) > 0}


def beside(figures: Figures) -> list[str]:
    """A chapter's figures beside its budgets, with a mark where one is not kept, and what its head has to say."""
    lines = []
    for name, budget in BUDGETS.items():
        figure = budget.of(figures)
        limit = f"{'at least' if budget.floor else 'at most'} {budget.limit:,} {budget.unit}".rstrip()
        lines.append(f"  {name:<20} {figure:>6,g}   {limit}{'   <- not kept' if budget.over(figure) > 0 else ''}")
    numbers = " + ".join(map(str, figures.tables)) or "none"
    return [*lines, f"  numbers in its tables: {numbers}", f"  its head says: {figures.head}"]
