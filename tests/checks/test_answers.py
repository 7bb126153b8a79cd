"""Answers that people typed (tests/answers): right ones pass, wrong ones do not, and the reason they are given holds.

Those that a check once judged wrongly run every day, of the others a quarter; all of them with ``--full`` or for chosen chapters.
"""

import json
import os

import pytest

from course_checks.engine import examine
from course_checks.lookup import chapters, find
from course_utils.paths import ROOT
from tests.answers import Answer, answers

CHOSEN = [c for c in os.environ.get("COURSE_CHAPTERS", "").split(",") if c]
FULL = bool(os.environ.get("COURSE_FULL"))
STEP = 1 if CHOSEN or FULL else 4
ENTRIES = [entry for chapter in CHOSEN or chapters() for entry in answers(chapter)]
DAILY = [entry for entry in ENTRIES if entry.once] + [entry for entry in ENTRIES if not entry.once][::STEP]


def test_every_exercise_has_right_ones() -> None:
    for chapter in CHOSEN or chapters():
        right = [entry.exercise for entry in answers(chapter) if entry.passes]
        few = {exercise.id for exercise in (find(f"{entry}") for entry in dict.fromkeys(right)) if right.count(exercise.id) < 2}
        assert not few, f"fewer than two right answers written differently: {', '.join(sorted(few))}"


def test_the_readme_quotes_the_record_of_published_answers() -> None:
    wrong = json.loads((ROOT / "benchmarks" / "results" / "judge_record.json").read_text(encoding="utf-8"))["wrong"]
    count = sum(bool(entry.seen) and not entry.passes for chapter in chapters() for entry in answers(chapter))
    right = f"{wrong['accepted']} pass, and {count - wrong['where only']} are told why"
    told = f"of {count} wrong answers rebuilt from what others have published, {right}"
    assert sum(wrong.values()) == count and told in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("entry", DAILY, ids=lambda entry: f"{entry.exercise} {entry.what}")
def test_it_is_judged_rightly(entry: Answer) -> None:
    often = {(True, True): 20, (True, False): 5, (False, True): 2}.get((FULL, bool(CHOSEN)), 1) if entry.once else 1
    for seed in range(often):
        result = examine(find(entry.exercise), entry.answer(), seed=1_000 * seed)
        panel = str(result)
        assert result.passed == entry.passes, f"seed {1_000 * seed}\n{panel}"
        for text in entry.says:
            assert text in panel, panel
        for text in entry.never:
            assert text not in panel, panel
