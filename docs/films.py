"""Film what moves for the README: a check that answers, and the GPT on the page.

python docs/films.py [panel] [gpt]            (needs Chromium and the extra [dev])
"""

import io
import shutil
import sys
from collections.abc import Callable, Iterator

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from course_checks.engine import examine
from course_checks.lookup import find
from course_tools.authoring.live.scripts import page
from course_utils.paths import ROOT

WIDTH = 760
CELL = """<style>body { font: 14px sans-serif; margin: 14px; color: #222; background: white; }
pre { font: 15px/1.5 monospace; margin: 0 0 12px; padding: 10px; border: 1px solid #cfd6de; border-left: 4px solid #3a7cbd; }</style><pre>
def attention_scores(query, key):
    """
Frames = Iterator[int]  # after each change of the page: for how many milliseconds it is shown


def cell(code: str, says: str) -> str:
    """A cell with this line, and what stands below it."""
    return f"{CELL}{code}</pre>{says}"


def panel(shown: Page) -> Frames:
    """An answer without the square root, what the check says, the answer mended, what it says then."""
    exercise = find("03.1")
    product, root = "return query @ key.transpose(-2, -1)", " / math.sqrt(query.shape[-1])"
    said = [examine(exercise, answer, seed=3)._repr_html_() for answer in (exercise.misconceptions[0].answer, exercise.right)]
    for end in range(0, len(product) + 1, 4):
        shown.set_content(cell(product[:end] + "▏", ""))
        yield 110
    shown.set_content(cell(product, said[0]))
    yield 4500
    for end in range(0, len(root) + 1, 4):
        shown.set_content(cell(product + root[:end] + "▏", said[0]))
        yield 110
    shown.set_content(cell(product + root, said[1]))
    yield 3500


def gpt(shown: Page) -> Frames:
    """A text typed, then a few tokens written by the model."""
    shown.set_content(page("gpt_page"))
    text = shown.locator("textarea")
    sentence = "If the iterable is empty"
    for end in range(6, len(sentence) + 1, 3):
        text.fill(sentence[:end])
        yield 220
    yield 1200
    for _ in range(4):
        shown.get_by_role("button", name="Write one token").click()
        shown.wait_for_timeout(250)
        yield 700
    yield 2000


def film(scene: Callable[[Page], Frames], height: int) -> None:
    """Keep the frames of a scene as ``docs/images/SCENE.webp``."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        shown, frames, times = browser.new_page(viewport={"width": WIDTH, "height": height}, reduced_motion="reduce"), [], []
        for milliseconds in scene(shown):
            frames.append(Image.open(io.BytesIO(shown.screenshot())).convert("RGB"))
            times.append(milliseconds)
        browser.close()
    target = ROOT / "docs" / "images" / f"{scene.__name__}.webp"
    frames[0].save(target, save_all=True, append_images=frames[1:], duration=times, loop=0, quality=70, method=6)
    print(f"{target}: {len(frames)} frames, {sum(times) / 1000:.0f} s, {target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    for scene, height in ((panel, 600), (gpt, 520)):
        if scene.__name__ in (sys.argv[1:] or [scene.__name__]):
            film(scene, height)
