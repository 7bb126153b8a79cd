"""Find exercises by their ids: "03.2" is in ``course_checks.exercises.ch03``, and only that chapter is imported for it."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import pkgutil
import signal
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from course_utils.launcher.notebooks import DEEPER, Damaged, chapters_in, read, stubs_of
from course_utils.paths import ROOT

if TYPE_CHECKING:  # what needs torch is imported with the first exercise
    from .exercise import Exercise

PACKAGE = "course_checks.exercises"
_chapters: dict[str, dict[str, Exercise]] = {}  # a chapter is entered when it is complete


def chapters() -> list[str]:
    """The chapters that have exercises, ``["00", "01", …]``, without importing them."""
    package = importlib.import_module(PACKAGE)
    return sorted(module.name.removeprefix("ch") for module in pkgutil.iter_modules(package.__path__) if module.name.startswith("ch"))


def in_chapter(chapter: str) -> dict[str, Exercise]:
    """The exercises of one chapter by id; ValueError when two have the same id, or one has another chapter's."""
    if chapter not in _chapters:
        with _interrupts_wait():
            module = importlib.import_module(f"{PACKAGE}.ch{chapter}")
        found: dict[str, Exercise] = {}
        for exercise in module.EXERCISES:
            if exercise.id in found:
                raise ValueError(f"two exercises have the id {exercise.id}: {found[exercise.id].title!r} and {exercise.title!r}")
            if exercise.id.split(".")[0] != chapter:
                raise ValueError(f"exercise {exercise.id} {exercise.title!r} is in the folder of chapter {chapter}")
            found[exercise.id] = exercise
        _chapters[chapter] = found
    return _chapters[chapter]


def catalogue() -> list[Exercise]:
    """Every exercise of the course, in order: ``.id .title .points .signature .mistakes``."""
    return [exercise for chapter in chapters() for exercise in in_chapter(chapter).values()]


def find(exercise_id: str) -> Exercise:
    """The exercise with this id; LookupError, with the nearest one that exists, when there is none."""
    chapter, known = exercise_id.split(".")[0], chapters()
    near = chapter if chapter in known else next(iter(difflib.get_close_matches(chapter, known, n=1)), None)
    if near is None:
        raise LookupError(f"There is no exercise {exercise_id!r}. There are chapters {', '.join(known)}.")
    exercises = in_chapter(near)
    if exercise_id in exercises:
        return exercises[exercise_id]
    likely = difflib.get_close_matches(exercise_id, exercises, n=1)
    hint = f"Did you mean {likely[0]!r}?" if likely else f"Chapter {near} has {', '.join(exercises)}."
    raise LookupError(f"There is no exercise {exercise_id!r}. {hint}")


def following(exercise: Exercise) -> tuple[str, str] | None:
    """What comes behind an exercise in its notebook, in words, and its address seen from there: an exercise, a chapter, or None."""
    chapter = exercise.id.split(".")[0]
    deeper = companions(chapter)
    inside = [e for e in in_chapter(chapter).values() if (e.id in deeper) == (exercise.id in deeper)]  # in the order of the text
    after = next(iter(inside[[e.id for e in inside].index(exercise.id) + 1 :]), None)
    if after is not None:
        return f"Exercise {after.id} {after.title}", f"#exercise-{after.id}"
    later, up = [name for number, name in notebooks().items() if number > chapter], "../" if exercise.id in deeper else ""
    return (f"chapter {later[0].removesuffix('.ipynb').replace('_', ' ')}", up + later[0]) if later else None


def notebooks() -> dict[str, str]:
    """The file of every chapter by its number: ``{"00": "00_start_here.ipynb", …}``."""
    return {path.name.split("_")[0]: path.name for path in chapters_in(ROOT / "chapters") if path.parent.name != DEEPER}


def companions(chapter: str = "") -> dict[str, str]:
    """The file of every exercise that stands in a companion, or in that of one chapter: ``{"03.8": "deeper/03_slug.ipynb", …}``."""
    found: dict[str, str] = {}
    for path in chapters_in(ROOT / "chapters", chapter):
        if path.parent.name == DEEPER:
            with contextlib.suppress(Damaged, OSError):
                found |= dict.fromkeys(stubs_of(read(path)), f"{DEEPER}/{path.name}")
    return found


@contextlib.contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Hold Ctrl-C back while a chapter is imported, a tenth of a second: modules of libraries do not all survive being torn apart."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    waiting: list[tuple] = []
    signal.signal(signal.SIGINT, lambda *event: waiting.append(event))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if waiting:
        handler(*waiting[0])
