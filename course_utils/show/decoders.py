"""A drawing: an encoder, and the three ways in which a decoder has been joined to it."""

from __future__ import annotations

from matplotlib.figure import Figure

from .drawings import arrow, box
from .figures import BLUE, GREEN, GREY, ORANGE, RED, ink, panels


def three_decoders() -> Figure:
    """Fixed start state, one context for every step, a context of its own for every step; side by side."""
    fig, axes = panels(3, 9.8, 3.9)
    titles = ("fixed: the last state starts it", "context: one, at every step", "attention: a new one each step")
    for ax, title in zip(axes, titles, strict=True):
        ax.set(xlim=(0, 8.2), ylim=(-0.6, 7.4), title=title)
        ax.axis("off")
        for i in range(4):
            x = 3.0 + 1.4 * i  # of the decoder's state s_i
            box(ax, x, 5.2, f"$s_{i}$", ORANGE, 0.9, 0.8)
            if i:
                h = -0.2 + 1.4 * i
                box(ax, h, 0.9, f"$h_{i}$", BLUE, 0.9, 0.8)
                ax.text(h, -0.55, f"$x_{i}$", ha="center", color=ink(GREY), fontsize=9)
                arrow(ax, (h, -0.1), (h, 0.45))
                ax.text(x, 6.65, f"$y_{i}$", ha="center", color=ink(GREY), fontsize=9)
                arrow(ax, (x, 5.65), (x, 6.55))
                arrow(ax, (x - 0.92, 5.2), (x - 0.47, 5.2))
            if i > 1:
                for ends in ((h - 0.92, h - 0.47), (h - 0.48, h - 0.93)):  # the encoder reads in both directions
                    arrow(ax, (ends[0], 0.9), (ends[1], 0.9), width=0.9)
                arrow(ax, (x - 1.15, 6.6), (x - 0.4, 5.65), width=0.8)  # the symbol before is an input
        arrow(ax, (3.9, 1.38), (3.05, 4.75), BLUE, 1.8)
    _, context, attention = axes
    box(context, 5.5, 2.6, "$c = h_3$", GREEN, 1.6, 0.8)
    arrow(context, (4.3, 1.3), (4.85, 2.15), BLUE)
    for i in range(3):
        arrow(context, (5.3 + 0.2 * i, 3.05), (4.4 + 1.4 * i, 4.75), GREEN)
        box(attention, 4.5 + 1.4 * i, 3.3, f"$c_{i + 1}$", GREEN, 0.9, 0.8)
        arrow(attention, (4.45 + 1.4 * i, 3.75), (4.4 + 1.4 * i, 4.75), GREEN)
        arrow(attention, (3.2 + 1.4 * i, 4.75), (4.1 + 1.4 * i, 3.75), ORANGE)  # the state before asks
        for j in range(3):
            meant = i + j == 2
            arrow(attention, (1.2 + 1.4 * j, 1.35), (4.4 + 1.4 * i, 2.85), RED if meant else "#d5d9de", 1.8 if meant else 0.8)
    return fig
