"""The family tree of Transformers as a table of one change a member, drawn, and once more to click through.

Dates are those of the first public version. What was measured comes from the course's own records; without them the line is missing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from ..models.zoo.counts import PUBLISHED
from ..paths import ROOT
from .figures import BLUE, GREEN, GREY, ORANGE, panels, picture

RESULTS = ROOT / "benchmarks/results"
BRANCHES = {"not a Transformer": GREY, "encoder": BLUE, "encoder–decoder": GREEN, "decoder": ORANGE}


class Member(NamedTuple):
    """A row of family.json: year and month, branch, whom it changed, its sizes in ``PUBLISHED``, its chapter, where it is drawn."""

    name: str
    date: str
    branch: str
    parent: str
    change: str
    sizes: list[str]
    chapter: str
    lane: float


MEMBERS = tuple(Member(**row) for row in json.loads(Path(__file__).with_name("family.json").read_text("utf-8")))


def records() -> dict[str, dict[str, Any]]:
    """The rows of both benchmarks by member, empty where nothing was recorded."""
    files = [RESULTS / f"family_{name}.json" for name in ("encoders", "others")]
    return {name: row for file in files if file.exists() for name, row in json.loads(file.read_text("utf-8")).get("rows", {}).items()}


def outcome(row: dict[str, Any]) -> str:
    """A record in one line: what was changed, both means and the unit."""
    before, after = (sum(row[side]) / len(row[side]) for side in ("baseline", "changed"))
    return f"{row['change']}: {before:.3g} → {after:.3g} {row['unit']}"


def family_tree() -> Any:
    """Draw the tree as a picture, then show it to click through; the widget is returned."""
    from IPython.display import display

    picture(_drawn(), "family tree from 2017 to 2021, one row for each member: encoders on the left, encoder–decoders in the middle, "
                      "decoders on the right, each with the one thing it changed; ELMo stands apart, for it is no Transformer")
    measured, rows = records(), []
    for place, m in enumerate(MEMBERS):
        sizes = ", ".join(f"{size} {PUBLISHED[size][0]:,}" for size in m.sizes)
        rows.append({**m._asdict(), "row": place, "colour": BRANCHES[m.branch], "sizes": sizes,
                     "measured": outcome(measured[m.name]) if m.name in measured else ""})
    widget = _widget_class()(members=rows, selected="BERT")
    display(widget)
    return widget


def _drawn() -> Any:
    fig, ax = panels(1, 9.6, 7.4)
    rows = {m.name: row for row, m in enumerate(MEMBERS)}
    place = {m.name: (m.lane * 1.45 + 0.5 * (m.lane > 2.5), rows[m.name]) for m in MEMBERS}
    for m in MEMBERS:
        x, y = place[m.name]
        if m.parent:
            from_x, from_y = place[m.parent]
            ax.annotate("", (x, y - 0.38), (from_x, from_y + 0.38), zorder=1,
                        arrowprops={"arrowstyle": "-|>", "color": BRANCHES[m.branch], "lw": 1.0, "alpha": 0.55,
                                    "connectionstyle": "arc3,rad=0.12" if x != from_x else "arc3,rad=0.25"})
        ax.text(x, y, m.name, ha="center", va="center", fontsize=10, zorder=3, color="black",
                bbox={"boxstyle": "round,pad=0.22", "facecolor": "white", "edgecolor": BRANCHES[m.branch], "linewidth": 1.6})
        ax.text(-1.0, y, m.date, ha="right", va="center", fontsize=9, color=GREY)
        ax.text(7.25, y, m.change, ha="left", va="center", fontsize=9.5)
    for x, name in ((1.45, "encoder"), (4.85, "encoder–decoder"), (6.3, "decoder")):
        ax.text(x, -1.1, name.replace("–", "–\n"), ha="center", va="center", fontsize=10.5, weight="bold", color=BRANCHES[name])
    ax.set(xlim=(-2.0, 12.2), ylim=(len(MEMBERS) - 0.4, -1.8))
    ax.axis("off")
    return fig


def _widget_class() -> type:
    """The widget, made when it is first asked for: anywidget is imported late."""
    global _made
    if _made is None:
        import anywidget
        from traitlets import Dict, List, Unicode

        class FamilyTree(anywidget.AnyWidget):
            _esm = Path(__file__).with_name("family.js")
            _css = Path(__file__).with_name("family.css")
            members = List(Dict()).tag(sync=True)
            selected = Unicode().tag(sync=True)

            def __repr__(self) -> str:
                return f"family tree: {len(self.members)} members"

        _made = FamilyTree
    return _made


_made: type | None = None
