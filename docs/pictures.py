"""Draw the map of chapters for the README, as it stands on the cover of the book. The README's films: docs/films.py.

python docs/pictures.py            (needs Chromium and the extra [dev])
"""

import shutil

from playwright.sync_api import sync_playwright

from course_tools.authoring.book.course_map import course_map
from course_tools.authoring.ledger import find_sources
from course_utils.paths import ROOT


def draw_map() -> None:
    """The chapters, as on the cover of the book."""
    styles = (ROOT / "docs" / "book" / "static" / "book.css").read_text(encoding="utf-8")
    colours = "--pst-color-text-base: #222; --pst-color-text-muted: #48566b; --pst-color-background: #fff"
    chapters = course_map({number: ("#", "") for number in find_sources(ROOT)})
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 930, "height": 100}, device_scale_factor=1.5)
        shown = f":root {{ {colours}; font: 14px sans-serif; background: white; }} * {{ box-sizing: border-box; }} {styles}"
        page.set_content(f"<style>{shown}</style><div class='bd-article-container'>{chapters}</div>")
        page.locator(".bd-article-container").screenshot(path=ROOT / "docs" / "images" / "map.png")
        browser.close()


if __name__ == "__main__":
    draw_map()
