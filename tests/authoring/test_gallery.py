"""The gallery of mistakes: a card for each entry of the exercises' pages, and where mistakes were seen in public."""

import re

import torch

from course_checks.engine import examine
from course_checks.heads import EXERCISES, seen, thread
from course_checks.lookup import find, in_chapter
from course_tools.authoring.book import gallery
from course_tools.authoring.book.pages import exercises, read_pages
from course_utils.paths import ROOT


def test_a_page_for_each_chapter_and_a_card_for_each_mistake(tmp_path):
    pages = [page for page in read_pages(ROOT) if page.number == "04"]
    assert gallery.stage_gallery(pages, tmp_path) == ["mistakes/ch04"]
    text = (tmp_path / "mistakes" / "ch04.md").read_text(encoding="utf-8")
    mistakes = [mistake for exercise in in_chapter("04").values() for mistake in exercise.misconceptions]
    assert text.count('<section id="m-04-') == text.count("</section>") == len(mistakes) > 100
    assert all(f"(#{section.label})" in text for page in pages for _, section in exercises(page))
    card = text.split('id="m-04-4-2"')[1].split("</section>")[0]
    for part in ("Heads not swapped back", "(weights @ v).reshape(query.shape)", "comes out", "expected", "In place of", "/issues/8"):
        assert part in card, part
    assert "Shape (" in text and text.count("mistake-numbers") > 60
    first = (tmp_path / "mistakes.md").read_text(encoding="utf-8")
    assert f"know {len(mistakes)} mistakes" in first and '<a href="mistakes/ch04.html#m-04-4-2">' in first


def test_a_card_shows_the_numbers_around_the_first_that_is_wrong():
    exercise = find("03.2")
    found = dict(gallery._found(exercise))
    assert len(found) == len(exercise.misconceptions) and None not in found.values()
    lines = gallery._numbers(next(finding for mistake, finding in found.items() if mistake.name == "not scaled"))
    assert lines[0].count("<table>") == 2 and "class=wrong" in lines[0] and lines[0].count("<td") <= 2 * gallery.ROWS * gallery.COLUMNS
    sheet = gallery._sheet(torch.arange(96.0).view(2, 6, 8), [1, 4, 6])
    assert sheet.shape == (gallery.ROWS, gallery.COLUMNS) and sheet[-1, -1] == 48 + 4 * 8 + 6
    assert gallery._sheet(torch.tensor(2.0), []).tolist() == [[2.0]]


def test_what_was_seen_in_public_is_a_mistake_of_the_exercise():
    """Each line of course_checks/seen.md names an entry and threads; the panel shows them, as links."""
    lines = re.findall(r"(?m)^- .+$", EXERCISES.with_name("seen.md").read_text(encoding="utf-8"))
    assert len(lines) == len(seen()) > 30
    for (exercise, mistake), places in seen().items():
        assert mistake in {one.name for one in find(exercise).misconceptions}, f"{exercise} has no mistake {mistake!r}"
        assert all(re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", place) for place in places) and len(set(places)) == len(places)
    assert thread("owner/repository#8") == "https://github.com/owner/repository/issues/8"
    mistake = next(one for one in find("04.4").misconceptions if one.name == "heads not swapped back")
    result = examine(find("04.4"), mistake.answer, 11)
    assert "Seen in public: jsbaan/transformer-from-scratch#6" in str(result) and "“Mistakes” of chapter 04" in str(result)
    assert "<a href='https://github.com/ajhalthor/Transformer-Neural-Network/issues/8'>" in result.html()
    assert "Seen in public" not in str(examine(find("04.4"), find("04.4").reference, 11))
