"""Drawings of vectors that are added or laid side by side: word and position."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .drawings import arrow, box, sheet
from .figures import BLUE, GREEN, GREY, ORANGE, array, ink


def strip(ax: Axes, x: float, y: float, vector: object, colour: str, cell: float = 0.42) -> None:
    """A vector as a row of squares, centred at ``(x, y)``; the larger an entry, the stronger its colour."""
    values = array(vector)
    shade = (values - values.min()) / max(float(np.ptp(values)), 1e-9)
    left = x - cell * len(values) / 2
    for i, strength in enumerate(shade):
        ax.add_patch(Rectangle((left + i * cell, y - cell / 2), cell, cell, facecolor=colour, alpha=0.15 + 0.75 * float(strength)))
        ax.add_patch(Rectangle((left + i * cell, y - cell / 2), cell, cell, fill=False, edgecolor="white", linewidth=1))


def added(words: Sequence[str], word_vectors: object, position_vectors: object) -> Figure:
    """Word vector plus position vector is the input, one column for each token."""
    tops, places = array(word_vectors), array(position_vectors)
    if not len(words) == len(tops) == len(places):
        raise ValueError(f"{len(words)} words, {len(tops)} word vectors and {len(places)} position vectors do not match")
    fig, ax = sheet(3.4 * len(words) + 2.2, 4.1, (7.4, 2.3))
    for i, word in enumerate(words):
        x = 3.4 * i + 3.5
        ax.text(x, 3.75, f"{word}, position {i}", ha="center", va="center", fontsize=10)
        strip(ax, x, 3.0, tops[i], BLUE)
        ax.text(x, 2.4, "+", ha="center", va="center", fontsize=13, color=ink(GREY))
        strip(ax, x, 1.8, places[i], ORANGE)
        ax.text(x, 1.2, "=", ha="center", va="center", fontsize=13, color=ink(GREY))
        strip(ax, x, 0.6, tops[i] + places[i], GREEN)
    for y, name, colour in ((3.0, "word", BLUE), (1.8, "position", ORANGE), (0.6, "input", GREEN)):
        ax.text(0.1, y, name, va="center", fontsize=10, color=ink(colour))
    return fig


def concatenated() -> Figure:
    """Two ways to one vector: concatenate and multiply by W stacked on U, or multiply by W and by U and add."""
    fig, ax = sheet(13.4, 4.2, (7.4, 2.4))
    for y, text, colour in ((3.5, "word x", BLUE), (0.7, "position p", ORANGE)):
        box(ax, 6.7, y, text, colour, 1.9)
    box(ax, 3.9, 2.1, "side by side\n(x, p)", GREY, 1.9, 0.95)
    box(ax, 1.2, 2.1, "× (W, U)\nstacked", GREY, 1.7, 0.95)
    box(ax, 9.5, 3.5, "x W", BLUE, 1.5)
    box(ax, 9.5, 0.7, "p U", ORANGE, 1.5)
    box(ax, 12.0, 2.1, "x W + p U", GREEN, 1.9)
    for start, end in (((5.75, 3.4), (4.5, 2.6)), ((5.75, 0.8), (4.5, 1.6)), ((2.95, 2.1), (2.05, 2.1)), ((7.65, 3.5), (8.75, 3.5)),
                       ((7.65, 0.7), (8.75, 0.7)), ((10.25, 3.4), (11.7, 2.45)), ((10.25, 0.8), (11.7, 1.75))):
        arrow(ax, start, end)
    ax.text(1.2, 1.3, "gives x W + p U", ha="center", va="center", fontsize=9, color=ink(GREEN))
    return fig
