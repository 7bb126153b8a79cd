"""The proof of every exercise, solutions and differently written answers score full marks, every
twin is rejected and named, a blank is "not attempted", an exception is shown with the learner's own line.

``COURSE_CHAPTERS=03,08a`` restricts it to those chapters.
"""

import os
import re

import pytest
import torch
from right_answers import ANSWERS

from course_utils.checks.engine import catalogue, examine

ONLY = [c for c in os.environ.get("COURSE_CHAPTERS", "").split(",") if c]
EXERCISES = [e for e in catalogue() if not ONLY or e.id.split(".")[0] in ONLY]
TWINS = [pytest.param(e, t, id=f"{e.id}-{t.name}") for e in EXERCISES for t in e.twins]
SEEDS = (11, 222, 3333)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_reference_scores_full_marks(exercise):
    for seed in SEEDS:
        result = examine(exercise, exercise.reference, seed)
        assert result.passed and result.points == result.possible == sum(exercise.parts.values()), str(result)
        assert result.use is exercise.reference


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_differently_written_answers_score_full_marks(exercise):
    answers = ANSWERS.get(exercise.id, [])
    assert len(answers) >= 2, f"{exercise.id} has {len(answers)} alternative answers in tests/right_answers/; two are asked for"
    for answer in answers:
        for seed in SEEDS:
            result = examine(exercise, answer, seed)
            assert result.passed, f"{answer}:\n{result}"
            assert result.use is answer


@pytest.mark.parametrize("exercise, twin", TWINS)
def test_every_twin_is_rejected_and_named(exercise, twin):
    for seed in SEEDS:
        result = examine(exercise, twin.answer, seed)
        assert not result.passed and result.points < result.possible, f"{twin.name} passed"
        assert result.mistake == twin.name, f"{twin.name} was taken for {result.mistake!r}:\n{result}"
        assert result.hint == twin.hint
        assert (result.stage == "not attempted") == twin.untouched
        assert result.use is exercise.reference


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_blank_is_not_attempted(exercise):
    def blank(*args, **kwargs):
        raise NotImplementedError

    class Blank(torch.nn.Module):
        def __init__(self, *args, **kwargs):
            raise NotImplementedError

    blanks = {"function": blank, "module": Blank, "value": dict.fromkeys(exercise.reference, None)
              if isinstance(exercise.reference, dict) else None}
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
    from course_utils.checks.observe import observe

    def look(x):
        return torch.tensor(float(x.is_contiguous()))

    assert observe("function", look, {"x": torch.zeros(2, 3).mT}).value == 0
    assert observe("function", look, {"x": torch.zeros(6, 2)[:, 0]}).value == 0


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_every_part_bites(exercise):
    """For every part there is a known wrong answer, or a missing refusal, that loses its points."""
    lost = set()
    for twin in exercise.twins:
        result = examine(exercise, twin.answer, 8)
        lost |= {part for part, points in result.earned.items() if points < exercise.parts[part]}
    assert lost == set(exercise.parts), f"nothing loses {set(exercise.parts) - lost}"


def test_catalogue_is_rich_enough():
    assert len({e.id for e in EXERCISES}) == len(EXERCISES)
    for exercise in EXERCISES:
        assert len(exercise.twins) >= 4, f"{exercise.id} knows only {len(exercise.twins)} misconceptions"
        assert 1 <= exercise.stars <= 3 and exercise.minutes > 0 and exercise.signature and exercise.title
    if EXERCISES:
        assert sum(len(e.twins) for e in EXERCISES) / len(EXERCISES) >= 5


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
        for twin in exercise.twins:
            assert len(twin.hint.split()) >= 8, f"{exercise.id}, {twin.name}: the hint is too short to help"
            assert not re.search(r"\b(torch|F|np|nn)\.\w+\(|[^=<>]=[^=]|@|\bdim=", twin.hint), f"{exercise.id}: {twin.hint}"
