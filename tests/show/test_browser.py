"""The lab in a real browser: every chapter is opened and run; an exercise is solved wrongly, then rightly; a slider moves.

Runs under ``course.py test --full``. Needs Debian's Chromium (or any ``chromium`` on the path). Screenshots go to the folder
named by ``COURSE_SCREENSHOTS``, if set, and are meant to be looked at.
"""

import json
import os
import time
from functools import partial
from pathlib import Path

import pytest
from browser import CHROMIUM, ROOT, Notebook, copy_of_the_course, lab

from course_utils.launcher.notebooks import DEEPER

pytestmark = [
    pytest.mark.skipif(os.environ.get("COURSE_FULL") != "1", reason="browser tests run under: python course.py test --full"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here (Debian: sudo apt install chromium)"),
]
CHAPTERS = sorted(path.name for path in (ROOT / "chapters").glob("*.ipynb"))
ONLY = [c for c in os.environ.get("COURSE_CHAPTERS", "").split(",") if c]
CHAPTERS = [name for name in CHAPTERS if not ONLY or name.split("_")[0] in ONLY]
COMPANIONS = [
    f"{DEEPER}/{path.name}" for path in (ROOT / "chapters" / DEEPER).glob("*.ipynb") if not ONLY or path.name.split("_")[0] in ONLY
]

NOT_NORMALISED = """def gaussian_weights(query, keys, bandwidth):
    if bandwidth <= 0:
        raise ValueError(f"bandwidth {bandwidth}")
    return torch.exp(-(query[:, None] - keys[None, :]) ** 2 / (2 * bandwidth ** 2))"""
RIGHT = """def gaussian_weights(query, keys, bandwidth):
    if bandwidth <= 0:
        raise ValueError(f"bandwidth {bandwidth}")
    return torch.softmax(-(query[:, None] - keys[None, :]) ** 2 / (2 * bandwidth ** 2), dim=1)"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    course = copy_of_the_course(tmp_path_factory.mktemp("browser"))
    with lab(course) as url:
        yield url


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        chromium = play.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
        )
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.outside = []
    page.on(
        "request",
        lambda r: None if r.url.startswith(("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:")) else page.outside.append(r.url),
    )
    yield page
    if page.evaluate("() => 'jupyterapp' in window"):  # twenty kernels that stay would fill the memory
        page.evaluate("() => window.jupyterapp.serviceManager.sessions.shutdownAll()")
    page.close()


@pytest.mark.parametrize("exercise", ["01.1", "01.5"])
def test_an_address_with_an_exercise_opens_there(page, address, exercise):
    """What `course.py lab` opens; with the formulas and pictures above drawn, and until the reader scrolls on."""
    name = next(path.name for path in (ROOT / "chapters").glob("01_*.ipynb"))
    page.goto(f"{address}/lab/tree/chapters/{name}?reset#exercise-{exercise}")
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
    top = """name => { const inner = document.querySelector(`.jp-Notebook [data-jupyter-id="${name}"], .jp-Notebook [id="${name}"]`);
        const outer = document.querySelector('.jp-Notebook .jp-WindowedPanel-outer').getBoundingClientRect();
        return inner ? inner.getBoundingClientRect().top - outer.top : null; }"""
    page.wait_for_function(f"name => Math.abs(({top})(name) ?? 9999) < 200", arg=f"exercise-{exercise}", timeout=30_000)
    page.wait_for_timeout(6_000)
    assert abs(page.evaluate(top, f"exercise-{exercise}")) < 200
    page.mouse.move(800, 500)
    page.mouse.wheel(0, 1_000)
    page.wait_for_timeout(1_500)
    assert page.evaluate(top, f"exercise-{exercise}") < -500, "the reader goes where he likes"


def shot(page, name: str) -> None:
    folder = os.environ.get("COURSE_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"{name}.png")


@pytest.mark.parametrize("name", [*CHAPTERS, *COMPANIONS])
def test_a_blank_chapter_runs_in_the_lab(page, address, name):
    started = time.perf_counter()
    notebook = Notebook(page, address, f"chapters/{name}")
    opened = time.perf_counter() - started
    assert page.locator(".jp-Dialog").count() == 0, "a dialog stands in the way of a newcomer"
    shot(page, f"{name.split('/')[-1][:3]}open")
    notebook.command("notebook:run-all-cells")
    print(f"{name}: open after {opened:.1f} s, run after {time.perf_counter() - started:.1f} s")
    assert notebook.errors() == []
    assert notebook.js("return nb.widgets.filter(c => c.model.type === 'code').every(c => c.model.executionCount > 0);")
    viewer = notebook.contains("attention_viewer(")
    if viewer >= 0:
        ask_the_viewer(notebook.show(viewer).locator(".attention-viewer").first, page)
        shot(page, f"{name[:3]}viewer")
    shot(page, f"{name[:3]}done")
    AFTERWARDS.get(name.split("_")[0], lambda *_: None)(page, notebook)
    comes_back(page, notebook, address, f"chapters/{name}")
    assert page.outside == [], "a request left the machine"


# The cells with an output that moves, as far as it is drawn; with `whole`, only when every frame has been kept.
LIVE = """const live = nb.widgets.flatMap((cell, index) => (cell.model.type === 'code' ? cell.model.outputs.toJSON() : [])
    .filter(output => output.data?.['application/vnd.course.live+json'])
    .map(output => [index, output.data['application/vnd.course.live+json'].state]));"""
WHOLE = """return live.every(([, state]) => !state.key || Object.keys(state.frames).length >= (state.together
    ? state.values.reduce((all, one) => all * one.length, 1) : state.values.reduce((all, one) => all + one.length - 1, 1)) - 1);"""


def comes_back(page, notebook, address, path) -> None:
    """Saved, opened again and without a kernel's help: every piece moves, and none says that a widget is missing."""
    for index in notebook.js(LIVE + "return live.map(([index]) => index);"):  # drawn, it asks for its frames
        notebook.show(index)
    for _ in range(90):
        if notebook.js(LIVE + WHOLE):
            break
        page.wait_for_timeout(1000)
    assert notebook.js(LIVE + WHOLE), "frames that did not come"
    notebook.command("docmanager:save")
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    notebook = Notebook(page, address, path)
    times = []
    for index in notebook.js(LIVE + "return live.map(([index]) => index);"):
        cell = notebook.show(index)
        piece = cell.locator(".course-live").first
        piece.wait_for(timeout=15_000)
        piece.locator("input, button, svg, textarea, .bet-rows").first.wait_for(state="attached", timeout=15_000)
        for slider in piece.locator(".live-slider input").all() if piece.locator("img").count() else []:
            times += slider.evaluate(STEPS)
    assert "Error displaying widget" not in page.content()
    if times:
        print(f"{path}, opened again: a step takes {sorted(times)[len(times) // 2]:.0f} ms, at most {max(times):.0f} ms, of {len(times)}")


def ask_the_viewer(viewer, page) -> None:
    """Pin the last query, point at a key: the sentence below names both."""
    viewer.scroll_into_view_if_needed()
    query, key = viewer.locator(".query button").last, viewer.locator(".key button").first
    query.click()
    key.hover()
    page.wait_for_timeout(300)
    seen = viewer.locator(".detail").inner_text()
    assert f'"{query.inner_text()}"' in seen and f'looks at "{key.inner_text()}"' in seen and "weight" in seen, seen


def solve_wrongly_then_rightly(page, notebook) -> None:
    """In chapter 01."""
    check = notebook.find("01.1", "check")
    assert "not attempted" in notebook.text(check)

    notebook.type_answer("01.1", NOT_NORMALISED)
    assert "Not normalised" in notebook.run(check)
    notebook.show(check)
    shot(page, "panel_wrong")

    notebook.type_answer("01.1", RIGHT)
    text = notebook.run(check)
    assert "01.1" in text and "right" in text and ("3 of 4" in text or "4 of 4" in text), text
    notebook.show(check)
    shot(page, "panel_right")

    assert notebook.errors() == []


def drag(page, notebook, words: str) -> None:
    """Move the first slider of the cell that holds ``words``: its picture must change, at once where the frame is here."""
    cell = notebook.show(notebook.contains(words))
    slider, image = cell.locator(".course-live input[type=range]").first, cell.locator(".course-live img").first
    slider.scroll_into_view_if_needed()
    page.wait_for_timeout(1500)  # the first frames come
    before = image.get_attribute("src")
    slider.press("ArrowRight" if slider.get_attribute("max") != slider.input_value() else "ArrowLeft")
    page.wait_for_function("([node, old]) => node.src !== old", arg=[image.element_handle(), before], timeout=15_000)
    steps = slider.evaluate(STEPS)
    print(f"{words}: a step takes {sorted(steps)[len(steps) // 2]:.0f} ms, at most {max(steps):.0f} ms, of {len(steps)}")


# Every position of a slider once, with the time from the event to the picture that is ready to be painted.
STEPS = """async (slider) => {
  const image = slider.closest('.course-live').querySelector('img'), times = [];
  for (let at = Number(slider.min); at <= Number(slider.max); at += 1) {
    const begun = performance.now(), old = image.src;
    slider.value = at;
    slider.dispatchEvent(new Event('input', {bubbles: true}));
    for (let wait = 0; image.src === old && wait < 300 && at !== Number(slider.min); wait += 1) {
      await new Promise((done) => setTimeout(done, 1));
    }
    await image.decode();
    times.push(performance.now() - begun);
  }
  return times;
}"""


def answer_to(name: str, exercise: str) -> str:
    """The answer in the solved notebook."""
    cells = json.loads((ROOT / "solutions" / name).read_text(encoding="utf-8"))["cells"]
    return "".join(
        next(cell["source"] for cell in cells if cell["metadata"].get("course") == {"exercise": exercise, "role": "answer", "schema": 1})
    )


def solve(name: str, exercise: str, page, notebook) -> None:
    """With the answer of the solved notebook, and a slider is dragged."""
    check = notebook.find(exercise, "check")
    assert "not attempted" in notebook.text(check)
    notebook.type_answer(exercise, answer_to(name, exercise))
    assert f"✓ {exercise}" in notebook.run(check)
    drag(page, notebook, "explore(")
    shot(page, f"{name[:3]}dragged")
    assert notebook.errors() == []


@pytest.mark.skipif(len(CHAPTERS) < 2 or "00_start_here.ipynb" not in CHAPTERS, reason="leads from chapter 00 to others")
def test_links_open_the_right_notebook_at_the_right_place(page, address):
    """The next chapter, the map, a chapter of the map, and the exercise that is next, in another notebook."""
    notebook = Notebook(page, address, f"chapters/{CHAPTERS[0]}")
    seen = notebook.click("→")
    assert seen["path"] == f"chapters/{CHAPTERS[1]}" and seen["first"].startswith(CHAPTERS[1].split("_")[0])
    seen = notebook.click("map of the course")
    assert seen["path"] == f"chapters/{CHAPTERS[0]}" and "chapters" in seen["first"]
    assert notebook.click("03 Scaled")["path"].startswith("chapters/03_")
    notebook.js("""nb.model.sharedModel.insertCell(1, {cell_type: 'code',
        source: 'from course_checks import progress\\nprogress()'});""")
    page.wait_for_function("() => window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'")
    notebook.run(1)
    page.wait_for_selector(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-RenderedHTML p a", timeout=120_000)
    seen = notebook.click("00.1 ")
    assert seen["path"] == f"chapters/{CHAPTERS[0]}" and seen["first"].startswith("Exercise 00.1")
    assert page.outside == []


@pytest.mark.skipif("03_self_attention.ipynb" not in CHAPTERS, reason="looks at chapter 03")
def test_the_page_shows_what_is_yours_and_hides_what_holds(page, address):
    """Lines of text are short; an exercise has its rule; a test that holds takes 14 pixels; a panel keeps its look untrusted."""
    import axe_playwright_python

    notebook = Notebook(page, address, "chapters/03_self_attention.ipynb")
    assert page.evaluate("() => document.querySelector('.jp-MarkdownOutput > p').getBoundingClientRect().width") <= 44 * 16
    page.wait_for_function("() => document.querySelector('[data-course]')")
    imports = page.locator(".jp-Cell[data-course=imports] .jp-InputArea-editor").first
    assert imports.bounding_box()["height"] < 40
    imports.click()
    assert imports.bounding_box()["height"] > 100
    index = notebook.js("return nb.widgets.findIndex(cell => cell.node.dataset.course === 'silent');")
    cell = notebook.show(index)
    assert cell.bounding_box()["height"] <= 14
    cell.locator(".jp-MoreHorizIcon").click()
    page.wait_for_function("() => document.querySelector('.jp-Cell.jp-mod-active').dataset.course === ''")
    assert "assert" in cell.inner_text()
    panel = """<style>td { color: red }</style><div class="course-panel failed"><div class="head">✗ 03.1 <i>not yet</i></div>
        <div class="tables"><div><table><tr><td class="wrong">+1</td><td class="fine">·</td></tr></table></div></div></div>"""
    check = notebook.find("03.1", "check")
    notebook.js("nb.widgets[argument[0]].model.trusted = false; nb.widgets[argument[0]].model.outputs.fromJSON([argument[1]]);",
                [check, {"output_type": "display_data", "data": {"text/html": panel}, "metadata": {}}])  # fmt: skip
    page.add_script_tag(path=Path(axe_playwright_python.__file__).with_name("axe.min.js"))
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
        page.wait_for_timeout(2000)
        cell = notebook.show(check)
        assert cell.evaluate("cell => getComputedStyle(cell).borderLeft") == "4px solid rgb(141, 108, 171)"
        assert "rgba(184, 62, 38, 0.06)" in cell.locator(".course-panel").evaluate("panel => getComputedStyle(panel).background")
        found = page.evaluate("async () => (await axe.run('.course-panel')).violations.flatMap(one => one.nodes.map(n => one.id + n.html))")
        assert found == []


@pytest.mark.parametrize("name", [name for name in CHAPTERS if name.startswith(("00", "10"))])
def test_what_we_show_is_accessible(page, address, name):
    """Pictures have their description, and axe finds nothing serious in texts and outputs; JupyterLab's own parts are its own."""
    import axe_playwright_python

    notebook = Notebook(page, address, f"chapters/{name}")
    page.add_script_tag(path=Path(axe_playwright_python.__file__).with_name("axe.min.js"))
    pictures = notebook.js("""return nb.widgets.flatMap((cell, index) => cell.model.type === 'code'
        && cell.model.outputs.toJSON().some(output => output.data && output.data['image/png']) ? [index] : []);""")
    assert len(pictures) > 3
    if name.startswith("00_"):  # sliders come when their cell is run; their names a second later
        notebook.command("notebook:run-all-cells")
        page.wait_for_function("() => document.querySelector('.course-live input')")
    for index in pictures:  # only cells near the one in sight are drawn
        notebook.show(index)
        for _ in range(3):  # what is drawn while axe looks has its description a second later
            page.wait_for_function(
                "() => { const all = [...document.querySelectorAll('.jp-OutputArea img')];"
                "return all.length && all.every(image => image.alt); }"
            )
            found = page.evaluate("""async () => (await axe.run(
                {include: [['.jp-OutputArea-output'], ['.jp-RenderedMarkdown']]})).violations
                .filter(found => ['serious', 'critical'].includes(found.impact))
                .flatMap(found => found.nodes.map(node => found.id + ' ' + node.html.slice(0, 200)))
                .filter(text => !text.includes('jp-collapseHeadingButton'))""")
            if not found:
                break
            page.wait_for_timeout(1500)
        assert found == []


def test_from_the_command_to_the_first_plot(browser, tmp_path):
    """As a learner starts: the lab, the page, the first cells of chapter 00 up to its first picture."""
    course = copy_of_the_course(tmp_path)
    started = time.perf_counter()
    with lab(course) as url:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        notebook = Notebook(page, url, f"chapters/{sorted(path.name for path in (ROOT / 'chapters').glob('*.ipynb'))[0]}")
        usable = time.perf_counter() - started
        notebook.js("nb.widgets.forEach(c => c.model.type === 'code' && c.model.clearExecution()); ")
        for _ in range(40):  # cells: far more than stand before the first picture
            if page.locator(".jp-OutputArea img").count():
                break
            notebook.command("notebook:run-cell-and-select-next")
        page.locator(".jp-OutputArea img").first.wait_for(timeout=60_000)  # milliseconds
        plot = time.perf_counter() - started
        page.close()
    print(f"a usable page after {usable:.1f} s, the first plot after {plot:.1f} s")


def look_through_the_viewer(page, notebook) -> None:
    """Hover, pin, arrow keys, another head: the sentence below the lines tells what is seen."""
    cell = notebook.show(notebook.contains("attention_viewer(pieces"))
    viewer = cell.locator(".attention-viewer")
    viewer.scroll_into_view_if_needed()
    queries, keys, detail = viewer.locator(".query button"), viewer.locator(".key button"), viewer.locator(".detail")
    words = queries.all_inner_texts()
    her, owner = words.index("her"), words.index("owner")
    queries.nth(her).click()
    keys.nth(owner).hover()
    page.wait_for_timeout(300)
    seen = detail.inner_text()
    assert f'"her" ({her}) looks at "owner" ({owner}): weight 0.' in seen and "number 1 of" in seen, seen
    shot(page, "viewer_pair")
    viewer.get_by_label("head").select_option(value="0")
    keys.nth(owner).hover()
    page.wait_for_timeout(300)
    assert detail.inner_text() != seen
    queries.nth(her).focus()
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowUp")
    page.wait_for_timeout(300)
    assert f'"{words[her - 1]}" ({her - 1}) looks at' in detail.inner_text()
    assert viewer.locator(".pinned").count() == 0
    shot(page, "viewer_keyboard")
    assert notebook.errors() == []


AFTERWARDS = {
    "00b": partial(drag, words="explore(show_temperature"),
    "01": solve_wrongly_then_rightly,
    "06": partial(solve, "06_masking.ipynb", "06.1"),
    "08a": partial(solve, "08a_encoder_decoder.ipynb", "08a.1"),
    "10": look_through_the_viewer,
}
