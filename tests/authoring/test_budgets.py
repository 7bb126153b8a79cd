"""Every chapter keeps its budget."""

from __future__ import annotations

import os

import pytest
from counted import CHAPTERS, COMPANIONS, ONLY, chapter_of, counted

from course_tools.authoring.budgets import BUDGETS, COMPANION_WORDS, COMPANIONS_WORDS, run_seconds
from course_tools.authoring.chapter import SOLUTION
from course_tools.authoring.execute import execute
from course_utils.paths import ROOT

each_line = pytest.mark.parametrize("name", BUDGETS)


@each_line
@pytest.mark.parametrize("number", [number for number in CHAPTERS if not ONLY or number in ONLY])
def test_a_chapter_keeps_its_budget(number: str, name: str) -> None:
    budget, figure = BUDGETS[name], BUDGETS[name].of(counted(number))
    limit = f"{'at least' if budget.floor else 'at most'} {budget.limit:,} {budget.unit}".rstrip()
    assert budget.over(figure) <= 0, f"{number}, {name}: {figure:,g}, and the budget is {limit}"


@pytest.mark.skipif(os.environ.get("COURSE_FULL") != "1", reason="runs a notebook: `course.py test --full`")
@pytest.mark.parametrize("number", CHAPTERS)
def test_a_chapter_runs_in_its_time(number: str) -> None:
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
