"""Answers that a check once judged wrongly (tests/checks/listed) are judged rightly, whatever is drawn."""

import os

import pytest
from listed import Listed, listed

from course_checks.engine import examine
from course_checks.lookup import find

CHAPTERS = [c for c in os.environ.get("COURSE_CHAPTERS", "").split(",") if c]
SEEDS = {(True, True): 20, (True, False): 5, (False, True): 2}.get((bool(os.environ.get("COURSE_FULL")), bool(CHAPTERS)), 1)
ENTRIES = [entry for entry in listed() if not CHAPTERS or entry.exercise.split(".")[0] in CHAPTERS]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.exercise} {entry.what}")
def test_it_is_judged_rightly(entry: Listed) -> None:
    for seed in range(SEEDS):
        result = examine(find(entry.exercise), entry.answer(), seed=1_000 * seed)
        panel = str(result)
        assert result.passed == entry.right, f"seed {1_000 * seed}\n{panel}"
        for text in entry.says:
            assert text in panel, panel
        for text in entry.never:
            assert text not in panel, panel
