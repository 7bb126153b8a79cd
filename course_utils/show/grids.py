"""Drawings of chapter 00b: two tensors stretched to one shape, a product of matrices, a chain of operations, paths down a valley."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .drawings import arrow, box, sheet
from .figures import BLUE, GREEN, GREY, ORANGE, RED, array, ink


def grid(ax: Axes, left: float, bottom: float, numbers: Any, colour: str, real: Any = None, strong: Any = None) -> None:
    """A matrix as squares with its numbers; squares that are not ``real`` are pale copies, those that are ``strong`` stand out."""
    values = np.atleast_2d(array(numbers))
    rows, columns = values.shape
    real = np.ones_like(values, bool) if real is None else np.broadcast_to(real, values.shape)
    strong = np.zeros_like(values, bool) if strong is None else np.broadcast_to(strong, values.shape)
    for i in range(rows):
        for j in range(columns):
            alpha = 0.75 if strong[i, j] else 0.28 if real[i, j] else 0.06
            width, dash, dark = (1.2, "-", "#222222") if real[i, j] else (0.7, ":", ink(GREY))
            x, y = left + j, bottom + rows - 1 - i
            ax.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, alpha=alpha))
            ax.add_patch(Rectangle((x, y), 1, 1, fill=False, edgecolor=colour, linewidth=width, linestyle=dash))
            ax.text(x + 0.5, y + 0.5, f"{values[i, j]:g}", ha="center", va="center", fontsize=9.5, color=dark)


def _caption(ax: Axes, x: float, y: float, text: str) -> None:
    ax.text(x, y, text, ha="center", va="top", fontsize=9, color=ink(GREY), linespacing=1.3)


def broadcasting(left: Any, right: Any, symbol: str, operation: Callable[[Any, Any], Any]) -> Figure:
    """Two tensors of up to two axes, stretched to one shape, and the result of an operation; copied entries are pale."""
    one, two = array(left), array(right)
    result = operation(one, two)
    if result.ndim != 2:
        raise ValueError(f"a picture needs a result with two axes, got shape {result.shape}")
    rows, columns = result.shape
    fig, ax = sheet(3 * columns + 3.2, rows + 1.1, (7.4, 7.4 * (rows + 1.1) / (3 * columns + 3.2)))
    places = [0.3, columns + 1.6, 2 * columns + 2.9]
    for tensor, place, colour in ((one, places[0], BLUE), (two, places[1], ORANGE), (result, places[2], GREEN)):
        flat = np.atleast_2d(tensor)
        real = np.zeros(result.shape, bool)
        real[: flat.shape[0], : flat.shape[1]] = True
        grid(ax, place, 0.9, np.broadcast_to(flat, result.shape), colour, real)
        _caption(ax, place + columns / 2, 0.7, f"shape {tensor.shape}")
    for place, sign in ((columns + 0.95, symbol), (2 * columns + 2.25, "=")):
        ax.text(place, 0.9 + rows / 2, sign, ha="center", va="center", fontsize=15, color=ink(GREY))
    return fig


def product(left: Any, right: Any, row: int, column: int, names: tuple[str, str, str]) -> Figure:
    """A product of matrices: one row on the left and one column on the right make one entry."""
    one, two = array(left), array(right)
    result = one @ two
    (n, d), m = one.shape, two.shape[1]
    tall, wide = max(n, d) + 1.9, d + 2 * m + 4.0
    fig, ax = sheet(wide, tall, (7.4, 7.4 * tall / wide))
    places = [0.4, d + 1.8, d + m + 3.3]
    strong = [np.arange(n)[:, None] == row, np.arange(m)[None] == column, (np.arange(n)[:, None] == row) & (np.arange(m)[None] == column)]
    for matrix, place, colour, mark, name in zip((one, two, result), places, (BLUE, ORANGE, GREEN), strong, names, strict=True):
        bottom = 1.5 + (max(n, d) - len(matrix)) / 2
        grid(ax, place, bottom, matrix, colour, strong=mark)
        _caption(ax, place + matrix.shape[1] / 2, bottom - 0.2, name)
    for place, sign in ((d + 1.1, "@"), (d + m + 2.55, "=")):
        ax.text(place, 1.5 + max(n, d) / 2, sign, ha="center", va="center", fontsize=14, color=ink(GREY))
    return fig


def chain(names: Sequence[str], values: Sequence[float], slopes: Sequence[float]) -> Figure:
    """Operations in a row: values go forward above the arrows; below, each arrow's own slope, and the product of those to its right."""
    if not len(names) == len(values) == len(slopes) + 1:
        raise ValueError(f"{len(names)} names, {len(values)} values and {len(slopes)} slopes: one slope for each arrow is needed")
    fig, ax = sheet(3.3 * len(names) - 0.6, 3.5, (7.6, 2.35))
    behind = [float(np.prod(slopes[i:])) for i in range(len(names))]
    for i, (name, value) in enumerate(zip(names, values, strict=True)):
        x = 3.3 * i + 1.35
        box(ax, x, 2.2, f"{name}\n{value:g}", BLUE, 1.9, 0.95)
        if i + 1 < len(names):
            arrow(ax, (x + 1.0, 2.35), (x + 2.3, 2.35), ink(BLUE))
            arrow(ax, (x + 2.3, 2.05), (x + 1.0, 2.05), ink(RED))
            ax.text(x + 1.65, 1.86, f"× {slopes[i]:g}", ha="center", va="top", fontsize=9, color=ink(RED))
        ax.text(x, 1.3, f"slope {behind[i]:g}", ha="center", va="top", fontsize=9.5, color=ink(RED))
    ax.text(0.4, 3.1, "forward: values", fontsize=9, color=ink(BLUE))
    ax.text(0.4, 0.45, "backward: how much the end changes when this box changes by a little", fontsize=9, color=ink(RED))
    return fig


def valley(
    height: Callable[[Any, Any], Any], paths: Mapping[str, Any], ax: Axes, reach: tuple[float, float, float, float], title: str = ""
) -> None:
    """Lines of equal height over a plane ``(left, right, bottom, top)``, with the way of each ``(steps, 2)`` and its last place."""
    left, right, bottom, top = reach
    across, up = np.meshgrid(np.linspace(left, right, 120), np.linspace(bottom, top, 120))
    heights = np.asarray(height(across, up))
    ax.contour(across, up, heights, levels=np.quantile(heights, np.linspace(0.02, 0.9, 9)), colors=GREY, linewidths=0.6, alpha=0.7)
    for (name, places), colour in zip(paths.items(), (ORANGE, BLUE, GREEN, RED), strict=False):
        way = array(places)
        ax.plot(*way.T, "o-", color=colour, markersize=2.6, lw=1.2, label=name, clip_on=True)
        ax.plot(*way[-1], "o", color=ink(colour), markersize=6)
    ax.set(xlim=(left, right), ylim=(bottom, top), title=title)
    ax.grid(False)
