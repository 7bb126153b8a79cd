"""One look for every figure: palette, size, heat maps, and a way to show a figure with its alt text."""

import io
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, RED, PURPLE, GREY = "#3a7cbd", "#e08e45", "#2a9d5c", "#c8553d", "#8d6cab", "#7a8594"
PALETTE = [BLUE, ORANGE, GREEN, RED, PURPLE, GREY]
CSS_DPI = 96  # what a browser calls an inch; a picture has twice as many pixels, so that it is sharp on fine screens too


def ink(colour: str) -> str:
    """A colour of the palette dark enough for text: at least 4.5 to 1 on white."""
    return {BLUE: "#2c6aa6", ORANGE: "#a85a10", GREEN: "#1c7a45", RED: "#b0432d", PURPLE: "#7a5a99", GREY: "#5f6975"}.get(colour, colour)


def style() -> None:
    """Set the look of the course; called when this module is imported."""
    sizes = {"figure.figsize": (6.6, 3.2), "font.size": 10, "axes.titlesize": 11, "axes.labelsize": 10}
    lines = {"grid.color": "#e6e8eb", "axes.edgecolor": "#c5cad1", "axes.spines.top": False, "axes.spines.right": False}
    sns.set_theme(style="whitegrid", palette=PALETTE, rc={**sizes, **lines, "legend.frameon": False})


def panels(count: int = 1, width: float = 6.6, height: float = 3.2, rows: int = 1, **options: Any) -> tuple[Figure, Any]:
    """``fig, ax`` for one panel, ``fig, axes`` for several side by side, in ``rows`` rows of ``count``; sizes in inches."""
    return plt.subplots(rows, count, figsize=(width, height), layout="constrained", **options)


def picture(fig: Figure, alt: str) -> None:
    """Show a figure once, with ``alt`` as the text for those who cannot see it, and close it."""
    from IPython.display import display

    data, metadata = bundle(fig, alt)
    display(data, metadata=metadata, raw=True)


def bundle(fig: Figure, alt: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A figure as data by mime type, and metadata; it is closed.

    The metadata says how large it is to be shown, and that it has a light ground, which the lab's dark theme may turn round.
    """
    from PIL import Image

    fig.set_dpi(2 * CSS_DPI)
    canvas = FigureCanvasAgg(fig)
    canvas.draw()
    drawn = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    plt.close(fig)
    data = io.BytesIO()
    drawn.quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(data, "PNG", compress_level=9)
    shown = {"alt": alt, "width": drawn.width // 2, "height": drawn.height // 2}
    return {"image/png": data.getvalue(), "text/plain": f"[figure: {alt}]"}, {"image/png": shown, "needs_background": "light"}


def array(tensor: Any) -> np.ndarray:
    """A NumPy copy of a tensor or array, cut off from the graph."""
    return tensor.detach().float().cpu().numpy() if hasattr(tensor, "detach") else np.asarray(tensor, dtype=float)


def heatmap(
    matrix: Any,
    ax: Axes,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    *,
    title: str = "",
    xlabel: str = "key",
    ylabel: str = "query",
    numbers: bool = False,
    signed: bool = False,
    most: float | None = None,
    bar: bool = True,
) -> Axes:
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
    ticks = {"xticklabels": "auto" if columns is None else columns, "yticklabels": "auto" if rows is None else rows}
    look = {"fmt": ".2f", "annot_kws": {"size": 9}, "linewidths": 0.4 if data.size <= 400 else 0, "linecolor": "white"}
    sns.heatmap(data, vmin=low, vmax=limit, cmap=colours, ax=ax, annot=numbers, cbar=bar, **look, **ticks)
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel)
    ax.tick_params(axis="y", rotation=0)
    if columns is not None and max(map(len, columns)) > 3:
        ax.tick_params(axis="x", rotation=45)
    return ax


style()
