"""The proof of every exercise, solutions and differently written answers score full marks, every
misconception is rejected and named, a blank is "not attempted", an exception is shown with the learner's own line.

``COURSE_CHAPTERS=03,08a`` restricts it to those chapters.
"""

import os
import re
import sys
import types
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import pytest
import torch
from right_answers import ANSWERS

from course_checks import engine, judge, naming
from course_checks.engine import catalogue, examine
from course_checks.expected import expected_of
from course_checks.observe import observe

SOURCES = sorted((Path(__file__).parents[2] / "solutions").glob("*.md"))

ONLY = [c for c in os.environ.get("COURSE_CHAPTERS", "").split(",") if c]
EXERCISES = [replace(e, draw=cache(e.draw), fixed=cache(e.fixed)) for e in catalogue() if not ONLY or e.id.split(".")[0] in ONLY]
MISCONCEPTIONS = [pytest.param(e, t, id=f"{e.id}-{t.name}") for e in EXERCISES for t in e.misconceptions]
FULL = os.environ.get("COURSE_FULL")
SEEDS = (11, 222) if FULL or ONLY else (11,)  # a check draws three times from each; test --full tries thirty besides


@pytest.fixture(autouse=True, scope="module")
def what_does_not_change_is_computed_once():
    """The oracle's value of a case, and what a misconception does on it when an answer is compared with it: a hundred answers ask for the same.

    A right answer is run anew every time. An entry holds what it was made of, so that no other object can take its identity.
    """
    expected, observed, tried = {}, {}, set()
    misconceptions = {id(t.answer) for e in EXERCISES for t in e.misconceptions}
    observe_all = engine.observe_all

    def expected_once(exercise, case):
        key = (exercise.id, id(exercise.oracle), id(case))
        if key not in expected:
            expected[key] = (expected_of(exercise, case), exercise, case)
        return expected[key][0]

    def observed_once(kind, answer, args, gradients=()):
        key = (id(answer), id(args), gradients)
        if key not in observed:
            observed[key] = (observe(kind, answer, args, gradients), answer, args)
        return observed[key][0]

    def observe_all_once(kind, answer, cases, forbidden, limit):
        """A misconception as an answer runs once under the limit and the forbidden names; then what it does is known."""
        if id(answer) in misconceptions and id(answer) in tried and kind != "value":
            return [observed_once(kind, answer, args, gradients) for args, gradients in cases]
        tried.add(id(answer))
        return observe_all(kind, answer, cases, forbidden, limit)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "observe_all", observe_all_once)
        patch.setattr(judge, "expected_of", expected_once)
        patch.setattr(naming, "observe", observed_once)
        yield


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_reference_scores_full_marks(exercise):
    for seed in SEEDS:
        result = examine(exercise, exercise.reference, seed)
        assert result.passed and result.points == result.possible == sum(exercise.parts.values()), str(result)
        assert result.use is exercise.reference


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_differently_written_answers_score_full_marks(exercise):
    answers = ANSWERS.get(exercise.id, [])
    assert len(answers) >= 2, f"{exercise.id} has {len(answers)} alternative answers in tests/checks/right_answers/; two are asked for"
    for answer in answers:
        for seed in SEEDS:
            result = examine(exercise, answer, seed)
            assert result.passed, f"{answer}:\n{result}"
            assert result.use is answer


@pytest.mark.parametrize("exercise, misconception", MISCONCEPTIONS)
def test_every_twin_is_rejected_and_named(exercise, misconception):
    for seed in SEEDS:
        result = examine(exercise, misconception.answer, seed)
        assert not result.passed and result.points < result.possible, f"{misconception.name} passed"
        lost = f"It loses the parts {', '.join(lost_parts(exercise, result))}."
        if result.mistake == "accepts bad input":
            lost += " Apart from refusals it is right: is the name of its switch spelt right?"
        assert result.mistake == misconception.name, f"{misconception.name} was taken for {result.mistake!r}. {lost}\n{result}"
        assert result.hint == misconception.hint
        assert (result.stage == "not attempted") == misconception.untouched
        assert result.use is exercise.reference


@pytest.mark.skipif(not FULL, reason="many seeds of every exercise take long: test --full")
@pytest.mark.parametrize("exercise", [e for e in EXERCISES if e.kind != "value"], ids=lambda e: e.id)
def test_no_verdict_depends_on_the_seed(exercise):
    plain, right = replace(exercise, draw=exercise.draw.__wrapped__), [exercise.reference, *ANSWERS[exercise.id]]
    for seed in range(100 if ONLY else 30):
        result = examine(plain, right[seed % len(right)], 1_000 * seed)
        assert result.passed, f"seed {1_000 * seed}\n{result}"
        misconception = exercise.misconceptions[seed % len(exercise.misconceptions)]
        assert not examine(plain, misconception.answer, 1_000 * seed).passed, f"{misconception.name} passes with seed {1_000 * seed}"


def lost_parts(exercise, result) -> list[str]:
    """Parts of which an answer has lost points."""
    return [part for part, points in result.earned.items() if points < exercise.parts[part]]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_blank_is_not_attempted(exercise):
    def blank(*args, **kwargs):
        raise NotImplementedError

    class Blank(torch.nn.Module):
        def __init__(self, *args, **kwargs):
            raise NotImplementedError

    blanks = {
        "function": blank,
        "module": Blank,
        "value": dict.fromkeys(exercise.reference, None) if isinstance(exercise.reference, dict) else None,
    }
    result = examine(exercise, blanks[exercise.kind])
    assert (result.stage, result.points, result.mistake) == ("not attempted", 0, None)


@pytest.mark.parametrize("exercise", [e for e in EXERCISES if e.kind != "value"], ids=lambda e: e.id)
def test_an_exception_is_shown_with_the_learners_own_line(exercise):
    def broken(*args, **kwargs):
        return torch.zeros(2) @ torch.zeros(3)  # the faulty line

    class Broken(torch.nn.Module):
        def __init__(self, *args, **kwargs):
            super().__init__()
            torch.zeros(2) @ torch.zeros(3)  # the faulty line

    result = examine(exercise, broken if exercise.kind == "function" else Broken)
    assert result.stage == "raised" and "the faulty line" in result.message and "RuntimeError" in result.message


@pytest.mark.parametrize("exercise", [e for e in EXERCISES if e.kind != "value"], ids=lambda e: e.id)
def test_right_answers_survive_other_layouts(exercise):
    """The inputs arrive non-contiguous: nobody may depend on ``view``-able memory."""
    from dataclasses import replace

    def scattered(value):
        if isinstance(value, dict):
            return {key: scattered(item) for key, item in value.items()}
        if isinstance(value, torch.Tensor) and value.dim() > 1:
            return value.mT.contiguous().mT
        if isinstance(value, torch.Tensor) and value.dim():
            return torch.stack([value, value], dim=-1)[..., 0]
        return value

    moved = replace(exercise, draw=lambda seed: [replace(c, args=scattered(c.args)) for c in exercise.draw(seed)])
    for answer in [exercise.reference, *ANSWERS[exercise.id]]:
        result = examine(moved, answer, 5)
        assert result.passed, str(result)


def test_layouts_reach_the_answer():
    """The proof above would be empty if copies were made contiguous on the way."""
    from course_checks.observe import observe

    def look(x):
        return torch.tensor(float(x.is_contiguous()))

    assert observe("function", look, {"x": torch.zeros(2, 3).mT}).value == 0
    assert observe("function", look, {"x": torch.zeros(6, 2)[:, 0]}).value == 0


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_every_part_bites(exercise):
    """For every part there is a known wrong answer, or a missing refusal, that loses its points."""
    lost = set()
    for misconception in exercise.misconceptions:
        result = examine(exercise, misconception.answer, SEEDS[0])
        lost |= set(lost_parts(exercise, result))
        if lost == set(exercise.parts):
            break
    assert lost == set(exercise.parts), f"nothing loses {set(exercise.parts) - lost}"


@pytest.mark.parametrize("exercise", [e for e in EXERCISES if e.kind != "value"], ids=lambda e: e.id)
def test_oracles_can_be_differentiated(exercise):
    """Where gradients are compared the oracle must have one; else the panel blames answers that are right."""
    for case in [case for case in exercise.cases((4,)) if case.gradients and case.rejects is None]:
        expected_of(exercise, case)


def test_an_oracle_that_cuts_the_graph_is_an_error():
    from course_checks.exercise import Case, Exercise

    case = Case("one row", {"x": torch.ones(3)}, gradients=("x",))
    exercise = Exercise(
        id="99.1",
        title="Double",
        name="double",
        signature="double(x)",
        kind="function",
        reference=lambda x: 2 * x,
        oracle=lambda x: torch.tensor([2 * number for number in x.tolist()]),
        draw=lambda seed: [case],
        misconceptions=(),
    )
    with pytest.raises(ValueError, match=r"exercise 99.1, case 'one row': gradients by x are asked for, but the oracle"):
        examine(exercise, exercise.reference)


# ---- what is typed in two places -----------------------------------------------------------------------------


def in_sources(pattern: str) -> list[tuple[str, str, str]]:
    """Matches in the chapters' sources, with the chapter's number: (chapter, group 1, group 2)."""
    found = [
        (path.name.split("_")[0], *match.groups())
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


def words_of(answer) -> Iterator[str]:
    """The words that choose a misconception's mistake: ``partial(f, how="after")``, or what the ``__init__`` of a made class closes over."""
    if isinstance(answer, partial):
        yield from (word for word in answer.keywords.values() if isinstance(word, str))
    elif isinstance(answer, type):
        for method in [value for value in vars(answer).values() if isinstance(value, types.FunctionType)]:
            for cell in method.__closure__ or ():
                words = cell.cell_contents if isinstance(cell.cell_contents, tuple) else (cell.cell_contents,)
                yield from (word for word in words if isinstance(word, str))


def words_known_to(code, seen: set) -> Iterator[str]:
    """Strings in a function or class of the exercises, and in what it calls there: those a switch can compare with."""
    if isinstance(code, str):
        yield code
    elif isinstance(code, (tuple, list, frozenset, set)):
        for item in code:
            yield from words_known_to(item, seen)
    elif isinstance(code, dict):
        yield from words_known_to(list(code), seen)
    elif id(code) not in seen:
        seen.add(id(code))
        if isinstance(code, type):
            for owner in code.__mro__:
                if owner.__module__.startswith("course_checks.exercises"):
                    yield from words_known_to(list(vars(owner).values()), seen)
        elif isinstance(code, types.FunctionType) and code.__module__.startswith("course_checks.exercises"):
            yield from words_known_to(code.__code__.co_consts, seen)
            for inner in [code.__code__, *(c for c in code.__code__.co_consts if isinstance(c, types.CodeType))]:
                yield from words_known_to([inner.co_consts, *(code.__globals__.get(name) for name in inner.co_names)], seen)
        elif isinstance(code, types.CodeType):
            yield from words_known_to(code.co_consts, seen)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_no_twin_is_misspelt(exercise):
    """A switch lets words pass that it does not know (``how="aftre"`` would be right): each word must stand in the code it chooses in."""
    for misconception in exercise.misconceptions:
        known = set(words_known_to(misconception.answer.func if isinstance(misconception.answer, partial) else misconception.answer, set()))
        for word in words_of(misconception.answer):
            assert word in known or set(word.split(", ")) <= known, f"{exercise.id}, {misconception.name}: no code compares with {word!r}"


def test_a_misspelt_word_is_found():
    from course_checks.exercises.ch03.attend import ATTENTION, _attend

    known = set(words_known_to(_attend, set()))
    assert {word for misconception in ATTENTION.misconceptions for word in words_of(misconception.answer)} <= known
    assert "aftre" not in known


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
        for shape in [t.shape for args in inputs for t in args.values() if isinstance(t, torch.Tensor) and t.dim() > 1]:
            long = [size for size in shape if size > 1]
            square_mask = exercise.kind == "module" and len(set(shape[-2:])) == 1  # self-attention: as many keys as queries
            assert len(set(long)) == len(long) or square_mask, f"{exercise.id}: a drawn input has shape {tuple(shape)}"


def test_hints_are_prose():
    """A hint names the mistake in words; it holds no assignment, call chain or formula to copy."""
    for exercise in EXERCISES:
        for misconception in exercise.misconceptions:
            assert len(misconception.hint.split()) >= 8, f"{exercise.id}, {misconception.name}: the hint is too short to help"
            assert not re.search(r"\b(torch|F|np|nn)\.\w+\(|[^=<>]=[^=]|@|\bdim=", misconception.hint), (
                f"{exercise.id}: {misconception.hint}"
            )


if (
    __name__ == "__main__"
):  # python tests/checks/test_exercises.py 03: the parts that each misconception loses; more than one deserves a look
    for exercise in [e for e in catalogue() if e.id.split(".")[0] in sys.argv[1:]]:
        for misconception in exercise.misconceptions:
            print(f"{exercise.id}  {misconception.name}: {', '.join(lost_parts(exercise, examine(exercise, misconception.answer, 8)))}")
