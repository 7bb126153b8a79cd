"""Every chapter keeps its budget, but for the lines of the budget listed here; and the list gets shorter until it is empty."""

from __future__ import annotations

import os

import pytest
from counted import CHAPTERS, COMPANIONS, ONLY, chapter_of, counted

from course_tools.authoring.budgets import BUDGETS, COMPANION_WORDS, COMPANIONS_WORDS, run_seconds
from course_tools.authoring.chapter import SOLUTION
from course_tools.authoring.execute import execute
from course_utils.paths import ROOT

# Chapter by chapter, in the order of BUDGETS, the figures that do not keep their budget yet; a dot where it is kept.
# Nothing may be added here, and no figure may get worse. Whoever shortens a chapter takes out what it keeps.
NOT_YET = """
    words lines longest median tables largest pictures over claims reading core
12a  4449   492      23      9     21      62        .   11      7     121  224
"""


def listed() -> dict[str, dict[str, float]]:
    """``{chapter: {line of the budget: figure}}``."""
    rows = [line.split() for line in NOT_YET.strip().splitlines()[1:]]
    return {number: {name: float(word) for name, word in zip(BUDGETS, row, strict=True) if word != "."} for number, *row in rows}


LISTED = listed()
each_line = pytest.mark.parametrize("name", BUDGETS)


@each_line
@pytest.mark.parametrize("number", [number for number in CHAPTERS if not ONLY or number in ONLY])
def test_a_chapter_keeps_its_budget(number: str, name: str) -> None:
    budget, figure = BUDGETS[name], BUDGETS[name].of(counted(number))
    kept, before = budget.over(figure) <= 0, LISTED.get(number, {}).get(name)
    limit = f"{'at least' if budget.floor else 'at most'} {budget.limit:,} {budget.unit}".rstrip()
    if before is None:
        assert kept, f"{number}, {name}: {figure:,g}, and the budget is {limit}"
    else:
        assert not kept, f"{number}, {name}: {figure:,g} keeps the budget ({limit}); take it out of NOT_YET"
        assert budget.over(figure) <= budget.over(before), f"{number}, {name}: {figure:,g} is worse than {before:,g}; the budget is {limit}"


def test_the_list_only_gets_shorter() -> None:
    assert set(LISTED) <= set(CHAPTERS) - {"03"}, "a chapter in the new form is listed no more"
    assert sum(map(len, LISTED.values())) <= 10


@pytest.mark.skipif(os.environ.get("COURSE_FULL") != "1", reason="runs a notebook: `course.py test --full`")
@pytest.mark.parametrize("number", [number for number in CHAPTERS if number not in LISTED])
def test_a_chapter_in_the_new_form_runs_in_its_time(number: str) -> None:
    """By the processor's clock, which other work on the machine does not change much."""
    import resource  # not on Windows

    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = spent()
    execute(chapter_of(number), SOLUTION, "", ROOT)
    assert spent() - before <= run_seconds(number)


@pytest.mark.parametrize("label", COMPANIONS)
def test_a_companion_is_short(label: str) -> None:
    assert counted(label).words <= COMPANION_WORDS


def test_companions_together_are_short() -> None:
    assert sum(counted(label).words for label in COMPANIONS) <= COMPANIONS_WORDS
