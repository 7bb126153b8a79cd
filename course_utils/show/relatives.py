"""Chapter 12a's sketches: the one change of a relative, before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from .drawings import box
from .figures import BLUE, GREY, ORANGE, array, ink, panels


def grids(drawings: Mapping[str, Any], xlabel: str, ylabel: str, numbers: bool = False) -> Figure:
    """Matrices side by side, each with its title. ``numbers``: every entry says which number is looked up, and its own shade."""
    sizes = [array(matrix) for matrix in drawings.values()]
    if not sizes or any(matrix.ndim != 2 for matrix in sizes):
        raise ValueError(f"grids need matrices with two axes, got {[matrix.shape for matrix in sizes]}")
    fig, axes = panels(len(sizes), 3.7 * len(sizes), 0.6 + 3.1 * sizes[0].shape[0] / max(sizes[0].shape), squeeze=False)
    for ax, (title, matrix) in zip(axes[0], zip(drawings, sizes, strict=True), strict=True):
        if numbers:
            ax.imshow(matrix, cmap="Blues", vmin=-1, vmax=1.6 * matrix.max())
            for (i, j), value in np.ndenumerate(matrix):
                ax.text(j, i, f"{value:g}", ha="center", va="center", fontsize=9)
        else:
            ax.imshow(matrix, cmap="Blues", vmin=0, vmax=1.5 * max(1.0, matrix.max()), aspect="auto")
        ax.set(title=title, xlabel=xlabel, ylabel=ylabel, xticks=[], yticks=[])
        ax.grid(False)
    return fig


def tokens(rows: Mapping[str, Sequence[str]], marked: Mapping[str, Sequence[int]]) -> Figure:
    """Rows of tokens as boxes, each row with its name in front; an empty word leaves a gap. ``marked``: orange places of a row."""
    if not rows or set(marked) - set(rows):
        raise ValueError(f"rows {list(rows)} and marked {list(marked)} do not fit")
    longest = max(map(len, rows.values()))
    fig, ax = panels(1, 7.4, 0.55 * len(rows) + 0.2)
    ax.set(xlim=(-3.3, longest * 1.15), ylim=(-len(rows) + 0.4, 0.6))
    ax.axis("off")
    for line, (name, words) in enumerate(rows.items()):
        ax.text(-3.2, -line, name, va="center", fontsize=9, color=ink(GREY))
        for place, word in enumerate(words):
            if word:
                box(ax, 0.55 + 1.15 * place, -line, word, ORANGE if place in marked.get(name, ()) else BLUE, 1.0, 0.6)
    return fig


def bars(drawings: Mapping[str, Mapping[str, float]], ylabel: str) -> Figure:
    """Shares as bars, one panel for each entry, all with the same scale."""
    if not drawings:
        raise ValueError("bars need at least one panel")
    fig, axes = panels(len(drawings), min(3.6 * len(drawings), 7.6), 2.3, squeeze=False, sharey=True)
    for ax, (title, shares) in zip(axes[0], drawings.items(), strict=True):
        ax.bar(list(shares), list(shares.values()), color=BLUE)
        ax.set(title=title, ylim=(0, 1))
        ax.tick_params(axis="x", labelsize=9)
    axes[0][0].set_ylabel(ylabel)
    return fig
