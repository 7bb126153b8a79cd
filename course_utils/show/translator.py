"""The encoder–decoder as a drawing: two stacks, and the inside of one decoder block."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .drawings import arrow, box
from .figures import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, ink, panels


def two_stacks(ax: Axes, layers: int = 3) -> None:
    """Encoder blocks, and decoder blocks that all read the last encoder output, post-norm as in the paper: nothing closes the stacks."""
    ax.set(xlim=(-0.3, 10.3), ylim=(-0.6, layers + 2.2), title="two stacks")
    ax.axis("off")
    for x, name, colour, low, high in ((2.0, "encoder", BLUE, "source", "memory"), (8.0, "decoder", ORANGE, "target so far", "scores")):
        ax.text(x, 0.0, low, ha="center", va="center", fontsize=9, color=ink(GREY))
        ax.text(x, layers + 1.75, high, ha="center", va="center", fontsize=9, color=ink(RED) if x < 5 else GREY)
        for i in range(layers):
            box(ax, x, i + 1.0, f"{name} block {i + 1}", colour, 3.4, 0.6)
            arrow(ax, (x, i + 0.3), (x, i + 0.66), GREY)
        if x > 5:
            arrow(ax, (x, layers + 0.34), (x, layers + 0.7), GREY)
            box(ax, x, layers + 1.0, "linear layer", GREY, 3.4, 0.5)
        arrow(ax, (x, layers + (1.28 if x > 5 else 0.34)), (x, layers + 1.58), GREY)
    ax.plot([3.3, 5.0, 5.0], [layers + 1.75, layers + 1.75, 1.0], color=RED, lw=1.4)
    for i in range(layers):
        arrow(ax, (5.0, i + 1.0), (6.2, i + 1.0), RED)


def decoder_inside(ax: Axes) -> None:
    """The three sub-layers of a decoder block, from below; the memory enters the second one."""
    ax.set(xlim=(-0.5, 9.0), ylim=(-0.5, 6.6), title="inside a decoder block")
    ax.axis("off")
    steps = (
        ("masked self-attention", ORANGE),
        ("add & norm", GREY),
        ("cross-attention", RED),
        ("add & norm", GREY),
        ("feed-forward", PURPLE),
        ("add & norm", GREY),
    )
    ax.text(2.4, -0.35, "target so far, or the block below", ha="center", fontsize=9, color=ink(GREY))
    for i, (name, colour) in enumerate(steps):
        box(ax, 2.4, 0.6 + i, name, colour, 4.2, 0.6)
        arrow(ax, (2.4, i - 0.08), (2.4, i + 0.26), GREY)
    arrow(ax, (2.4, 5.92), (2.4, 6.35), GREY)
    ax.text(4.7, 2.1, "queries: from here", fontsize=9, color=ink(GREEN), va="center")
    arrow(ax, (4.65, 2.1), (2.5, 2.1), GREEN)
    ax.text(6.2, 2.6, "memory:\nkeys and values", fontsize=9, color=ink(RED), va="center")
    arrow(ax, (6.1, 2.6), (4.55, 2.6), RED)


def encoder_decoder(layers: int = 3) -> Figure:
    """Both drawings side by side."""
    fig, (left, right) = panels(2, 8.8, 3.9, width_ratios=[1.15, 1])
    two_stacks(left, layers)
    decoder_inside(right)
    return fig
