"""docs/faq.md: in step with the chapters, and each of its answers leads to a place, and to an assertion that is there."""

import re

import pytest

from course_tools.authoring import faq
from course_tools.authoring.book.pages import read_pages
from course_utils.paths import ROOT

PAGE = (ROOT / "docs" / "faq.md").read_text(encoding="utf-8")
PAGES = read_pages(ROOT)
ENTRIES = faq.entries(PAGE)
BY_HAND = faq.entries(PAGE.split(faq.LAST)[1])


def test_the_page_is_in_step_with_the_chapters():
    assert faq.made(ROOT) == PAGE, "run  python -m course_tools.authoring.faq"


def test_every_answer_leads_to_its_place_and_quotes_what_is_asserted_there():
    assert [one.asked for one in ENTRIES if one.shown is None] == [], "each answer ends with 'Shown in' or 'More in'"
    for one in ENTRIES:
        place = faq.target(one.shown["way"], PAGES)
        assert not one.shown["asserted"] or one.shown["how"] == "Shown" and faq.holds(one.shown["asserted"], *place, ROOT), one.asked
    assert sum(bool(one.shown["asserted"]) for one in ENTRIES) > 60


def test_answers_by_hand_are_short_and_plain():
    """What people ask in public: two to five sentences, and a question of its own."""
    assert len(BY_HAND) >= 46 and len({one.asked for one in ENTRIES}) == len(ENTRIES)
    for one in BY_HAND:
        count = len(re.findall(r"[.!?](?=\s|$)", one.answer))
        assert 2 <= count <= 5 and len(one.answer.split()) < 100, f"{one.asked}: {count} sentences"


def test_a_place_that_is_gone_and_an_assertion_that_is_gone_are_replaced():
    line = "Shown in [04 · 2.2 The layer](<../chapters/04_multi_head_attention.ipynb#2.2-The-layer>). Asserted: `count == 4 * 512**2`"
    shown = faq.SHOWN.fullmatch(line)
    assert faq.still_true(shown, PAGES, ROOT) == line
    assert faq.still_true(faq.SHOWN.fullmatch(line.replace("512", "513")), PAGES, ROOT) == line.split(" Asserted")[0]
    assert faq.still_true(faq.SHOWN.fullmatch(line.replace("The-layer", "No")), PAGES, ROOT) == ""
    with pytest.raises(faq.AuthoringError, match="leads nowhere"):
        faq.target("04_multi_head_attention.ipynb#2.2-No", PAGES)
    assert "[04 · 2.2 The layer](#s-04-" in faq.for_book(line, PAGES)


def test_questions_are_read_as_a_chapter_has_them():
    source = (
        "**Questions people ask**\n\n<details><summary>Why `a`?</summary>\n<!-- ledger: 03-01 -->\n\nBecause.\n\nSo.\n\n</details>\n\n"
        "## Summary\n\n<details><summary>No.</summary>\n\nx\n\n</details>\n"
    )
    assert list(faq.questions(source)) == [("Why `a`?", "Because.\n\nSo.")]
    assert list(faq.questions("no such section")) == []
