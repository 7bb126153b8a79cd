"""Break what a claim depends on, and see the chapter's own assertion fail."""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from course_tools.authoring.ledger import find_sources

from .control import ROOT, Control, ControlError, Outcome, cells_behind, run

LEAST = 6  # controls of a chapter that has them at all
ONLY = [number for number in os.environ.get("COURSE_CHAPTERS", "").split(",") if number]
CHAPTERS = {
    name[2:]: importlib.import_module(f"{__package__}.{name}").CONTROLS
    for _, name, _ in pkgutil.iter_modules([os.path.dirname(__file__)])
    if name.startswith("ch")
}
EACH = [
    pytest.param(number, control, id=f"{number}-{control.breaks}")
    for number, controls in CHAPTERS.items()
    for control in controls
    if not ONLY or number in ONLY
]

full = pytest.mark.skipif(os.environ.get("COURSE_FULL") != "1" and not ONLY, reason="controls run for a named chapter, or with --full")


def test_controls_belong_to_chapters() -> None:
    assert set(CHAPTERS) <= set(find_sources(ROOT))


@pytest.mark.parametrize("number", CHAPTERS)
def test_a_chapter_has_enough_of_them(number: str) -> None:
    assert len(CHAPTERS[number]) >= LEAST
    assert len({control.breaks for control in CHAPTERS[number]}) == len(CHAPTERS[number])


@pytest.mark.parametrize(("number", "control"), EACH)
def test_a_control_fits_its_chapter(number: str, control: Control) -> None:
    assert cells_behind(number, control, broken=True) != cells_behind(number, control, broken=False)


@pytest.fixture(scope="module")
def ends(request: pytest.FixtureRequest) -> Callable[[str], dict[Control, tuple[Outcome, Outcome]]]:
    """For a chapter: how its cells end as they are, and with each of the breaks that are asked for; run once."""
    asked = [
        item.callspec.params
        for item in request.session.items
        if getattr(item, "originalname", "") == "test_the_assertion_fails_when_its_cause_is_removed"
    ]

    @cache
    def of_chapter(number: str) -> dict[Control, tuple[Outcome, Outcome]]:
        controls = [params["control"] for params in asked if params["number"] == number]
        whole, broken = run(number, controls)
        print(f"{number}: {whole.seconds} s as it is")
        return {control: (whole, end) for control, end in zip(controls, broken, strict=True)}

    return of_chapter


@full
@pytest.mark.parametrize(("number", "control"), EACH)
def test_the_assertion_fails_when_its_cause_is_removed(number: str, control: Control, ends: Callable) -> None:
    whole, broken = ends(number)[control]
    print(f"{number} {control.breaks}: {broken.seconds} s broken: {broken.error[:100]}")
    assert not whole.error, f"the cells fail as they are: {whole.error} at {whole.line}"
    assert control.fails.strip() in broken.line and broken.error.startswith("AssertionError"), (
        f"broken, the cells should fail at {control.fails!r}; they gave {broken.error or 'no error'} at {broken.line!r}"
    )


def test_a_control_that_fits_nothing_is_refused() -> None:
    with pytest.raises(ControlError):
        cells_behind("01", Control("", "", fails="assert no such line"), broken=False)


def test_a_process_that_ends_early_costs_its_own_control_alone() -> None:
    first = CHAPTERS["01"][0]
    whole, (broken, ended) = run("01", [first, replace(first, before="import os; os._exit(0)")])
    assert not whole.error and broken.error.startswith("AssertionError") and "without a report" in ended.error
