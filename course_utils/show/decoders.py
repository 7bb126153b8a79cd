"""A drawing: an encoder, and the three ways in which a decoder has been joined to it."""

from __future__ import annotations

from matplotlib.figure import Figure

from .drawings import arrow, box
from .figures import BLUE, GREEN, GREY, ORANGE, RED, ink, panels


def three_decoders() -> Figure:
    """Fixed start state, one context for every step, a context of its own for every step; side by side."""
    fig, axes = panels(3, 9.6, 3.6)
    titles = ("fixed: the last state starts it", "context: one, at every step", "attention: a new one each step")
    for ax, title in zip(axes, titles, strict=True):
        ax.set(xlim=(0, 8), ylim=(0, 6.4), title=title)
        ax.axis("off")
        for i in range(3):
            box(ax, 1.2 + 1.3 * i, 0.9, f"$h_{i + 1}$", BLUE, 0.9, 0.8)
            box(ax, 4.2 + 1.3 * i, 5.2, f"$s_{i + 1}$", ORANGE, 0.9, 0.8)
            ax.text(1.2 + 1.3 * i, 0.02, f"$x_{i + 1}$", ha="center", color=ink(GREY), fontsize=9)
            ax.text(4.2 + 1.3 * i, 6.0, f"$y_{i + 1}$", ha="center", color=ink(GREY), fontsize=9)
            if i:
                arrow(ax, (0.35 + 1.3 * i, 0.9), (0.73 + 1.3 * i, 0.9))
                arrow(ax, (3.35 + 1.3 * i, 5.2), (3.73 + 1.3 * i, 5.2))
    fixed, context, attention = axes
    arrow(fixed, (3.9, 1.4), (4.1, 4.75), BLUE, 1.8)
    box(context, 4.0, 3.0, "$c = h_3$", GREEN, 1.5, 0.8)
    arrow(context, (3.85, 1.35), (3.95, 2.55), BLUE)
    for i in range(3):
        arrow(context, (4.1 + 0.25 * i, 3.45), (4.2 + 1.3 * i, 4.75), GREEN)
        box(attention, 4.2 + 1.3 * i, 3.4, f"$c_{i + 1}$", GREEN, 0.9, 0.8)
        arrow(attention, (4.2 + 1.3 * i, 3.85), (4.2 + 1.3 * i, 4.75), GREEN)
        if i:
            arrow(attention, (3.1 + 1.3 * i, 4.75), (3.75 + 1.3 * i, 3.75), ORANGE)  # the state before asks
        for j in range(3):
            arrow(attention, (1.2 + 1.3 * j, 1.35), (4.1 + 1.3 * i, 2.95), RED if i + j == 2 else "#d5d9de", 1.8 if i + j == 2 else 0.8)
    return fig
