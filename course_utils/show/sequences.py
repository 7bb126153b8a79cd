"""Drawings of tokens in a row: a cache that fills, n-grams in common, merges."""

from collections import Counter
from collections.abc import Sequence

from matplotlib.figure import Figure

from .drawings import box, sheet
from .figures import BLUE, GREEN, GREY, ORANGE, RED, ink


def common_runs(candidate: Sequence[str], reference: Sequence[str], orders: Sequence[int] = (1, 2, 3, 4)) -> Figure:
    """The candidate's runs of n tokens, one bar for each; green with a tick where the reference holds it and it is not used up."""
    if not candidate or not reference or min(orders) < 1:
        raise ValueError(f"runs need tokens and orders from 1, got {len(candidate)} and {len(reference)} tokens, orders {tuple(orders)}")
    starts, width = [], 0.0
    for token in candidate:
        starts.append(width)
        width += 0.45 + 0.155 * len(token)
    starts.append(width)
    runs = {n: [tuple(candidate[i : i + n]) for i in range(len(candidate) - n + 1)] for n in orders}
    lanes = {n: min(n, len(found)) for n, found in runs.items()}
    step, gap = 0.24, 0.34
    tall = sum(step * lane + gap for lane in lanes.values())
    inch = min(0.75, 8.6 / (width + 4.0))  # of a unit
    fig, ax = sheet(width + 4.0, tall + 1.3, (inch * (width + 4.0), inch * (tall + 1.3)))
    for i, token in enumerate(candidate):
        ax.text((starts[i] + starts[i + 1]) / 2 + 1.7, tall + 0.45, token, ha="center", va="center", fontsize=10)
    ax.text(0, tall + 0.45, "candidate", va="center", fontsize=9, color=ink(GREY))
    ax.text(0, tall + 1.0, "reference:  " + " ".join(reference), va="center", fontsize=9, color=ink(GREY))
    top = tall
    for n in orders:
        left = Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
        hits = 0
        for i, run in enumerate(runs[n]):
            found = left[run] > 0
            left[run] -= found
            hits += found
            y = top - step * (i % max(lanes[n], 1)) - step / 2
            x0, x1, colour = starts[i] + 1.78, starts[i + n] + 1.62, GREEN if found else RED
            ax.plot([x0, x1], [y, y], color=colour, lw=3.2 if found else 1.6, ls="-" if found else (0, (2, 1.2)), solid_capstyle="butt")
        middle = top - step * lanes[n] / 2
        ax.text(0, middle, f"n = {n}", va="center", fontsize=9)
        ax.text(width + 1.85, middle, f"{hits} of {len(runs[n])} found", va="center", fontsize=9)
        top -= step * lanes[n] + gap
    return fig


def merge_steps(rows: Sequence[tuple[str, Sequence[Sequence[str]]]], new: Sequence[str] = ()) -> Figure:
    """Words cut into pieces, one line for each merge: ``rows`` holds (what was joined, the pieces of every word).

    Pieces named in ``new`` or made since the line before are coloured. ValueError when the letters change from line to line.
    """
    texts = [["".join(word) for word in words] for _, words in rows]
    if not rows or any(text != texts[0] for text in texts):
        raise ValueError(f"every line must hold the same words, got {texts}")
    cell, label = 0.52, max(len(name) for name, _ in rows) * 0.16 + 0.4
    width = label + sum(cell * len(word) + 0.6 for word in texts[0])
    fig, ax = sheet(width, 0.8 * len(rows), (min(0.8 * width, 8.6), 0.8 * 0.8 * min(1.0, 8.6 / (0.8 * width)) * len(rows)))
    seen: set[str] = set()
    for line, (name, words) in enumerate(rows):
        y, x = 0.8 * (len(rows) - line) - 0.4, label
        ax.text(0, y, name, va="center", fontsize=9.5, color=ink(GREY))
        pieces = {piece for word in words for piece in word}
        for word in words:
            for piece in word:
                fresh = piece in new or bool(line and piece not in seen)
                box(ax, x + cell * len(piece) / 2, y, piece, ORANGE if fresh else BLUE, cell * len(piece) - 0.1, 0.46)
                x += cell * len(piece)
            x += 0.6
        seen |= pieces
    return fig
