"""Drawings of a Transformer block: where the norm stands, and over which entries a norm averages."""

import itertools

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .drawings import arrow, box
from .figures import BLUE, GREY, PURPLE, RED, ink, plt

PLACES = {
    "post": "post:  Norm(x + F(x))",
    "pre": "pre:  x + F(Norm(x))",
    "sandwich": "sandwich:  x + Norm(F(Norm(x)))",
    "output": "output:  x + Norm(F(x))",
}
SLABS = {"batch norm": (None, None, 2), "layer norm": (0, 1, None)}


def block(ax: Axes, place: str) -> None:
    """One block from bottom to top with its two branches; raises ValueError for an unknown place of the norm."""
    if place not in PLACES:
        raise ValueError(f"place={place!r} is unknown; choose one of {', '.join(PLACES)}")
    ax.set(xlim=(0, 6), ylim=(-0.9, 9.6), title=PLACES[place])
    ax.axis("off")
    stream, branch = 1.3, 4.2
    ax.text(stream, -0.75, "x  (token, d)", ha="center", fontsize=9)
    for bottom, (name, colour) in zip((0.0, 4.6), (("attention", BLUE), ("feed-forward", PURPLE)), strict=True):
        parts = {
            "post": [(name, colour)],
            "pre": [("norm", GREY), (name, colour)],
            "sandwich": [("norm", GREY), (name, colour), ("norm", GREY)],
            "output": [(name, colour), ("norm", GREY)],
        }[place]
        heights = [bottom + 0.9 + 0.95 * i for i in range(len(parts))] if len(parts) > 1 else [bottom + 1.6]
        top = bottom + 3.35
        ax.plot([stream, branch], [bottom, bottom], color=GREY, lw=1.2)
        arrow(ax, (branch, bottom), (branch, heights[0] - 0.34))
        for low, high in zip(heights, heights[1:], strict=False):
            arrow(ax, (branch, low + 0.32), (branch, high - 0.32))
        for (text, shade), height in zip(parts, heights, strict=True):
            box(ax, branch, height, text, shade, 2.5, 0.58)
        ax.plot([branch, branch], [heights[-1] + 0.31, top], color=GREY, lw=1.2)
        arrow(ax, (branch, top), (stream + 0.24, top))
        ax.plot([stream, stream], [bottom - (0.35 if bottom == 0 else 0.3), top - 0.2], color=RED, lw=2)
        ax.text(stream, top, "+", ha="center", va="center", fontsize=13, color=ink(RED))
        after = bottom + 4.3
        if place == "post":
            ax.plot([stream, stream], [top + 0.2, top + 0.27], color=RED, lw=2)
            box(ax, stream, top + 0.6, "norm", GREY, 1.5, 0.58)
        else:
            ax.plot([stream, stream], [top + 0.2, after], color=RED, lw=2)
    arrow(ax, (stream, 8.85), (stream, 9.5), RED, 2)


def norm_cubes() -> Figure:
    """Batch × token × feature as a cube, twice: the entries that share one mean and one variance are coloured."""
    fig = plt.figure(figsize=(6.0, 3.6), layout="constrained")
    for i, (name, (sample, token, feature)) in enumerate(SLABS.items(), 1):
        ax = fig.add_subplot(1, 2, i, projection="3d")
        chosen = np.zeros((3, 4, 6), dtype=bool)
        chosen[tuple(slice(None) if a is None else a for a in (sample, token, feature))] = True
        ax.voxels(chosen, facecolors=BLUE + "cc", edgecolor="white", linewidth=0.5)
        for corner in itertools.product((0, 1), repeat=3):
            for axis in (a for a in range(3) if not corner[a]):
                ends = [[c * n for c, n in zip((*corner[:axis], step, *corner[axis + 1 :]), chosen.shape, strict=True)] for step in (0, 1)]
                ax.plot(*zip(*ends, strict=True), color=GREY, lw=0.8)
        ax.set_title(name, fontsize=12, y=1.02)
        for label, text in ((ax.set_xlabel, "batch"), (ax.set_ylabel, "token"), (ax.set_zlabel, "feature")):
            label(text, fontsize=12, labelpad=-10)
        ax.set(xticks=range(4), yticks=range(5), zticks=range(7), xticklabels=[], yticklabels=[], zticklabels=[])
        ax.set(box_aspect=(3, 4, 6), xlim=(0, 3), ylim=(0, 4), zlim=(0, 6))
        ax.view_init(elev=22, azim=-50)
    return fig
