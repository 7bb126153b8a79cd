"""Heads as slices in a browser: the wrong cut moves the numbers, a head that is off is missed in its slice, with W_O everywhere."""

import os

import pytest
from browser import CHROMIUM

from course_tools.authoring.live.scripts import page as page_of

pytestmark = pytest.mark.skipif(os.environ.get("COURSE_FULL") != "1" or CHROMIUM is None, reason="needs a Chromium, and --full")
PLACES = "() => [...document.querySelectorAll('.cell')].map(one => one.style.transform)"


def test_the_wrong_cut_moves_the_numbers(tmp_path):
    from playwright.sync_api import sync_playwright

    (tmp_path / "page.html").write_text(page_of("head_slices"), encoding="utf-8")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 768, "height": 900})
        page.goto((tmp_path / "page.html").as_uri())
        said, right = page.locator(".live-say"), page.evaluate(PLACES)
        assert "head 1 looks most at 4 “the” (0.93)" in said.inner_text()
        page.get_by_role("button", name="head 2").click()
        assert "4 of 12 numbers change" in said.inner_text()
        page.get_by_role("slider", name="W_O mixes").press("ArrowRight")
        assert "12 of 12 numbers change" in said.inner_text()
        page.get_by_role("radio", name="wrong").click()
        moved = sum(old != new for old, new in zip(right, page.evaluate(PLACES), strict=True))
        assert moved > 40 and "all 12 numbers of “the” and 8 of the 12 numbers of “cat”" in said.inner_text()
        page.locator(".cell").nth(7).dispatch_event("click")
        assert page.get_by_text("This cell: token 1 “the”, feature 7, now in head 1.").count() == 1
        page.get_by_role("button", name="Start again").click()
        assert page.evaluate(PLACES) == right
        browser.close()
