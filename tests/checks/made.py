"""Exercises made on the spot, without a page on the disk."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch.nn import functional as F

from course_checks.case import Case
from course_checks.changes import Change
from course_checks.exercise import Exercise, FunctionExercise
from course_checks.misconceptions import Misconception, Page


def mistake(name: str, answer: Any, hint: str, untouched: bool = False) -> Misconception:
    """A misconception with a ready answer."""
    return Misconception(name, hint, Change(), untouched, lambda entry: answer)


def made(
    oracle: Callable[..., Any],
    cases: list[Case],
    *misconceptions: Misconception,
    asks: type[Exercise] = FunctionExercise,
    name: str = "f",
    points: float = 1.0,
    **more: Any,
) -> Exercise:
    """Exercise 00.9, of the kind ``asks``; the reference is the oracle unless ``right`` says otherwise."""
    exercise = asks(file="", oracle=oracle, draw=lambda seed: cases, **{"right": oracle, **more})
    exercise.__dict__["page"] = Page("00.9", "A test", f"{name}(…)", 1, 5, {"values": points}, "", misconceptions)
    return exercise


def changed(exercise: Exercise, **more: Any) -> Exercise:
    """The same exercise, with the same page, and other fields."""
    other = replace(exercise, **more)
    other.__dict__["page"] = exercise.page
    return other


def gaussian_weights(query, keys, bandwidth):
    """A right answer to 01.1."""
    if bandwidth <= 0:
        raise ValueError(f"the bandwidth is {bandwidth}")
    return F.softmax(((query.unsqueeze(1) - keys) / bandwidth).square().mul(-0.5), dim=-1)
