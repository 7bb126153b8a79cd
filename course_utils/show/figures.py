"""One look for every figure: palette, size, heat maps, and a way to show a figure with its alt text."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, RED, PURPLE, GREY = "#3a7cbd", "#e08e45", "#2a9d5c", "#c8553d", "#8d6cab", "#7a8594"
PALETTE = [BLUE, ORANGE, GREEN, RED, PURPLE, GREY]
DPI = 96


def style() -> None:
    """Set the look of the course; called when this module is imported."""
    sns.set_theme(style="whitegrid", palette=PALETTE, rc={
        "figure.figsize": (6.6, 3.2), "font.size": 10, "axes.titlesize": 11, "axes.labelsize": 10, "legend.frameon": False,
        "grid.color": "#e6e8eb", "axes.edgecolor": "#c5cad1", "axes.spines.top": False, "axes.spines.right": False})


def panels(count: int = 1, width: float = 6.6, height: float = 3.2, **options: Any) -> tuple[Figure, Any]:
    """``fig, ax`` for one panel, ``fig, axes`` for several side by side; sizes in inches."""
    return plt.subplots(1, count, figsize=(width, height), layout="constrained", **options)


def picture(fig: Figure, alt: str) -> None:
    """Show a figure once, with ``alt`` as the text for those who cannot see it, and close it."""
    from IPython.display import display

    data = io.BytesIO()
    fig.savefig(data, format="png", dpi=DPI, metadata={"Software": None})
    plt.close(fig)
    display({"image/png": data.getvalue(), "text/plain": f"[figure: {alt}]"}, metadata={"image/png": {"alt": alt}}, raw=True)


def array(tensor: Any) -> np.ndarray:
    """A NumPy copy of a tensor or array, cut off from the graph."""
    return tensor.detach().float().cpu().numpy() if hasattr(tensor, "detach") else np.asarray(tensor, dtype=float)


def heatmap(matrix: Any, ax: Axes, rows: Sequence[str] | None = None, columns: Sequence[str] | None = None, *,
            title: str = "", xlabel: str = "key", ylabel: str = "query", numbers: bool = False, signed: bool = False,
            most: float | None = None, bar: bool = True) -> Axes:
    """A labelled heat map of a matrix ``(row, column)``; rows are queries unless told otherwise.

    ``signed`` centres the colours at 0, ``most`` fixes the end of the colour scale, ``numbers`` writes the entries.
    Raises ValueError when labels and matrix do not fit.
    """
    data = array(matrix)
    if data.ndim != 2 or not data.size:
        raise ValueError(f"a heat map needs a matrix, got shape {data.shape}")
    if not np.isfinite(data).all():
        raise ValueError(f"a heat map needs finite numbers, {int((~np.isfinite(data)).sum())} of {data.size} are not")
    if not signed and data.min() < 0:
        raise ValueError(f"the smallest entry is {data.min():.3g}: negative numbers need signed=True")
    for name, labels, size in (("rows", rows, data.shape[0]), ("columns", columns, data.shape[1])):
        if labels is not None and len(labels) != size:
            raise ValueError(f"{len(labels)} labels for {size} {name}")
    limit = most if most is not None else float(np.abs(data).max()) or 1.0
    low, colours = (-limit, "vlag") if signed else (0.0, sns.light_palette(BLUE, as_cmap=True))
    sns.heatmap(data, ax=ax, vmin=low, vmax=limit, cmap=colours, annot=numbers, fmt=".2f", annot_kws={"size": 8},
                linewidths=0.4 if data.size <= 400 else 0, linecolor="white", cbar=bar,
                xticklabels=columns if columns is not None else "auto", yticklabels=rows if rows is not None else "auto")
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel)
    ax.tick_params(axis="y", rotation=0)
    if columns is not None and max(map(len, columns)) > 3:
        ax.tick_params(axis="x", rotation=45)
    return ax


style()
