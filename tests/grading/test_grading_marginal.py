"""Answers near the border between right and wrong, over many secrets: a mark does not depend on the draws.

Runs in ``python course.py test --full``; ``-s`` shows the summaries. ``marginal.json`` names the answers: misconceptions; entries of
``tests/answers``, as they are, with a piece of code changed ("edit"), or computed in double precision ("wide").
"""

from __future__ import annotations

import json
import os
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from course_checks.again import observe_again
from course_checks.judge import judge
from course_checks.lookup import chapters, find
from course_checks.observe import observe_all
from course_tools.grading import judging, wire
from course_tools.grading.marks import Limits
from course_tools.grading.messages import Report
from course_tools.grading.reply import Reply
from tests.answers import answers, run

pytestmark = pytest.mark.skipif(os.environ.get("COURSE_FULL") != "1", reason="runs in `python course.py test --full`")

SECRETS = [f"secret {number}" for number in range(20)]
MARGINAL: list[list[str]] = json.loads((Path(__file__).parent / "marginal.json").read_text(encoding="utf-8"))


def in_float64(answer: Any) -> Any:
    """A function that computes in double precision and rounds once, at the end."""

    def cast(value: Any, dtype: torch.dtype) -> Any:
        if isinstance(value, torch.Tensor):
            return value.to(dtype) if value.is_floating_point() else value
        if isinstance(value, (list, tuple)):
            return type(value)(cast(item, dtype) for item in value)
        return {key: cast(item, dtype) for key, item in value.items()} if isinstance(value, dict) else value

    return lambda **inputs: cast(answer(**cast(inputs, torch.float64)), torch.float32)


def marginal(exercise: str, kind: str, which: str, *change: str) -> Any:
    """An answer that ``marginal.json`` names."""
    if kind == "misconception":
        return next(misconception.answer for misconception in find(exercise).misconceptions if misconception.name == which)
    entry = next(entry for entry in answers(exercise.split(".")[0]) if (entry.exercise, entry.what) == (exercise, which))
    if kind == "edit":
        old, new = change
        assert entry.code().count(old) == 1, (exercise, which, old)
        return run(exercise, entry.code().replace(old, new), f"{which}, {new}")
    return in_float64(entry.answer()) if kind == "wide" else entry.answer()


def points(exercise: Any, answer: Any, secret: str) -> float:
    """What grading gives for an answer, without the sandbox around it."""
    task = judging.task_for(exercise, secret, Limits())
    asked = task.kind, answer, task.cases, task.forbidden, task.limit
    reply = Reply(seen=observe_again(*asked, observe_all(*asked)))
    return judging.judge_report(exercise, secret, Report("done", wire.pack(reply.to_plain())), Limits()).points


def test_there_are_enough_marginal_answers():
    assert len(MARGINAL) == len({json.dumps(entry) for entry in MARGINAL}) >= 300
    assert {exercise.split(".")[0] for exercise, *_ in MARGINAL} == set(chapters())


@pytest.mark.parametrize("chapter", chapters())
def test_marks_of_marginal_answers_do_not_depend_on_the_draws(chapter, monkeypatch):
    """Twenty secrets, one mark."""
    monkeypatch.setattr(judging, "judge", partial(judge, named=False))  # the reason costs time and no points
    mine = [entry for entry in MARGINAL if entry[0].split(".")[0] == chapter]
    flips, began = {}, time.monotonic()
    for entry in mine:
        answer = marginal(*entry)
        earned = [points(find(entry[0]), answer, secret) for secret in SECRETS]
        if len(set(earned)) > 1:
            flips[json.dumps(entry, ensure_ascii=False)] = earned
    for found_out in (judging.cases_for, judging.known_of):
        found_out.cache_clear()
    print(
        f"{chapter}: {len(mine)} answers to {len({entry[0] for entry in mine})} exercises, {len(SECRETS)} secrets, {len(flips)} flips, "
        f"{time.monotonic() - began:.0f} s",
        flush=True,
    )
    assert not flips, "\n".join(f"{entry}: {earned}" for entry, earned in flips.items())
