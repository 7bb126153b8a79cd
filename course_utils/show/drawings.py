"""Drawings made of boxes and arrows: attention in general, and its scaled dot-product form."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from .figures import BLUE, GREEN, GREY, ORANGE, RED, ink, panels


def box(ax: Axes, x: float, y: float, text: str, colour: str = BLUE, width: float = 1.5, height: float = 0.62) -> None:
    """A rounded box with its centre at ``(x, y)``."""
    corner, form = (x - width / 2, y - height / 2), "round,pad=0.02,rounding_size=0.1"
    ax.add_patch(FancyBboxPatch(corner, width, height, boxstyle=form, facecolor=colour + "22", edgecolor=colour, linewidth=1.4))
    ax.text(x, y, text, ha="center", va="center", fontsize=9)


def arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], colour: str = GREY, width: float = 1.2) -> None:
    """An arrow from ``start`` to ``end``."""
    ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": width, "shrinkA": 1, "shrinkB": 1})


def sheet(width: float, height: float, size: tuple[float, float]) -> tuple[Figure, Axes]:
    """An empty drawing area of ``width`` × ``height`` units."""
    fig, ax = panels(1, *size)
    ax.set(xlim=(0, width), ylim=(0, height))
    ax.set_aspect("equal")
    ax.axis("off")
    return fig, ax


def lookup(weights: list[float], keys: list[str], values: list[str], query: str, answer: str) -> Figure:
    """A query compared with every key; the weights decide how much of every value reaches the answer."""
    if not len(weights) == len(keys) == len(values):
        raise ValueError(f"{len(weights)} weights, {len(keys)} keys and {len(values)} values do not match")
    fig, ax = sheet(11, 1.0 * len(keys) + 0.9, (7.2, 0.62 * len(keys) + 0.7))
    middle = (len(keys) - 1) / 2 + 0.6
    box(ax, 1.0, middle, query, ORANGE, 1.8)
    for i, (weight, key, value) in enumerate(zip(weights, keys, values, strict=True)):
        y = len(keys) - 1 - i + 0.6
        arrow(ax, (1.95, middle), (3.0, y), ORANGE, 0.6 + 3 * weight)
        box(ax, 3.9, y, key, BLUE, 1.7)
        ax.text(5.35, y, f"× {weight:.2f}", ha="center", va="center", fontsize=9, color=ink(RED))
        box(ax, 6.8, y, value, GREEN, 1.8)
        arrow(ax, (7.75, y), (8.95, middle), GREEN, 0.6 + 3 * weight)
    box(ax, 9.95, middle, answer, RED, 1.9, 0.3 + 0.36 * (answer.count("\n") + 1))
    for x, name in ((1.0, "query"), (3.9, "keys"), (5.35, "weights"), (6.8, "values"), (9.95, "answer")):
        ax.text(x, len(keys) + 0.45, name, ha="center", color=ink(GREY), fontsize=9)
    return fig


def scaled_dot_product() -> Figure:
    """The four steps from query, key and value to the output, with shapes."""
    fig, ax = sheet(13, 4.2, (7.6, 2.6))
    for y, name, colour in ((3.4, "Q  (n, d_k)", ORANGE), (2.2, "K  (m, d_k)", BLUE), (0.7, "V  (m, d_v)", GREEN)):
        box(ax, 1.1, y, name, colour, 1.9)
    box(ax, 4.2, 2.8, "Q Kᵀ\n(n, m)", GREY, 1.7, 0.95)
    box(ax, 6.5, 2.8, "÷ √d_k", GREY, 1.4)
    box(ax, 8.4, 2.8, "mask", GREY, 1.1)
    box(ax, 10.4, 2.8, "softmax\nover keys", RED, 1.6, 0.95)
    box(ax, 10.4, 0.7, "A V\n(n, d_v)", GREEN, 1.6, 0.95)
    scores = (((2.1, 3.4), (3.3, 3.0)), ((2.1, 2.2), (3.3, 2.6)), ((5.1, 2.8), (5.75, 2.8)), ((7.25, 2.8), (7.8, 2.8)))
    for start, end in (*scores, ((9.0, 2.8), (9.55, 2.8)), ((10.4, 2.25), (10.4, 1.25)), ((2.1, 0.7), (9.5, 0.7))):
        arrow(ax, start, end)
    ax.text(10.75, 1.75, "weights A (n, m)", fontsize=9, color=ink(RED), va="center")
    return fig


def multi_head(heads: int = 3) -> Figure:
    """Several attentions side by side, concatenated and multiplied by the output projection, with shapes."""
    fig, ax = sheet(14.6, 4.6, (8.6, 2.9))
    colours = (BLUE, ORANGE, GREEN, RED)
    middle = 2.2
    box(ax, 1.0, middle, "Q, K, V from\nX  (n, d)", GREY, 1.8, 0.95)
    for i in range(heads):
        y = middle + 1.45 * ((heads - 1) / 2 - i)
        colour, last = colours[i % 4], i == heads - 1
        name = "h" if last else str(i + 1)
        box(ax, 4.1, y, f"$W_{{Q,{name}}}\\; W_{{K,{name}}}\\; W_{{V,{name}}}$", colour, 2.3, 0.75)
        box(ax, 7.4, y, f"head {name}\n(n, d_v)", colour, 1.9, 0.9)
        for start, end in (((1.95, middle), (2.9, y)), ((5.3, y), (6.4, y)), ((8.4, y), (9.4, middle))):
            arrow(ax, start, end, colour)
        if last and heads > 1:
            ax.text(4.1, y + 0.72, "⋮", ha="center", va="center", fontsize=11, color=ink(GREY))
            ax.text(7.4, y + 0.72, "⋮", ha="center", va="center", fontsize=11, color=ink(GREY))
    box(ax, 10.3, middle, "Concat\n(n, h·d_v)", GREY, 1.7, 0.95)
    box(ax, 13.2, middle, "× $W_O$\n(n, d)", RED, 1.5, 0.95)
    arrow(ax, (11.2, middle), (12.4, middle))
    return fig
