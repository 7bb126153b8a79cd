"""Every piece by keyboard, mouse and touch: each control changes what is seen; wide and light, narrow and dark; axe is content."""

import os

import pytest
from browser import CHROMIUM
from test_live import PIECES

from course_tools.authoring.live.scripts import page as page_of

pytestmark = pytest.mark.skipif(os.environ.get("COURSE_FULL") != "1" or CHROMIUM is None, reason="needs a Chromium, and --full")
CONTROLS = ".live-handle, input[type=range], [role=radio][tabindex='0'], textarea, input:not([type=range])"
SEEN = "root => [root.innerHTML, ...[...root.querySelectorAll('input, textarea')].map(one => one.value)].join()"


@pytest.mark.parametrize("narrow", [False, True], ids=["wide, light, mouse", "narrow, dark, touch"])
@pytest.mark.parametrize("name", PIECES)
def test_every_control_moves_something(tmp_path, name, narrow):
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    (tmp_path / "page.html").write_text(page_of(name, theme="dark" if narrow else "light"), encoding="utf-8")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 390 if narrow else 1440, "height": 900}, has_touch=narrow)
        errors, requests, still = [], [], []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto((tmp_path / "page.html").as_uri())
        root, finger = page.locator(".course-live").first, page.context.new_cdp_session(page)
        page.wait_for_timeout(500)

        def moves(act):
            before = root.evaluate(SEEN)
            act()
            page.wait_for_timeout(60)
            return root.evaluate(SEEN) != before

        def pull(control, dx, dy):
            control.scroll_into_view_if_needed()
            box = control.bounding_box()
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            if not narrow:
                page.mouse.move(x, y)
                page.mouse.down()
                page.mouse.move(x + dx, y + dy, steps=4)
                return page.mouse.up()
            for kind, points in (("Start", [(x, y)]), ("Move", [(x + dx, y + dy)]), ("End", [])):
                touched = [{"x": px, "y": py} for px, py in points]
                finger.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": touched})

        for index in range(root.locator(CONTROLS).count()):
            control = root.locator(CONTROLS).nth(index)
            typed = control.evaluate("one => ['textarea', 'text'].includes(one.type)")
            keys = ["7", "a"] if typed else ["ArrowRight", "ArrowLeft", "ArrowUp"]
            if not any([moves(lambda key=key, control=control: control.press(key)) for key in keys]):
                still.append(f"keys: {control.evaluate('one => one.outerHTML')[:120]}")
        for index in range(root.locator(".live-handle").count()):
            control = root.locator(".live-handle").nth(index)
            if not any([moves(lambda by=by, control=control: pull(control, *by)) for by in ((40, -25), (-40, 25))]):
                still.append(f"pulled: {control.evaluate('one => one.outerHTML')[:120]}")
        page.wait_for_timeout(300)
        found = [v for v in Axe().run(page).response["violations"] if v["impact"] in ("serious", "critical")]
        assert [(v["id"], v["nodes"][0]["html"][:160]) for v in found] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"], "wider than the page"
        browser.close()
    assert errors == [] and still == [] and len(requests) == 1
