"""The Transformer as a box that is opened step by step, and where its relatives stand in time."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .drawings import arrow, box, scaled_dot_product, sheet
from .figures import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, panels

LEVELS = ("a black box", "encoder and decoder", "six layers each", "inside two layers", "inside attention")
SOURCE, TARGET = "I have a cat", "Ich habe eine Katze"


def transformer(level: int) -> Figure:
    """The encoder-decoder Transformer at zoom ``level`` 1 (one box) to 5 (the steps of attention).

    Raises ValueError for another level. Source: Vaswani et al. 2017, figures 1 and 2.
    """
    if level not in range(1, 6):
        raise ValueError(f"level must be 1 to 5, got {level}")
    if level == 5:
        fig = scaled_dot_product()
        fig.axes[0].set_title("5: inside attention")
        return fig
    fig, ax = sheet(16, 6.4, (8.0, 3.4))
    ax.set_title(f"{level}: {LEVELS[level - 1]}")
    (_black_box, _two_boxes, _layers, _inside)[level - 1](ax)
    return fig


def _black_box(ax: Axes) -> None:
    box(ax, 2.2, 3.2, SOURCE, GREY, 3.2)
    box(ax, 8, 3.2, "Transformer", BLUE, 3.6, 2.2)
    box(ax, 13.6, 3.2, TARGET, GREY, 3.8)
    arrow(ax, (3.85, 3.2), (6.15, 3.2))
    arrow(ax, (9.85, 3.2), (11.65, 3.2))


def _two_boxes(ax: Axes) -> None:
    box(ax, 2.2, 3.2, SOURCE, GREY, 3.2)
    box(ax, 6.4, 3.2, "encoder", BLUE, 2.6, 2.2)
    box(ax, 10.2, 3.2, "decoder", ORANGE, 2.6, 2.2)
    box(ax, 10.2, 0.8, "Ich habe", GREY, 2.6)
    box(ax, 14.0, 3.2, "next word:\neine", GREEN, 2.8, 1.2)
    arrow(ax, (3.85, 3.2), (5.05, 3.2))
    arrow(ax, (7.75, 3.2), (8.85, 3.2))
    arrow(ax, (10.2, 1.15), (10.2, 2.05))
    arrow(ax, (11.55, 3.2), (12.55, 3.2))


def _layers(ax: Axes) -> None:
    for i in range(6):
        box(ax, 4.4, 0.8 + 0.95 * i, f"encoder layer {i + 1}", BLUE, 4.2)
        box(ax, 11.4, 0.8 + 0.95 * i, f"decoder layer {i + 1}", ORANGE, 4.2)
        if i < 5:
            arrow(ax, (4.4, 1.14 + 0.95 * i), (4.4, 1.42 + 0.95 * i))
            arrow(ax, (11.4, 1.14 + 0.95 * i), (11.4, 1.42 + 0.95 * i))
        ax.plot([6.55, 7.6], [5.55, 5.55], color=GREY, lw=1.2)
        ax.plot([7.6, 7.6], [0.8, 5.55], color=GREY, lw=1.2)
        arrow(ax, (7.6, 0.8 + 0.95 * i), (9.25, 0.8 + 0.95 * i))


def _inside(ax: Axes) -> None:
    for x, colour, steps in ((4.0, BLUE, ("self-attention", "add & norm", "feed-forward", "add & norm")),
                             (11.0, ORANGE, ("masked self-attention", "add & norm", "attention to the encoder", "add & norm",
                                             "feed-forward", "add & norm"))):
        gap = 5.6 / len(steps)
        for i, step in enumerate(steps):
            y = 0.6 + gap * i
            box(ax, x, y, step, GREY if step == "add & norm" else PURPLE if step == "feed-forward" else colour, 4.8, 0.55)
            if i:
                arrow(ax, (x, y - gap + 0.3), (x, y - 0.3))
    ax.text(4.0, 0.02, "one encoder layer", ha="center", color=BLUE, fontsize=9)
    ax.text(11.0, 0.02, "one decoder layer", ha="center", color=ORANGE, fontsize=9)


def timeline(models: dict[str, tuple[float, str]]) -> Figure:
    """Models on a line of years: name -> (year as a number, family: encoder, decoder or both)."""
    colours = {"encoder": BLUE, "decoder": RED, "both": GREEN}
    unknown = {family for _, family in models.values()} - set(colours)
    if unknown:
        raise ValueError(f"families must be among {sorted(colours)}, got {sorted(unknown)}")
    fig, ax = panels(1, 8.4, 2.8)
    order = sorted(models.items(), key=lambda item: item[1][0])
    for i, (name, (year, family)) in enumerate(order):
        height = (1, -1, 2, -2, 3, -3)[i % 6]
        ax.plot([year, year], [0, height], color=colours[family], lw=1)
        ax.text(year, height + (0.35 if height > 0 else -0.35), name, ha="center", va="center", fontsize=8, color=colours[family])
    ax.axhline(0, color=GREY, lw=1)
    first, last = int(order[0][1][0]), int(order[-1][1][0]) + 1
    ax.set(ylim=(-4, 4.2), yticks=[], xticks=range(first, last + 1), xlabel="start of each year; first paper or report")
    ax.grid(False)
    for i, (family, colour) in enumerate(colours.items()):
        ax.text(0.01, 0.95 - 0.09 * i, {"both": "encoder and decoder"}.get(family, f"{family} only"), transform=ax.transAxes, fontsize=8,
                color=colour)
    return fig
