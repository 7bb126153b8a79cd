"""An encoder and its decoder as drawings: the three ways in which they have been joined, the two stacks, the inside of a decoder block."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .drawings import arrow, box
from .figures import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, ink, panels


def decoders(*kinds: str) -> Figure:
    """Encoder and decoder for each kind: joined by one vector at the start ("fixed"), or by a new context at each step ("attention")."""
    titles = {"fixed": "one vector starts the decoder", "attention": "attention: a new context each step"}
    fig, axes = panels(len(kinds), 1.0 + 3.8 * len(kinds), 2.9 + 0.5 * len(kinds))
    for ax, kind in zip(axes if len(kinds) > 1 else [axes], kinds, strict=True):
        ax.set(xlim=(0, 8.2), ylim=(-0.6, 7.4), title=titles[kind])
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
        for end in (1.2, 4.0):  # the last state of each of the two readers
            arrow(ax, (end, 1.38), (3.05, 4.75), BLUE, 1.8)
        for i in range(3 if kind == "attention" else 0):
            box(ax, 4.5 + 1.4 * i, 3.3, f"$c_{i + 1}$", GREEN, 0.9, 0.8)
            arrow(ax, (4.45 + 1.4 * i, 3.75), (4.4 + 1.4 * i, 4.75), GREEN)
            arrow(ax, (3.2 + 1.4 * i, 4.75), (4.1 + 1.4 * i, 3.75), ORANGE)  # the state before asks
            for j in range(3):
                meant = i + j == 2
                arrow(ax, (1.2 + 1.4 * j, 1.35), (4.4 + 1.4 * i, 2.85), RED if meant else "#d5d9de", 1.8 if meant else 0.8)
    return fig


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
    close = ("add & norm", GREY)
    steps = (("masked self-attention", ORANGE), close, ("cross-attention", RED), close, ("feed-forward", PURPLE), close)
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
