"""Draw the pictures of the README: the map of chapters and a real panel.

    python docs/pictures.py            (the panel needs Chromium and the extra [dev])

Beside the map stands map.json: where each chapter's box lies (left, top, width, height in per cent), for the links of the book.
"""

import json
import shutil

from course_checks.engine import examine
from course_checks.lookup import catalogue
from course_utils.paths import ROOT
from course_utils.show.drawings import arrow, box, sheet
from course_utils.show.figures import BLUE, GREEN, GREY, ORANGE, PURPLE, RED

IMAGES = ROOT / "docs" / "images"

WIDE, TALL = 2.3, 1.05  # of a box
# number, words on the box, column, row, colour
CHAPTERS = [
    ("00", "Start here", 0, 3, GREY),
    ("00b", "A first\nnetwork", 1, 3, GREY),
    ("01", "Kernel\nregression", 2, 3, BLUE),
    ("02", "Soft\nalignment", 3, 3, BLUE),
    ("03", "Self-\nattention", 4, 3, BLUE),
    ("04", "Multi-head\nattention", 5, 3, BLUE),
    ("05", "Positional\nencoding", 0, 2, GREEN),
    ("06", "Masking", 1, 2, GREEN),
    ("07a", "Transformer\nblock", 2, 2, GREEN),
    ("07b", "Norms and\ngates", 3, 2, GREEN),
    ("08a", "Encoder–\ndecoder", 4, 2, GREEN),
    ("08b", "Decoding", 5, 2, GREEN),
    ("09", "BERT\npre-training", 0, 1, ORANGE),
    ("10", "BERT\nfine-tuning", 1, 1, ORANGE),
    ("11a", "GPT", 2.4, 1, RED),
    ("11b", "Prompting\nand scaling", 3.4, 1, RED),
    ("12a", "The family\ntree", 1.4, 0, PURPLE),
    ("12b", "XLNet", 2.4, 0, PURPLE),
    ("13a", "Attention,\nfast", 3.4, 0, BLUE),
    ("13b", "Long, back\nto kernels", 4.4, 0, BLUE),
]
NEXT = [
    ("00", "00b"),
    ("00b", "01"),
    ("01", "02"),
    ("02", "03"),
    ("03", "04"),
    ("05", "06"),
    ("06", "07a"),
    ("07a", "07b"),
    ("07b", "08a"),
    ("08a", "08b"),
    ("09", "10"),
    ("11a", "11b"),
    ("12a", "12b"),
    ("13a", "13b"),
]


def draw_map() -> None:
    """The chapters; those that are not there yet are dashed."""
    ready = {path.name.split("_")[0] for path in (ROOT / "chapters").glob("*.ipynb")}
    fig, ax = sheet(18.4, 7.6, (10.5, 4.4))
    place, boxes = {}, {}
    for number, words, column, row, colour in CHAPTERS:
        x, y = 1.6 + 3.0 * column, 0.9 + 1.9 * row
        place[number] = (x, y)
        box(ax, x, y, f"{number}  {words}", colour, WIDE, TALL)
        if number not in ready:
            ax.patches[-1].set(linestyle=(0, (3, 2)), facecolor="none")
    for start, end in NEXT:
        arrow(ax, (place[start][0] + 1.18, place[start][1]), (place[end][0] - 1.18, place[end][1]))
    arrow(ax, (place["04"][0], place["04"][1] - 0.55), (place["04"][0], 5.62))
    for y, last in ((5.62, "04"), (3.72, "08b")):  # from the end of a row down to the start of the next
        ax.plot([place["05"][0], place[last][0]], [y, y], color=GREY, lw=1.2)
        arrow(ax, (place["05"][0], y), (place["05"][0], y - 0.36))
    arrow(ax, (place["08b"][0], place["08b"][1] - 0.55), (place["08b"][0], 3.72))
    arrow(ax, (place["11a"][0], 3.72), (place["11a"][0], 3.36))
    ax.plot([place["09"][0], place["11b"][0]], [1.84, 1.84], color=GREY, lw=1.2)
    for number in ("09", "10", "11a", "11b"):
        ax.plot([place[number][0]] * 2, [1.84, 2.25], color=GREY, lw=1.2)
    for number in ("12a", "13a"):
        arrow(ax, (place[number][0], 1.84), (place[number][0], 1.45))
    IMAGES.mkdir(exist_ok=True)
    fig.savefig(IMAGES / "map.png", dpi=110, metadata={"Software": None})
    inside = (ax.transData + fig.transFigure.inverted()).transform
    for number, (x, y) in place.items():
        (left, top), (right, bottom) = inside([(x - WIDE / 2, y + TALL / 2), (x + WIDE / 2, y - TALL / 2)])
        boxes[number] = [round(100 * float(part), 1) for part in (left, 1 - top, right - left, top - bottom)]
    rows = ",\n".join(f" {json.dumps(number)}: {json.dumps(box)}" for number, box in boxes.items())
    (IMAGES / "map.json").write_text(f"{{\n{rows}\n}}\n", encoding="utf-8")


def draw_panel() -> None:
    """What ``check`` answers to attention without the square root, photographed in a browser."""
    from playwright.sync_api import sync_playwright

    exercise = next(e for e in catalogue() if e.id == "03.1")
    result = examine(exercise, exercise.misconceptions[0].answer, seed=3)
    page_text = f"<body style='font:14px sans-serif;margin:12px;color:#222;background:white'>{result._repr_html_()}</body>"
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 720, "height": 100}, device_scale_factor=1.5)
        page.set_content(page_text)
        page.locator("body > div").screenshot(path=IMAGES / "panel.png")
        browser.close()


if __name__ == "__main__":
    draw_map()
    draw_panel()
