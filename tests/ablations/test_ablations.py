"""Break what a claim depends on, and see the chapter's own assertion fail."""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from course_tools.authoring.ledger import find_sources

from . import ablation as of_ablations
from .ablation import ROOT, Ablation, AblationError, Outcome, cells_behind, run, text_of

LEAST = 6  # ablations of a chapter that has them at all
ONLY = [number for number in os.environ.get("COURSE_CHAPTERS", "").split(",") if number]
CHAPTERS = {
    name[2:]: importlib.import_module(f"{__package__}.{name}").ABLATIONS
    for _, name, _ in pkgutil.iter_modules([os.path.dirname(__file__)])
    if name.startswith("ch")
}
EACH = [
    pytest.param(text_of(number, ablation), ablation, id=f"{number}-{ablation.breaks}")
    for number, ablations in CHAPTERS.items()
    for ablation in ablations
    if not ONLY or number in ONLY
]

full = pytest.mark.skipif(os.environ.get("COURSE_FULL") != "1" and not ONLY, reason="ablations run for a named chapter, or with --full")


def test_ablations_belong_to_chapters() -> None:
    assert set(CHAPTERS) <= set(find_sources(ROOT))


@pytest.mark.parametrize("number", CHAPTERS)
def test_a_chapter_has_enough_of_them(number: str) -> None:
    assert len(CHAPTERS[number]) >= LEAST
    assert len({ablation.breaks for ablation in CHAPTERS[number]}) == len(CHAPTERS[number])


@pytest.mark.parametrize(("number", "ablation"), EACH)
def test_an_ablation_fits_its_chapter(number: str, ablation: Ablation) -> None:
    assert cells_behind(number, ablation, broken=True) != cells_behind(number, ablation, broken=False)


@pytest.fixture(scope="module")
def ends(request: pytest.FixtureRequest) -> Callable[[str], dict[Ablation, tuple[Outcome, Outcome]]]:
    """For a chapter: how its cells end as they are, and with each of the breaks that are asked for; run once."""
    asked = [
        item.callspec.params  # type: ignore[attr-defined]  # of a parametrised test
        for item in request.session.items
        if getattr(item, "originalname", "") == "test_the_assertion_fails_when_its_cause_is_removed"
    ]

    @cache
    def of_chapter(number: str) -> dict[Ablation, tuple[Outcome, Outcome]]:
        ablations = [params["ablation"] for params in asked if params["number"] == number]
        whole, broken = run(number, ablations)
        print(f"{number}: {whole.seconds} s as it is")
        return {ablation: (whole, end) for ablation, end in zip(ablations, broken, strict=True)}

    return of_chapter


@full
@pytest.mark.parametrize(("number", "ablation"), EACH)
def test_the_assertion_fails_when_its_cause_is_removed(number: str, ablation: Ablation, ends: Callable) -> None:
    whole, broken = ends(number)[ablation]
    print(f"{number} {ablation.breaks}: {broken.seconds} s broken: {broken.error[:100]}")
    assert not whole.error, f"the cells fail as they are: {whole.error} at {whole.line}"
    if ablation.holds:
        assert not broken.error, f"this should not matter, and it does: {broken.error} at {broken.line!r}"
        return
    assert ablation.fails.strip() in broken.line and broken.error.startswith("AssertionError"), (
        f"broken, the cells should fail at {ablation.fails!r}; they gave {broken.error or 'no error'} at {broken.line!r}"
    )


def test_an_ablation_may_stand_in_a_companion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "# T\n\n```python\nnumber = {}\n```\n\n```python\nassert number > {}\n```\n"
    for name, number in (("03_tiny", 1), ("deeper/03_more", 3)):
        path = tmp_path / "solutions" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(number, number - 1), encoding="utf-8")
    monkeypatch.setattr(of_ablations, "ROOT", tmp_path)
    of_ablations.code_cells.cache_clear()
    of_ablations.runnable_cells.cache_clear()
    wanted = {"03": Ablation("", "a", fails="number > 0", old="= 1", new="= 0"), "03-deeper": Ablation("", "b", "number > 2", "= 3", "= 2")}
    for label, ablation in wanted.items():
        assert text_of("03", ablation) == label
        assert list(cells_behind(label, ablation, broken=True).values())[0] == ablation.new.replace("=", "number =")
    of_ablations.code_cells.cache_clear()
    of_ablations.runnable_cells.cache_clear()


def test_an_ablation_that_fits_nothing_is_refused() -> None:
    with pytest.raises(AblationError):
        cells_behind("01", Ablation("", "", fails="assert no such line"), broken=False)


def test_a_process_that_ends_early_costs_its_own_ablation_alone() -> None:
    first = CHAPTERS["01"][0]
    whole, (broken, ended) = run("01", [first, replace(first, before="import os; os._exit(0)")])
    assert not whole.error and broken.error.startswith("AssertionError") and "without a report" in ended.error
