"""Answers written from the blank chapters (tests/checks/bank): right ones pass, wrong ones do not, and the reason they are given holds.

A quarter of them daily, all with ``--full`` or for chosen chapters.
"""

import os

import pytest
from bank import Answer, bank

from course_checks.engine import examine
from course_checks.lookup import chapters, find

CHOSEN = [c for c in os.environ.get("COURSE_CHAPTERS", "").split(",") if c]
STEP = 1 if CHOSEN or os.environ.get("COURSE_FULL") else 4
ENTRIES = [entry for chapter in CHOSEN or chapters() for entry in bank(chapter)]


def test_there_are_enough_of_them() -> None:
    for chapter in chapters():
        for exercise in {entry.exercise for entry in bank(chapter)}:
            right = [entry.right for entry in bank(chapter) if entry.exercise == exercise]
            assert right.count(True) >= 3 and right.count(False) >= 8, exercise
    assert len({entry.exercise for chapter in chapters() for entry in bank(chapter)}) == 143


@pytest.mark.parametrize("entry", ENTRIES[::STEP], ids=lambda entry: f"{entry.exercise} {entry.what}")
def test_it_is_judged_rightly(entry: Answer) -> None:
    result = examine(find(entry.exercise), entry.answer(), seed=0)
    panel = str(result)
    assert result.passed == entry.right, panel
    for text in entry.says:
        assert text in panel, panel
    for text in entry.never:
        assert text not in panel, panel
