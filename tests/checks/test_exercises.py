"""The proof of every exercise: reference, right answer and answers in other words score full marks, every misconception is rejected and
named, a blank is "not attempted", an exception is shown with the learner's own line.

``COURSE_CHAPTERS=03,08a`` restricts it to those chapters.
"""

import os
import re
import sys
from collections import defaultdict
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch

from course_checks.case import Case
from course_checks.changes import PageError, edited
from course_checks.engine import examine
from course_checks.exercise import Exercise, FunctionExercise
from course_checks.expected import expected_of
from course_checks.known import Known
from course_checks.lookup import chapters, in_chapter
from course_checks.misconceptions import Misconception, read_page
from course_checks.observe import observe
from course_tools.authoring.ledger import find_texts
from course_utils.paths import ROOT
from tests.answers import right_ones

SOURCES = list(find_texts(ROOT).values())
ONLY = [c for c in os.environ.get("COURSE_CHAPTERS", "").split(",") if c]
# The cases of a seed are drawn once, and what misconceptions do on them is found out once: a hundred answers ask for the same.
CHOSEN = {e.id: e for chapter in ONLY or chapters() for e in in_chapter(chapter).values()}
EXERCISES = [replace(e, draw=cache(e.draw), fixed=cache(e.fixed)) for e in CHOSEN.values()]
KNOWN: defaultdict[str, Known] = defaultdict(Known)
RUNNING = [e for e in EXERCISES if e.runs]
PAIRS = [pytest.param(e, m, id=f"{e.id}-{m.name}") for e in EXERCISES for m in e.misconceptions]
FULL = os.environ.get("COURSE_FULL")
SEEDS = (11, 222) if FULL or ONLY else (11,)  # a check draws three times from each; test --full tries thirty besides


def examined(exercise: Exercise, answer: Any, seed: int) -> Any:
    """The result of a check, with what is known of the exercise."""
    return examine(exercise, answer, seed, KNOWN[exercise.id])


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_every_edit_fits(exercise: Exercise) -> None:
    """Building a wrong answer fails where a line of the page does not stand exactly once in the right answer."""
    assert all(misconception.answer is not None for misconception in exercise.misconceptions)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_reference_scores_full_marks(exercise: Exercise) -> None:
    for seed in SEEDS:
        result = examined(exercise, exercise.reference, seed)
        assert result.passed and result.points == result.possible == sum(exercise.parts.values()), str(result)
        assert result.use is exercise.reference


@pytest.mark.parametrize("exercise", RUNNING, ids=lambda e: e.id)
def test_the_right_answer_computes_what_is_asked(exercise: Exercise) -> None:
    """What the page edits is right, but for refusals, which a reference may have around it."""
    result = examined(exercise, exercise.right, SEEDS[0])
    assert result.passed or result.finding.case.rejects is not None, str(result)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_differently_written_answers_score_full_marks(exercise: Exercise) -> None:
    answers = right_ones(exercise.id)
    assert len(answers) >= 2, f"{exercise.id} has {len(answers)} right answers in other words in tests/answers; two are asked for"
    for answer in answers:
        for seed in SEEDS:
            result = examined(exercise, answer, seed)
            assert result.passed, f"{answer}:\n{result}"
            assert result.use is answer


@pytest.mark.parametrize("exercise, misconception", PAIRS)
def test_every_misconception_is_rejected_and_named(exercise: Exercise, misconception: Misconception) -> None:
    for seed in SEEDS:
        result = examined(exercise, misconception.answer, seed)
        assert not result.passed, f"{misconception.name}: right on all cases: it is no mistake, or a case is missing that shows it"
        assert result.points < result.possible
        lost = f"It loses the parts {', '.join(lost_parts(exercise, result))}."
        assert result.mistake == misconception.name, f"{misconception.name} was taken for {result.mistake!r}. {lost}\n{result}"
        assert result.hint == misconception.hint
        assert (result.stage == "not attempted") == misconception.untouched
        assert result.use is exercise.reference


@pytest.mark.skipif(not FULL, reason="many seeds of every exercise take long: test --full")
@pytest.mark.parametrize("exercise", RUNNING, ids=lambda e: e.id)
def test_no_verdict_depends_on_the_seed(exercise: Exercise) -> None:
    plain, right = CHOSEN[exercise.id], [exercise.reference, *right_ones(exercise.id)]
    for seed in range(100 if ONLY else 30):
        result = examine(plain, right[seed % len(right)], 1_000 * seed)
        assert result.passed, f"seed {1_000 * seed}\n{result}"
        misconception = exercise.misconceptions[seed % len(exercise.misconceptions)]
        assert not examine(plain, misconception.answer, 1_000 * seed).passed, f"{misconception.name} passes with seed {1_000 * seed}"


def lost_parts(exercise: Exercise, result: Any) -> list[str]:
    """Parts of which an answer has lost points."""
    return [part for part, points in result.earned.items() if points < exercise.parts[part]]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_blank_is_not_attempted(exercise: Exercise) -> None:
    result = examined(exercise, exercise.blank(), 3)
    assert (result.stage, result.points, result.mistake) == ("not attempted", 0, None)


@pytest.mark.parametrize("exercise", RUNNING, ids=lambda e: e.id)
def test_an_exception_is_shown_with_the_learners_own_line(exercise: Exercise) -> None:
    def broken(*args, **kwargs):
        return torch.zeros(2) @ torch.zeros(3)  # the faulty line

    class Broken(torch.nn.Module):
        def __init__(self, *args, **kwargs):
            super().__init__()
            torch.zeros(2) @ torch.zeros(3)  # the faulty line

    result = examined(exercise, broken if isinstance(exercise, FunctionExercise) else Broken, 3)
    assert result.stage == "raised" and "the faulty line" in result.message and "RuntimeError" in result.message


@pytest.mark.parametrize("exercise", RUNNING, ids=lambda e: e.id)
def test_right_answers_survive_other_layouts(exercise: Exercise) -> None:
    """The inputs arrive non-contiguous: nobody may depend on ``view``-able memory."""

    def scattered(value):
        if isinstance(value, dict):
            return {key: scattered(item) for key, item in value.items()}
        if isinstance(value, torch.Tensor) and value.dim() > 1:
            return value.mT.contiguous().mT
        if isinstance(value, torch.Tensor) and value.dim():
            return torch.stack([value, value], dim=-1)[..., 0]
        return value

    moved = replace(exercise, draw=cache(lambda seed: [replace(c, args=scattered(c.args)) for c in exercise.draw(seed)]))
    known = Known()
    for answer in [exercise.reference, *right_ones(exercise.id)]:
        result = examine(moved, answer, 5, known)
        assert result.passed, str(result)


def test_layouts_reach_the_answer() -> None:
    """The proof above would be empty if copies were made contiguous on the way."""

    def look(x):
        return torch.tensor(float(x.is_contiguous()))

    assert observe("function", look, {"x": torch.zeros(2, 3).mT}).value == 0
    assert observe("function", look, {"x": torch.zeros(6, 2)[:, 0]}).value == 0


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_every_part_bites(exercise: Exercise) -> None:
    """For every part there is a known wrong answer, or a missing refusal, that loses its points; what only refuses is lost by a guess."""
    lost = {part for part in exercise.parts if all(case.rejects for case in exercise.cases((1,)) if case.part == part)}
    for misconception in exercise.misconceptions:
        result = examined(exercise, misconception.answer, SEEDS[0])
        lost |= set(lost_parts(exercise, result))
        if lost == set(exercise.parts):
            break
    assert lost == set(exercise.parts), f"nothing loses {set(exercise.parts) - lost}"


@pytest.mark.parametrize("exercise", RUNNING, ids=lambda e: e.id)
def test_bad_input_that_gets_a_result_is_noticed(exercise: Exercise) -> None:
    """A right answer that refuses nothing loses exactly the parts that ask for a refusal."""
    refusing = {case.part for case in exercise.cases((SEEDS[0],)) if case.rejects is not None}
    if not refusing or not isinstance(exercise, FunctionExercise):
        return

    def trusting(*args, **kwargs):
        try:
            return exercise.reference(*args, **kwargs)
        except ValueError:
            return torch.zeros(())

    result = examined(exercise, trusting, SEEDS[0])
    assert result.mistake == "accepts bad input" and set(lost_parts(exercise, result)) == refusing, str(result)


@pytest.mark.parametrize("exercise", RUNNING, ids=lambda e: e.id)
def test_oracles_can_be_differentiated(exercise: Exercise) -> None:
    """Where gradients are compared the oracle must have one; else the panel blames answers that are right."""
    for case in [case for case in exercise.cases((4,)) if case.gradients and case.rejects is None]:
        expected_of(exercise, case)


PAGE = """# 99.1 Double

`double(x) -> 2 x`

★ 5 minutes; points: values 1

## not doubled
- return x + x
+ return x
The number that comes out is the one that went in.
"""


def double(x):
    return x + x


def test_an_oracle_that_cuts_the_graph_is_an_error(tmp_path) -> None:
    (tmp_path / "double.md").write_text(PAGE, encoding="utf-8")
    exercise = FunctionExercise(
        file=str(tmp_path / "double.py"),
        right=double,
        oracle=lambda x: torch.tensor([2 * number for number in x.tolist()]),
        draw=lambda seed: [Case("one row", {"x": torch.ones(3)}, gradients=("x",))],
    )
    with pytest.raises(ValueError, match=r"exercise 99.1, case 'one row': gradients by x are asked for, but the oracle"):
        examine(exercise, exercise.reference)


# ---- pages of mistakes ---------------------------------------------------------------------------------------


def test_an_edit_replaces_whole_lines_that_stand_once() -> None:
    text = "def f(x):\n    for i in x:\n        y = i\n        z = i\n    return y\n"
    assert edited(text, ((("y = i",), ("y = 2 * i", "w = y")),)).count("        w = y\n") == 1
    assert (
        edited(text, ((("for i in x:", "    y = i"), ("for i in x[1:]:", "    y = i")),)).count("    for i in x[1:]:\n        y = i") == 1
    )
    assert edited(text, ((("z = i",), ()),)).count("z") == 0
    for old in (("i",), ("y = j",), ("y = i", "    z = i")):
        with pytest.raises(PageError, match="stands 0 times"):
            edited(text, ((old, ("pass",)),))
    with pytest.raises(PageError, match="stands 2 times"):
        edited(text + "    y = i\n", ((("y = i",), ("pass",)),))


@pytest.mark.parametrize(
    "old, new, says",
    [
        ("★ 5 minutes; points: values 1", "5 minutes", "does not begin with"),
        ("- return x + x\n+ return x\n", "", "needs a name, a change and a hint"),
        ("The number that comes out is the one that went in.\n", "", "needs a name, a change and a hint"),
        ("## not doubled\n", "## not doubled\n- a\n+ b\nA hint.\n\n## not doubled\n", "share a name"),
    ],
)
def test_a_page_in_another_form_is_refused(old: str, new: str, says: str) -> None:
    assert read_page(PAGE).misconceptions[0].name == "not doubled"
    with pytest.raises(PageError, match=says):
        read_page(PAGE.replace(old, new))


# ---- what is typed in two places -----------------------------------------------------------------------------


def in_sources(pattern: str) -> list[tuple[str, str, str]]:
    """Matches in the chapters' sources, with the chapter's number: (chapter, group 1, group 2)."""
    found = [
        (path.name.split("_")[0], match[1], match[2])
        for path in SOURCES
        for match in re.finditer(pattern, path.read_text(encoding="utf-8"), re.M)
    ]
    return [row for row in found if not ONLY or row[0] in ONLY]


def test_the_panel_names_what_the_check_cell_passes():
    names = {exercise.id: exercise.name for exercise in EXERCISES}
    passed = {exercise: name for _, exercise, name in in_sources(r'^\w+ = check\("([\w.]+)", (\w+)\)')}
    assert passed == names


def test_every_heading_is_bare():
    """Title, stars and minutes stand in the Exercise alone; `build` writes them into the heading."""
    headings = in_sources(r"^### Exercise (\S+)(.*)$")
    assert [exercise for _, exercise, _ in headings] == [exercise.id for exercise in EXERCISES]
    assert {more for *_, more in headings} == {""}
    for exercise in EXERCISES:
        assert re.fullmatch(rf"Exercise {exercise.id} ★+ \S.* \(\d+ minutes\)", exercise.heading)


def test_catalogue_is_rich_enough():
    for exercise in EXERCISES:
        assert len(exercise.misconceptions) >= 4, f"{exercise.id} knows only {len(exercise.misconceptions)} misconceptions"
        assert 1 <= exercise.stars <= 3 and exercise.minutes > 0 and exercise.signature and exercise.title
    if EXERCISES:
        assert sum(len(e.misconceptions) for e in EXERCISES) / len(EXERCISES) >= 5


def test_cases_tell_axes_apart():
    """All sizes of a drawn input differ: swapped axes cannot go unnoticed."""
    for exercise in EXERCISES:
        inputs = [c.args.get("inputs", c.args) for c in exercise.draw(1)]
        for tensor in [t for args in inputs for t in args.values() if isinstance(t, torch.Tensor) and t.dim() > 1]:
            shape, long = tensor.shape, [size for size in tensor.shape if size > 1]
            # self-attention: as many keys as queries; a triangle tells them apart
            mask = not isinstance(exercise, FunctionExercise) or tensor.dtype is torch.bool and not torch.equal(tensor, tensor.mT)
            square_mask = mask and len(set(shape[-2:])) == 1
            assert len(set(long)) == len(long) or square_mask, f"{exercise.id}: a drawn input has shape {tuple(shape)}"


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_hints_are_prose(exercise: Exercise) -> None:
    """A hint names the mistake in words; it holds no assignment, call chain or formula to copy."""
    for misconception in exercise.misconceptions:
        hint = misconception.hint
        assert len(hint.split()) >= 8, f"{misconception.name}: the hint is too short to help: {hint}"
        assert not re.search(r"\b(torch|F|np|nn)\.\w+\(|[^=<>]=[^=]|@|\bdim=", hint), f"{misconception.name}: no code in a hint: {hint}"


# python -m tests.checks.test_exercises 03: the parts that each misconception loses; more than one deserves a look
if __name__ == "__main__":
    for exercise in [e for chapter in sys.argv[1:] for e in in_chapter(chapter).values()]:
        for misconception in exercise.misconceptions:
            print(f"{exercise.id}  {misconception.name}: {', '.join(lost_parts(exercise, examine(exercise, misconception.answer, 8)))}")
