"""The family tree of Transformers as a table of one change a member, drawn, and once more to click through.

Dates are those of the first public version. And what three seeds of a change look like beside those of its opponents.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..models.zoo.counts import PUBLISHED
from .figures import BLUE, GREEN, GREY, ORANGE, bundle, ink, panels, picture, plt
from .pieces import show_live

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


def family_tree() -> None:
    """Show the tree to click through, beside a still picture of it."""
    rows = []
    for place, m in enumerate(MEMBERS):
        sizes = ", ".join(f"{size} {PUBLISHED[size][0]:,}" for size in m.sizes)
        drawn = {"row": place, "path": route(m), "colour": BRANCHES[m.branch]}
        rows.append({**m._asdict(), **drawn, "sizes": sizes})
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


def dots(
    rows: Mapping[str, Sequence[float]],
    patient: Sequence[float],
    xlabel: str,
    own: Mapping[str, float],
    alt: str,
    green: str = "BERT, twice the steps",
    band: str | None = None,
) -> None:
    """Show one row of dots for each change, one dot a seed, and a star for the reader's ``own`` run.

    A grey band spans the seeds of the row ``band`` (without it the first row), a green one those of the opponent called ``green``.
    """
    fig, ax = panels(1, 7.6, 0.9 + 0.42 * (len(rows) + 1))
    everything = {**rows, green: patient}
    band = band or next(iter(rows))
    for name, colour in ((band, GREY), (green, GREEN)):
        ax.axvspan(min(everything[name]), max(everything[name]), color=colour, alpha=0.22, lw=0)
    for row, (name, seeds) in enumerate(everything.items()):
        colour = GREEN if name == green else ink(GREY) if name == band else BLUE
        ax.plot(seeds, [row] * len(seeds), "o", color=colour, ms=9, alpha=0.75, mec="white")
        if name in own:
            ax.plot(own[name], row, "*", color=ORANGE, ms=15, mec="white", zorder=4)
    ax.set(yticks=range(len(everything)), yticklabels=everything, ylim=(len(everything) - 0.5, -0.5), xlabel=xlabel)
    if own:
        ax.plot([], [], "*", color=ORANGE, ms=13, ls="", label="your run")
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    picture(fig, alt)
