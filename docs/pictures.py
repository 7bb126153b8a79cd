"""Draw the pictures of the README: the map of chapters and a real panel.

python docs/pictures.py            (needs Chromium and the extra [dev])
"""

import shutil

from course_checks.engine import examine
from course_checks.lookup import catalogue
from course_tools.authoring.book.course_map import course_map
from course_tools.authoring.ledger import find_sources
from course_utils.paths import ROOT

IMAGES = ROOT / "docs" / "images"


def photograph(markup: str, width: int, name: str) -> None:
    """Show markup in a browser and keep its first element as a picture."""
    from playwright.sync_api import sync_playwright

    page_text = f"<body style='font:14px sans-serif;margin:12px;color:#222;background:white'>{markup}</body>"
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 100}, device_scale_factor=1.5)
        page.set_content(page_text)
        page.locator("body > div").screenshot(path=IMAGES / name)
        browser.close()


def draw_map() -> None:
    """The chapters, as on the cover of the book."""
    styles = (ROOT / "docs" / "book" / "static" / "book.css").read_text(encoding="utf-8")
    colours = ":root { --pst-color-text-base: #222; --pst-color-text-muted: #48566b; --pst-color-background: #fff; }"
    chapters = course_map({number: ("#", "") for number in find_sources(ROOT)})
    photograph(
        f"<style>* {{ box-sizing: border-box; }} {colours} {styles}</style><div class='bd-article-container'>{chapters}</div>",
        930,
        "map.png",
    )


def draw_panel() -> None:
    """What ``check`` answers to attention without the square root, photographed in a browser."""
    exercise = next(e for e in catalogue() if e.id == "03.1")
    result = examine(exercise, exercise.misconceptions[0].answer, seed=3)
    photograph(result._repr_html_(), 720, "panel.png")


if __name__ == "__main__":
    draw_map()
    draw_panel()
