"""A chapter of four cells that move: built, staged, made a page, and operated in a browser from the disk, without a request."""

import base64
import os
import subprocess
import sys

import nbformat
import pytest
import torch

from course_tools.authoring.book.links import CrossReferences, launch_links, papers_of
from course_tools.authoring.book.live import stage_scripts
from course_tools.authoring.book.pages import Page, Section, stage_chapter
from course_tools.authoring.book.pdf import find_browser
from course_tools.authoring.book.verify import problems
from course_tools.authoring.execute import execute
from course_tools.authoring.outputs import output_problem, readable
from course_tools.authoring.slider_frames import reduced
from course_tools.authoring.source import CHAPTER, SOLUTION, read_chapter
from course_utils.paths import ROOT
from course_utils.show.pieces import LIVE
from course_utils.show.widgets import MOST

in_a_browser = pytest.mark.skipif(
    os.environ.get("COURSE_FULL") != "1" or find_browser() is None, reason="needs a Chromium, and runs under: python course.py test --full"
)
TEXT = """# 03 · Four cells that move

```python
import torch
from course_utils.show.figures import panels, picture
from course_utils.show.widgets import explore

torch.manual_seed(0)

def bar(height, colour):
    fig, ax = panels(1, 3, 1.5)
    ax.bar([0], [height + torch.rand(1).item()], color=colour)
    picture(fig, f"a {colour} bar, {height} high")

explore(bar, height=(2, [1, 2, 3]), colour=["red", "blue"])
print("next:", torch.rand(1).item())
```

```python
explore(lambda a, b, c: print(a * b * c), a=list(range(10)), b=(3, list(range(10))), c=[1, 2, 3])
```

```python
from course_utils.show.box import type_and_see
type_and_see(lambda text, times: f"<{times * text}>", "ab", "letters", times=[1, 2])
```

```python
from course_utils.show.viewer import attention_viewer
viewer = attention_viewer(["we", "see"], torch.tensor([[[0.25, 0.75], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]]]))
```

```python jupyter={"source_hidden": true}
from course_utils.show.family import family_tree
tree = family_tree()
```

## Deeper: more of it

A folded end.
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A folder with the chapter's text and both of its notebooks."""
    root = tmp_path_factory.mktemp("course")
    (root / "solutions").mkdir()
    path = root / "solutions" / "03_moves.md"
    path.write_text(TEXT, encoding="utf-8")
    chapter = read_chapter(path)
    for kind, folder in ((SOLUTION, "solutions"), (CHAPTER, "chapters")):  # both carry every frame
        notebook = execute(chapter, kind, "", root)
        nbformat.validate(notebook)
        nbformat.write(notebook, root / folder / "03_moves.ipynb")
    return root


def cells(root, folder):
    return [cell for cell in nbformat.read(root / folder / "03_moves.ipynb", as_version=4).cells if cell.cell_type == "code"]


def lives(root, folder="solutions"):
    return [output.data[LIVE] for cell in cells(root, folder) for output in cell.outputs if LIVE in output.get("data", {})]


@pytest.mark.parametrize("folder", ["solutions", "chapters"])
def test_a_built_notebook_carries_every_frame(course, folder):
    pictures, texts, box, viewer, tree = lives(course, folder)
    assert [live["kind"] for live in (pictures, texts, box, viewer, tree)] == ["frames", "frames", "frames", "viewer", "family"]
    pictures, texts, box, viewer, tree = (live["state"] for live in (pictures, texts, box, viewer, tree))
    assert (pictures["names"], pictures["values"], pictures["start"]) == (["height", "colour"], [["1", "2", "3"], ["red", "blue"]], [1, 0])
    assert pictures["together"] and set(pictures["frames"]) == {"0,0", "0,1", "1,1", "2,0", "2,1"}, "all but the start's own"
    assert pictures["frames"]["2,1"][0]["alt"] == "a blue bar, 3 high" and "key" not in pictures, "no kernel holds it later"
    assert base64.b64decode(pictures["frames"]["2,1"][0]["png"]).startswith(b"\x89PNG")
    assert not texts["together"] and len(texts["frames"]) == 9 + 9 + 2, "300 texts are too many: one slider at a time"
    assert texts["frames"]["5,3,0"] == [{"text": "15"}]
    assert box["typed"] == {"label": "letters", "text": "ab"} and box["frames"] == {"1": [{"text": "letters: ab\n<abab>"}]}
    assert viewer["shape"] == [1, 2, 2, 2] and base64.b64decode(viewer["weights"])[:4] == b"\x00\x40\xff\xbf"
    assert tree["selected"] == "BERT" and len(tree["members"]) > 15


def test_frames_change_nothing_else(course):
    """The random numbers go on as if no frame had been drawn, and what a frame says is text, too."""
    solved = cells(course, "solutions")
    assert "next: 0." in "\n".join(readable(output) for output in solved[0].outputs)
    torch.manual_seed(0)
    torch.rand(1)  # for the first bar
    assert f"next: {torch.rand(1).item()}" in "\n".join(readable(output) for output in solved[0].outputs)
    every = [output for cell in solved for output in cell.outputs]
    assert not any(output_problem(output, [str(course)]) for output in every)
    assert "<abab>" in "\n".join(map(readable, every)), "the text of frames is text, and is searched for paths of a machine"


def test_a_frame_is_the_same_on_every_build(course):
    png = next(output.data["image/png"] for output in cells(course, "chapters")[0].outputs if "image/png" in output.get("data", {}))
    small = reduced({"png": png, "alt": "a"})
    assert small == reduced({"png": png, "alt": "a"}) and len(small["png"]) < len(png) and small["alt"] == "a"
    assert MOST <= 100, "a page loads them all when a slider is touched"


@pytest.fixture(scope="module")
def site(course, tmp_path_factory):
    """The chapter as a site of one page, made by Sphinx with the book's settings."""
    import shutil

    work = tmp_path_factory.mktemp("book")
    shutil.copytree(ROOT / "docs" / "book" / "static", work / "pages" / "static")
    shutil.copy(ROOT / "docs" / "book" / "conf.py", work / "pages")
    (work / "pages" / "static" / "homes.js").write_text("window.courseHomes = [];\n", encoding="utf-8")  # made with the indexes
    sections = (Section("03 · Four cells that move", "s-03-0", 1), Section("Deeper: more of it", "s-03-1", 46))
    page = Page("03", "03_moves", sections[0].text, sections, {})
    stage_scripts(work / "pages" / "static" / "live")
    stage_chapter(page, course, work / "pages", CrossReferences([page], {}))
    (work / "pages" / "index.md").write_text("# Home\n\n```{toctree}\nchapters/03_moves\n```\n\n[in a fold](#s-03-1)\n", encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "-d", work / "trees", work / "pages", work / "site"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return work / "site"


def test_the_page_holds_a_still_picture_and_what_moves_it(site):
    html = (site / "chapters" / "03_moves.html").read_text(encoding="utf-8")
    assert problems(site) == []
    assert [html.count(f'data-live="{kind}"') for kind in ("frames", "viewer", "family")] == [3, 1, 1]
    assert html.count("<img") == 3 and "Show the code" in html
    assert "application/vnd" not in html and "ipywidgets" not in html


def test_a_script_that_is_missing_is_found(tmp_path):
    (tmp_path / "page.html").write_text('<div data-live="viewer" data-state="x" data-needs="kit viewer"></div>', encoding="utf-8")
    found = "\n".join(problems(tmp_path))
    assert all(f"live/{name}" in found for name in ("x.js", "kit.js", "viewer.js", "viewer.css", "live.css"))


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        yield started
        started.close()


@in_a_browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1300, 390])
def test_the_page_lives_without_a_server(site, browser, width, theme):
    page, asked, faults = browser.new_page(viewport={"width": width, "height": 900}), [], []
    page.on("request", lambda request: asked.append(request.url) if not request.url.startswith(("file:", "data:", "blob:")) else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.add_init_script(f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}');")
    page.goto((site / "chapters" / "03_moves.html").as_uri())
    live, ranges = page.locator(".live"), page.locator(".live input[type=range]")

    image = live.nth(0).locator("img")
    still = image.get_attribute("src")
    page.get_by_label("height").press("ArrowRight")
    page.get_by_label("colour").press("ArrowRight")
    assert image.get_attribute("alt") == "a blue bar, 3 high" and image.get_attribute("src") != still
    assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
    assert page.get_by_label("height").get_attribute("aria-valuetext") == "3"
    page.get_by_label("height").press("ArrowLeft")
    page.get_by_label("colour").press("Home")
    assert image.get_attribute("src") == still

    live.nth(1).scroll_into_view_if_needed()
    ranges.nth(2).press("End")  # a
    assert live.nth(1).locator("pre").inner_text().strip() == "27"
    ranges.nth(3).press("End")  # b: a goes back to its start
    assert live.nth(1).locator("pre").inner_text().strip() == "0" and "one slider moves at a time" in live.nth(1).inner_text()
    page.get_by_label("times").press("ArrowRight")
    assert live.nth(2).locator("pre").inner_text().strip() == "letters: ab\n<abab>"
    page.get_by_label("letters").fill("x")
    assert "needs Python" in live.nth(2).inner_text()

    live.nth(3).scroll_into_view_if_needed()
    viewer = page.locator(".attention-viewer")
    viewer.get_by_role("option", name="we").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('.attention-viewer .detail').textContent.includes('\"see\" 0.75')")
    viewer.get_by_label("head").select_option(value="1")
    page.wait_for_function("document.querySelector('.attention-viewer .detail').textContent.includes('\"we\" 1.00')")
    viewer.get_by_role("option", name="see").nth(1).click()  # one is kept on each side
    page.wait_for_function("document.querySelector('.attention-viewer .detail').textContent.includes('weight 0.000')")

    live.nth(4).scroll_into_view_if_needed()
    tree = page.locator(".family-tree")
    tree.locator("[role=option][aria-selected=true]").press("ArrowLeft")  # from BERT
    assert tree.locator(".detail").inner_text().startswith("Transformer · ")
    if width == 390:
        boxes = [button.bounding_box() for button in tree.get_by_role("option").all()]
        assert min(box["x"] for box in boxes) >= 0 and max(box["x"] + box["width"] for box in boxes) <= 390
    ground = tree.evaluate("tree => getComputedStyle(tree).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)")
    assert (sum(ground) > 600) == (theme == "light")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert not page.get_by_text("A folded end.").is_visible()
    page.goto((site / "index.html").as_uri())
    page.get_by_role("link", name="in a fold").click()
    page.get_by_text("A folded end.").wait_for(state="visible", timeout=15_000)
    page.close()
    assert asked == [] and faults == []


@in_a_browser
def test_without_javascript_and_on_paper_the_still_picture_stands(site, browser):
    for address, javascript in (("", False), ("?print", True)):
        context = browser.new_context(java_script_enabled=javascript)
        page = context.new_page()
        page.goto((site / "chapters" / "03_moves.html").as_uri() + address)
        assert page.locator(".live img").count() == 3 and page.locator(".live img").nth(2).is_visible()
        assert page.locator(".live input, .course-live").count() == 0 and page.get_by_text("A folded end.").is_visible()
        context.close()


PAGES = [Page(number, f"{number}_x", number, (Section(number, f"s-{number}-0", 1),), {}) for number in ("03", "05", "11a", "11b")]


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("See chapter 05, and Chapters 03 and 11b.", "See [chapter 05](#s-05-0), and Chapters 03 and [11b](#s-11b-0)."),
        ("as in exercise 05.2 (05)", "as in [exercise 05.2](#e) ([05](#s-05-0))"),
        ("chapter 11, exercise 99.1", "[chapter 11](#s-11a-0), exercise 99.1"),
        ("chapter 3, 05 years, chapter 05x, (12)", "chapter 3, 05 years, chapter 05x, (12)"),
        *[(kept, kept) for kept in ("# Of chapter 05\n", "`chapter 05` $chapter 05$", "```\nchapter 05\n```\n", "<!-- chapter 05 -->")],
        ("[chapter 05](a) <a href='b'>chapter 05</a>", "[chapter 05](a) <a href='b'>chapter 05</a>"),
        ("<details><summary>chapter 05</summary>\n\nchapter 05", "<details><summary>chapter 05</summary>\n\n[chapter 05](#s-05-0)"),
        ("*A Paper on It* and **A Paper on It**", "[*A Paper on It*](https://a.b/c) and **A Paper on It**"),
        ("- A. Author, *A Paper on It*, [here](https://a.b/c)", "- A. Author, *A Paper on It*, [here](https://a.b/c)"),
    ],
)
def test_mentions_become_links(text, linked):
    papers = papers_of(["**Papers**\n\n- A. Author, *A Paper on It*, 2017, [here](https://a.b/c)\n"])
    assert CrossReferences(PAGES, {"05.2": "e"}).link(text, "03", papers) == linked


def test_a_chapter_is_launched_only_where_an_address_is_known(tmp_path):
    sys.path.insert(0, str(ROOT / "docs"))
    import publish

    assert launch_links(tmp_path, "05_order") == ""
    (tmp_path / "README.md").write_text("<!-- ways in -->\n<!-- /ways in -->", encoding="utf-8")
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "05_order.ipynb").write_text('{"cells": []}', encoding="utf-8")
    assert launch_links(tmp_path, "05_order") == ""
    assert publish.main(["acme/attention"], tmp_path) == 0
    found = launch_links(tmp_path, "05_order")
    assert found.count("<a ") == 2 and "acme/attention/main?urlpath=lab/tree/chapters/05_order.ipynb" in found
    assert "colab/05_order.ipynb" in found and "codespaces" not in found
    assert launch_links(tmp_path, "06_other").count("<a ") == 1, "a chapter without a copy for Colab"
