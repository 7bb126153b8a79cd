"""The family tree of Transformers as a table of one change a member, drawn, and once more to click through.

Dates are those of the first public version. What was measured comes from the course's own records; without them the line is missing.
family_claims.json holds what each paper says a change does, in the unit in which the course measures it.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..models.zoo.counts import PUBLISHED
from ..paths import ROOT
from .figures import BLUE, GREEN, GREY, ORANGE, bundle, ink, plt
from .pieces import show_live

RESULTS = ROOT / "benchmarks/results"
BRANCHES = {"not a Transformer": ink(GREY), "encoder": ink(BLUE), "encoder–decoder": ink(GREEN), "decoder": ink(ORANGE)}
MARKS = {"not a Transformer": "^", "encoder": "o", "encoder–decoder": "D", "decoder": "s"}


class Member(NamedTuple):
    """A row of family.json: year and month, branch, whom it changed, its sizes in ``PUBLISHED``, its chapter, its column in the drawing."""

    name: str
    date: str
    branch: str
    parent: str
    change: str
    sizes: list[str]
    chapter: str
    lane: int


MEMBERS = tuple(Member(**row) for row in json.loads(Path(__file__).with_name("family.json").read_text("utf-8")))
_CLAIMS = json.loads(Path(__file__).with_name("family_claims.json").read_text("utf-8"))
CLAIMS: dict[str, dict[str, Any]] = {row.pop("name"): row for row in _CLAIMS}


def records() -> dict[str, dict[str, list[float]]]:
    """What the benchmarks measured for each claim: ``baseline`` and ``changed``, one number a seed; empty where nothing was recorded."""
    files = [RESULTS / f"family_{name}.json" for name in ("encoders", "others")]
    return {name: row for file in files if file.exists() for name, row in json.loads(file.read_text("utf-8")).get("rows", {}).items()}


def verdict(unit: str, before: Sequence[float], after: Sequence[float], noise: float = 0.0) -> str:
    """ "better" or "worse" if every seed after the change lies beyond every seed before it by more than ``noise``, else "same".

    Less is better for nats, bits and pieces.
    """
    sign = -1 if unit.split()[0] in ("nats", "bits", "pieces") else 1
    old, new = [sign * x for x in before], [sign * x for x in after]
    return "better" if min(new) > max(old) + noise else "worse" if max(new) < min(old) - noise else "same"


def outcome(claim: dict[str, Any], row: dict[str, Any]) -> str:
    """A claim and its record in one line: what was changed, both means and the unit, what the paper says, what came out here."""
    before, after = (sum(row[side]) / len(row[side]) for side in ("baseline", "changed"))
    here = verdict(claim["unit"], row["baseline"], row["changed"])
    return f"{claim['change']}: {before:.3g} → {after:.3g} {claim['unit']}; the paper: {claim['paper']}, here: {here}"


def family_tree() -> None:
    """Show the tree to click through, beside a still picture of it."""
    measured, rows = records(), []
    for place, m in enumerate(MEMBERS):
        sizes = ", ".join(f"{size} {PUBLISHED[size][0]:,}" for size in m.sizes)
        result = outcome(CLAIMS[m.name], measured[m.name]) if m.name in measured and m.name in CLAIMS else ""
        drawn = {"row": place, "path": route(m), "colour": BRANCHES[m.branch]}
        rows.append({**m._asdict(), **drawn, "sizes": sizes, "measured": result})
    alt = (
        "family tree from 2017 to 2024, one row for each member with the one thing it changed: encoders in the columns on "
        "the left, encoder–decoders in the middle, decoders on the right; ELMo stands apart, because it is no Transformer"
    )
    show_live("family", {"members": rows, "selected": "BERT"}, *bundle(_drawn(), alt))


def route(member: Member) -> list[tuple[int, int]]:
    """The way from its parent, as corners (column, row): down the parent's column, along the member's own row; or none."""
    row = MEMBERS.index(member)
    above = next(((m.lane, i) for i, m in enumerate(MEMBERS) if m.name == member.parent), None)
    return [above, (above[0], row), (member.lane, row)] if above else []


def _drawn() -> Any:
    """One row for each member: its date, its place in the tree, its name, its change. Positions in inches."""
    step, high, left, names = 0.27, 0.265, 0.8, 2.95
    fig = plt.figure(figsize=(7.5, high * len(MEMBERS) + 0.75))
    ax = fig.add_axes((0, 0, 1, 1), xlim=(0, 7.5), ylim=(high * (len(MEMBERS) - 0.4), -0.65))
    ax.axis("off")
    for m in MEMBERS:
        row, colour = MEMBERS.index(m), BRANCHES[m.branch]
        if row % 2 == 0:
            ax.axhspan(high * (row - 0.5), high * (row + 0.5), color="#f1f3f5", lw=0, zorder=0)
        corners = [(left + step * lane, high * place) for lane, place in route(m)]
        if corners:
            ax.plot(*zip(*corners, strict=True), color=colour, lw=1.5, zorder=1, solid_joinstyle="round")
        ax.plot(left + step * m.lane, high * row, MARKS[m.branch], color=colour, markersize=8, markeredgecolor="white", zorder=2)
        ax.text(0.08, high * row, m.date, va="center", fontsize=9, color=ink(GREY))
        ax.text(names, high * row, m.name, va="center", fontsize=10, weight="bold", color=ink(colour))
        ax.text(names + 1.27, high * row, m.change, va="center", fontsize=9)
    for lane, name in ((1.5, "encoder"), (4.2, "encoder–\ndecoder"), (6.8, "decoder")):
        look: dict[str, Any] = {"fontsize": 9, "weight": "bold", "linespacing": 1.0, "color": BRANCHES[name.replace("\n", "")]}
        ax.text(left + step * lane, -0.24, name, ha="center", va="bottom", **look)
    return fig
