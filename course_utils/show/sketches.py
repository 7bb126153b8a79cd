"""Sketches: dot products as angles, the output among the values, one change of a model, matrices, tokens."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .drawings import arrow, box
from .figures import BLUE, GREEN, GREY, ORANGE, RED, array, ink, panels


def angles(query: Any, keys: Mapping[str, Any], ax: Axes) -> None:
    """A query and some keys as arrows in the plane; each key says its dot product with the query and the angle between them.

    ``query`` and every key have shape ``(2,)``; ValueError for another shape or a vector of length 0.
    """
    q, points = array(query), {name: array(key) for name, key in keys.items()}
    for name, point in {"query": q, **points}.items():
        if point.shape != (2,) or not np.linalg.norm(point):
            raise ValueError(f"{name} must be a vector of shape (2,) that is not 0, got {point}")
    reach = 1.18 * max(np.abs(point).max() for point in (q, *points.values()))
    left, right = min(0.0, *(p[0] for p in points.values()), q[0]), max(0.0, *(p[0] for p in points.values()), q[0])
    low, high = min(0.0, *(p[1] for p in points.values()), q[1]), max(0.0, *(p[1] for p in points.values()), q[1])
    ax.set(xlim=(left - 0.6 * reach, right + 0.6 * reach), ylim=(low - 0.2 * reach, high + 0.2 * reach))
    ax.set_aspect("equal")
    ax.axis("off")
    for name, point, colour in [("query", q, ORANGE), *((name, point, BLUE) for name, point in points.items())]:
        arrow(ax, (0, 0), tuple(point), colour, 2.2)
        text = name
        if colour == BLUE:
            cosine = float(q @ point / np.linalg.norm(q) / np.linalg.norm(point))
            text += f"\nq·k = {float(q @ point):.1f}\n{np.degrees(np.arccos(np.clip(cosine, -1, 1))):.0f}°"
        away = point / np.linalg.norm(point)
        ha = "left" if away[0] > 0.3 else "right" if away[0] < -0.3 else "center"
        va = "bottom" if away[1] > 0.3 else "top" if away[1] < -0.3 else "center"
        ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
        x, y = point + 0.06 * reach * away
        ax.text(x, y, text, ha=ha, va=va, fontsize=9, color=ink(colour), linespacing=1.15, bbox=ground)
    across = np.array([-q[1], q[0]]) / np.linalg.norm(q) * 3 * reach
    ax.plot([-across[0], across[0]], [-across[1], across[1]], color=GREY, lw=1, ls=":", zorder=0)  # here q·k = 0


def hull(values: Any, weights: Any, names: Sequence[str], ax: Axes) -> np.ndarray:
    """The weighted mean of values ``(n, 2)`` inside their convex hull, the larger a weight the thicker its line; returns the mean (2,).

    ValueError unless there are ``n`` names and ``n`` weights, none negative, that sum to 1.
    """
    points, shares = array(values), array(weights)
    if points.ndim != 2 or points.shape[1] != 2 or not len(points) == len(shares) == len(names):
        raise ValueError(f"values {points.shape}, weights {shares.shape} and {len(names)} names do not match")
    if shares.min() < 0 or abs(shares.sum() - 1) > 1e-4:
        raise ValueError(f"weights must not be negative and must sum to 1, got {shares.round(3).tolist()}")
    around = points[_around(points)]
    ax.fill(*around.T, facecolor=GREEN + "18", edgecolor=GREEN, lw=1.2, ls="--")
    mean = shares @ points
    size = float(np.ptp(points, axis=0).max()) or 1.0
    for point, share, name in zip(points, shares, names, strict=True):
        ax.plot(*zip(point, mean, strict=True), color=GREEN, lw=0.5 + 6 * share, alpha=0.6, solid_capstyle="round")
        ax.plot(*point, "o", color=ink(GREEN), markersize=6)
        side, va = (0.05, "bottom") if point[1] >= points[:, 1].mean() else (-0.05, "top")
        ax.text(point[0], point[1] + side * size, f"{name}  {share:.2f}", ha="center", va=va, fontsize=9, color=ink(GREEN))
    ax.plot(*mean, "*", color=RED, markersize=14, markeredgecolor="white", zorder=3)
    ax.text(mean[0] + 0.05 * size, mean[1], "output", va="center", fontsize=9, color=ink(RED), weight="bold")
    ax.margins(0.22, 0.2)
    ax.axis("off")
    return mean


def _around(points: np.ndarray) -> list[int]:
    """Which points span the convex hull, in order (monotone chain)."""
    order = [int(i) for i in np.lexsort((points[:, 1], points[:, 0]))]
    chain: list[int] = []
    for way in (order, order[::-1]):
        start = len(chain)
        for i in way:
            while len(chain) >= start + 2:
                (ax, ay), (bx, by) = points[chain[-1]] - points[chain[-2]], points[i] - points[chain[-1]]
                if ax * by - ay * bx > 0:
                    break
                chain.pop()
            chain.append(i)
        chain.pop()
    return chain or order[:1]


def one_change(before: Sequence[str], after: Sequence[str], titles: tuple[str, str] = ("before", "after")) -> Figure:
    """Two stacks of boxes, from below: orange and +, what comes; red and −, what goes; grey, what stays. ValueError for an empty stack."""
    if not before or not after:
        raise ValueError("both stacks need at least one box")
    from difflib import SequenceMatcher

    blocks = SequenceMatcher(a=list(before), b=list(after), autojunk=False).get_matching_blocks()
    kept = [{m.a + i for m in blocks for i in range(m.size)}, {m.b + i for m in blocks for i in range(m.size)}]
    tall = max(len(before), len(after))
    wide = max(3.0, 0.17 * max(map(len, (*before, *after))) + 0.5)
    fig, axes = panels(2, 7.4, 0.52 * tall + 0.5)
    for side, (ax, stack, title) in enumerate(zip(axes, (before, after), titles, strict=True)):
        ax.set(xlim=(-wide / 2 - 0.9, wide / 2 + 0.9), ylim=(-0.6, tall - 0.3), title=title)
        ax.axis("off")
        for i, text in enumerate(stack):
            same = i in kept[side]
            mark, colour = ("", GREY) if same else ("− ", RED) if side == 0 else ("+ ", ORANGE)
            box(ax, 0, i, mark + text, colour, wide, 0.62)
            if i:
                arrow(ax, (0, i - 0.68), (0, i - 0.33))
    return fig


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
