"""The Transformer as a box that is opened step by step, and where its relatives stand in time."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .drawings import arrow, box, scaled_dot_product, sheet
from .figures import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, ink, panels, sns

LEVELS = ("a black box", "encoder and decoder", "six layers each", "inside two layers", "inside attention")
SOURCE, TARGET = "I have a cat", "Ich habe eine Katze"


def transformer(level: int) -> Figure:
    """The Transformer at ``level`` 1 (a box) to 5 (attention); ValueError for others. Source: Vaswani et al. 2017, figures 1 and 2."""
    if level not in range(1, 6):
        raise ValueError(f"level must be 1 to 5, got {level}")
    if level == 5:
        fig = scaled_dot_product()
        fig.axes[0].set_title("5: inside attention")
        return fig
    fig, ax = sheet(16, 6.4, (8.0, 3.4))
    ax.set_title(f"{level}: {LEVELS[level - 1]}")
    (_black_box, _two_boxes, _layers, _inside)[level - 1](ax)
    return fig


def _black_box(ax: Axes) -> None:
    box(ax, 2.2, 3.2, SOURCE, GREY, 3.2)
    box(ax, 8, 3.2, "Transformer", BLUE, 3.6, 2.2)
    box(ax, 13.6, 3.2, TARGET, GREY, 3.8)
    arrow(ax, (3.85, 3.2), (6.15, 3.2))
    arrow(ax, (9.85, 3.2), (11.65, 3.2))


def _two_boxes(ax: Axes) -> None:
    box(ax, 2.2, 3.2, SOURCE, GREY, 3.2)
    box(ax, 6.4, 3.2, "encoder", BLUE, 2.6, 2.2)
    box(ax, 10.2, 3.2, "decoder", ORANGE, 2.6, 2.2)
    box(ax, 10.2, 0.8, "Ich habe", GREY, 2.6)
    box(ax, 14.0, 3.2, "next word:\neine", GREEN, 2.8, 1.2)
    arrow(ax, (3.85, 3.2), (5.05, 3.2))
    arrow(ax, (7.75, 3.2), (8.85, 3.2))
    arrow(ax, (10.2, 1.15), (10.2, 2.05))
    arrow(ax, (11.55, 3.2), (12.55, 3.2))


def _layers(ax: Axes) -> None:
    for i in range(6):
        box(ax, 4.4, 0.8 + 0.95 * i, f"encoder layer {i + 1}", BLUE, 4.2)
        box(ax, 11.4, 0.8 + 0.95 * i, f"decoder layer {i + 1}", ORANGE, 4.2)
        if i < 5:
            arrow(ax, (4.4, 1.14 + 0.95 * i), (4.4, 1.42 + 0.95 * i))
            arrow(ax, (11.4, 1.14 + 0.95 * i), (11.4, 1.42 + 0.95 * i))
        ax.plot([6.55, 7.6], [5.55, 5.55], color=GREY, lw=1.2)
        ax.plot([7.6, 7.6], [0.8, 5.55], color=GREY, lw=1.2)
        arrow(ax, (7.6, 0.8 + 0.95 * i), (9.25, 0.8 + 0.95 * i))


def _inside(ax: Axes) -> None:
    """Both layers on one grid of heights, with their residual ways around each part and the way from the encoder."""
    heights = (0.75, 1.62, 2.75, 3.62, 4.75, 5.62)  # each part and its norm are a pair
    layers = (
        (3.6, "one encoder layer", BLUE, {0: "self-attention", 4: "feed-forward"}),
        (11.4, "one decoder layer", ORANGE, {0: "masked self-attention", 2: "attention to the encoder", 4: "feed-forward"}),
    )
    for x, name, colour, parts in layers:
        entry = 0.05
        for i, part in parts.items():
            ax.plot([x, x], [entry, heights[i] - 0.5], color=GREY, lw=1.2)
            arrow(ax, (x, heights[i] - 0.5), (x, heights[i] - 0.28))
            side = x - 2.9  # the residual leaves below the part and comes back at its norm
            ax.plot([x, side, side], [heights[i] - 0.43, heights[i] - 0.43, heights[i + 1]], color=RED, lw=1.4)
            arrow(ax, (side, heights[i + 1]), (x - 2.3, heights[i + 1]), RED, 1.4)
            arrow(ax, (x, heights[i] + 0.3), (x, heights[i + 1] - 0.28))
            box(ax, x, heights[i], part, PURPLE if part == "feed-forward" else colour, 4.4, 0.5)
            box(ax, x, heights[i + 1], "add & norm", GREY, 4.4, 0.5)
            entry = heights[i + 1] + 0.3
        arrow(ax, (x, entry), (x, 6.35))
        ax.text(x, -0.25, name, ha="center", va="center", color=ink(colour), fontsize=10)
    ax.text(0.55, 2.75, "residual: what came in\nis added again", rotation=90, ha="right", va="center", color=ink(RED), fontsize=9)
    ax.plot([3.6, 7.0, 7.0], [6.2, 6.2, heights[2]], color=BLUE, lw=1.4)
    arrow(ax, (7.0, heights[2]), (9.1, heights[2]), BLUE, 1.4)
    ax.text(6.85, 4.4, "memory: what the last\nencoder layer returns", rotation=90, ha="right", va="center", color=ink(BLUE), fontsize=9)
    ax.set(xlim=(-0.6, 14.2), ylim=(-0.5, 6.5))


def timeline(models: dict[str, tuple[float, str]]) -> Figure:
    """Models on a line of years, one strip for each family: name -> (year as a number, family: encoder, decoder or both)."""
    strips = {"encoder": ("encoder", BLUE, "o"), "both": ("encoder\nand decoder", GREEN, "D"), "decoder": ("decoder", ORANGE, "s")}
    unknown = {family for _, family in models.values()} - set(strips)
    if unknown:
        raise ValueError(f"families must be among {sorted(strips)}, got {sorted(unknown)}")
    fig, ax = panels(1, 8.0, 3.6)
    first, last = int(min(year for year, _ in models.values())), int(max(year for year, _ in models.values())) + 1
    for strip, (family, (title, colour, mark)) in enumerate(strips.items()):
        middle, free = -3.2 * strip, [-1.0] * 3  # free: from which year on a height has room for another name
        ax.axhspan(middle - 1.5, middle + 1.5, color=colour + "12", lw=0)
        ax.text(first - 0.12, middle, title, ha="right", va="center", fontsize=10, color=ink(colour))
        for name, (year, kind) in sorted(models.items(), key=lambda item: item[1][0]):
            if kind == family:
                level = min(range(3), key=lambda i: (free[i] > year, i))
                free[level] = year + 0.12 + 0.0125 * (last - first) * len(name)
                ax.plot(year, middle + 0.9 - 0.9 * level, mark, color=ink(colour), markersize=6)
                ax.text(year + 0.06, middle + 0.9 - 0.9 * level, name, va="center", fontsize=9)
    ax.set(ylim=(-7.9, 1.5), yticks=[], xticks=range(first, last + 1), xlim=(first, max(last, *free)))
    ax.set(xlabel="start of each year; first paper or announcement", title="who came when, and with which half")
    ax.grid(axis="y", visible=False)
    sns.despine(ax=ax, left=True)
    return fig


def fine_tuning() -> Figure:
    """BERT's two lives; orange: the tokens that a task's layer reads. Source: Devlin et al. 2018, figures 1 and 4."""
    fig, ax = sheet(13, 11.4, (7.4, 6.5))
    rows = (
        ("pre-training", "[CLS] the soup was superb . so they *[MASK] it . [SEP]", "linear, all words", "liked"),
        ("opinions", "*[CLS] the soup was superb . [SEP]", "linear, 2 scores", "good"),
        ("pairs", "*[CLS] leo is a baker . [SEP] he owns a dog . [SEP]", "linear, 3 scores", "neutral"),
        ("names", "[CLS] *florence *lives *in *york *. [SEP]", "linear, 7 scores each", "PERSON O O TOWN O"),
        ("answers", "[CLS] what does leo own ? [SEP] *leo *has *a *cob *. [SEP]", "linear, 2 scores each", "from cob to cob"),
    )
    for k, (task, tokens, head, output) in enumerate(rows):
        y, colour = 10.75 - 2.1 * k - (0.75 if k else 0), ORANGE if k else RED
        ax.text(0, y, task, va="center", fontsize=10, weight="bold")
        x = 2.5
        for token in tokens.split():
            word = token.lstrip("*")
            width = 0.3 + 0.145 * len(word)
            box(ax, x + width / 2, y, word, colour if token[0] == "*" else GREY, width, 0.62)
            x += width + 0.05
        box(ax, 1.1, y - 0.88, "body", BLUE, 2.0, 0.68)
        box(ax, 5.1, y - 0.88, head, colour, 4.2, 0.68)
        ax.text(8.1, y - 0.88, output, va="center", fontsize=10)
        arrow(ax, (2.9, y - 0.34), (2.15, y - 0.72))
        arrow(ax, (2.2, y - 0.88), (2.9, y - 0.88))
        arrow(ax, (7.3, y - 0.88), (8.0, y - 0.88))
    arrow(ax, (1.1, 9.45), (1.1, 8.35), BLUE, 2.5)
    ax.text(1.4, 8.95, "the weights are copied", va="center", fontsize=10, color=ink(BLUE))
    return fig
