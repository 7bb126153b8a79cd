"""Drawings of vectors that are added or laid side by side: word and position."""

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
    fig, ax = sheet(13.4, 5.6, (7.4, 3.0))
    for y in (5.0, 1.9):
        box(ax, 1.3, y, "word x", BLUE, 1.9)
        box(ax, 1.3, y - 1.3, "position p", ORANGE, 1.9)
    box(ax, 4.6, 4.35, "side by side\n(x, p)", GREY, 2.0, 0.95)
    box(ax, 7.9, 4.35, "× (W, U)\nstacked", GREY, 1.8, 0.95)
    box(ax, 4.6, 1.9, "x W", BLUE, 1.5)
    box(ax, 4.6, 0.6, "p U", ORANGE, 1.5)
    box(ax, 7.9, 1.25, "add", GREY, 1.3)
    box(ax, 11.7, 2.8, "x W + p U", GREEN, 2.1)
    above = (((2.3, 4.95), (3.55, 4.55)), ((2.3, 3.75), (3.55, 4.15)), ((5.65, 4.35), (6.95, 4.35)), ((8.85, 4.2), (10.75, 3.1)))
    below = (((2.3, 1.9), (3.8, 1.9)), ((2.3, 0.6), (3.8, 0.6)), ((5.4, 1.85), (7.2, 1.35)), ((5.4, 0.65), (7.2, 1.15)))
    for start, end in (*above, *below, ((8.6, 1.35), (10.75, 2.5))):
        arrow(ax, start, end)
    return fig
