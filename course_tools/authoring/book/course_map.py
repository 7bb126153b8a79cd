"""The map on the cover: a trunk, three branches, and a way back to where it began; each box a link to its chapter.

It is one list of links; style sheets place the boxes, on a wide page by the first of their two places, on a phone by the second. Behind
them lie the lines, once for each.
"""

from __future__ import annotations

import html
from collections.abc import Iterable

WIDE, TALL = (1190, 480), (340, 1038)  # the two sheets
_SMALL, _LONG, _LANE = (138, 66), (240, 40), (98, 68)  # boxes: on the wide sheet, on the tall one, and in one of its branches

# number, words, the idea it adds, colour, place on the wide sheet (column, y), place on the tall one (x, y)
_CHAPTERS = [
    ("00", "Start here", "", "start", (0, 40), (180, 24)),
    ("00b", "A first network", "", "start", (1, 40), (180, 76)),
    ("01", "Kernel regression", "weights", "trunk", (2, 40), (180, 128)),
    ("02", "Soft alignment", "looking back", "trunk", (3, 40), (180, 180)),
    ("03", "Self-attention", "dot product", "trunk", (4, 40), (180, 232)),
    ("04", "Multi-head attention", "heads", "trunk", (5, 40), (180, 284)),
    ("05", "Positions", "order", "trunk", (0, 245), (180, 336)),
    ("06", "Masking", "mask", "trunk", (1, 245), (180, 388)),
    ("07a", "The block", "one layer", "trunk", (2, 245), (180, 440)),
    ("07b", "Norms and gates", "depth", "trunk", (3, 245), (180, 492)),
    ("08a", "Transformer", "both halves", "both", (4, 165), (72, 582)),
    ("08b", "Decoding", "", "both", (5, 165), (72, 672)),
    ("09", "BERT", "encoder alone", "encoder", (4, 245), (180, 582)),
    ("10", "BERT, fine-tuned", "", "encoder", (5, 245), (180, 672)),
    ("11a", "GPT", "decoder alone", "decoder", (4, 325), (288, 582)),
    ("11b", "Prompts, scaling", "", "decoder", (5, 325), (288, 672)),
    ("11c", "What people want", "", "decoder", (6, 325), (288, 762)),
    ("12a", "Family tree", "relatives", "trunk", (5, 440), (180, 854)),
    ("12b", "XLNet", "", "trunk", (4, 440), (180, 906)),
    ("13a", "Fast attention", "", "trunk", (3, 440), (180, 958)),
    ("13b", "Long attention", "back to kernels", "trunk", (2, 440), (180, 1010)),
]
_LINES = (
    *(f"M{x} 40h22" for x in (189, 349, 509, 669, 829)),
    "M920 73V118H120V212",
    *(f"M{x} 245h22" for x in (189, 349, 509, 669)),
    "M680 245V165H691",
    "M680 245V325H691",
    *(f"M829 {y}h22" for y in (165, 245, 325)),
    "M989 325h22",
    "M989 165H1172M989 245H1172M1149 325H1172M1172 165V440H989",
    *(f"M{x} 440h-22" for x in (851, 691, 531)),
)
_TALL_LINES = (
    *(f"M180 {y}v12" for y in (44, 96, 148, 200, 252, 304, 356, 408, 460, 874, 926, 978)),
    "M180 530H72V548",
    "M180 512V548",
    "M180 530H288V548",
    *(f"M{x} 616v22" for x in (72, 180, 288)),
    "M288 706v22",
    "M72 706V814H180M288 796V814H180M180 706V834",
)
_BACK, _TALL_BACK = "M371 440H20V96H440V73", "M60 1010H10V128H60"


def _sheet(name: str, size: tuple[int, int], lines: Iterable[str], back: str) -> str:
    tip = '<path d="M0 0L8 4L0 8z"/>'
    arrow = '<marker id="%s" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="%d" markerHeight="%d" orient="auto">%s</marker>'
    heads = arrow % (f"{name}-on", 8, 8, tip) + arrow % (f"{name}-back", 5, 5, tip)
    ways = "".join(f'<path d="{line}" marker-end="url(#{name}-on)"/>' for line in lines)
    way_back = f'<path class="map-back" d="{back}" marker-end="url(#{name}-back)"/>'
    return f'<svg class="map-{name}" viewBox="0 0 {size[0]} {size[1]}" aria-hidden="true">{heads}{ways}{way_back}</svg>'


def _place(x: float, y: float, size: tuple[int, int], sheet: tuple[int, int]) -> list[str]:
    """Left, top, width and height of a box, in parts of the sheet."""
    width, height = size
    return [f"{100 * part:.2f}%" for part in ((x - width / 2) / sheet[0], (y - height / 2) / sheet[1], width / sheet[0], height / sheet[1])]


def course_map(addresses: dict[str, tuple[str, str]]) -> str:
    """The map as HTML; ``addresses`` holds the address and the title of each chapter by its number. Without a page no box."""
    boxes = []
    for number, words, idea, colour, (column, across), (x, y) in _CHAPTERS:
        if number not in addresses:
            continue
        address, title = addresses[number]
        places = _place(120 + 160 * column, across, _SMALL, WIDE) + _place(x, y, _LONG if colour in ("start", "trunk") else _LANE, TALL)
        style = ";".join(f"--{name}:{place}" for name, place in zip("abcdefgh", places, strict=True))
        small = f" <small>{idea}</small>" if idea else ""
        link = f'<a href="{address}" title="{html.escape(title)}"><span><b>{number}</b> {words}{small}</span></a>'
        boxes.append(f'<li class="map-{colour}" style="{style}">{link}</li>')
    sheets = _sheet("wide", WIDE, _LINES, _BACK) + _sheet("tall", TALL, _TALL_LINES, _TALL_BACK)
    return f'<nav class="course-map" aria-label="Map of the chapters">{sheets}<ol>{"".join(boxes)}</ol></nav>'
