"""How points become marks: weights, late penalty, partial credit, from a small TOML file.

Without a file every exercise counts its own points, parts count by themselves, and nothing is taken off for being late:

    exercises = ["03", "06.1"]  # what was assigned; nothing else counts. "03, deeper" is the companion. Without it see docs/grading.md
    missing = "zero"            # "empty": percentages of what a student has handed in
    partial = true              # false: an exercise counts fully or not at all
    helpers = "course"          # "own": an answer that uses one of the student's own that is wrong is judged with that one
    [weights]                   # factors; an exercise's own comes before that of predictions, and this one before its chapter's
    "03" = 2.0
    "03.2" = 0.5
    predictions = 0             # answers that are a choice, a number or a picture: "Predict", "Design the control", …
    [late]
    deadline = 2027-01-31T23:59:00+00:00
    per_day = 0.1               # share of the points taken off for every day begun
    most = 0.5                  # never more than this
"""

from __future__ import annotations

import datetime as dt
import math
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .marks import Mark, exercises_of, places


@dataclass(frozen=True)
class Settings:
    """Rules of one class."""

    partial: bool = True
    weights: dict[str, float] = field(default_factory=dict)
    deadline: float | None = None
    per_day: float = 0.0
    most: float = 1.0
    exercises: tuple[str, ...] = ()
    missing: str = "zero"
    helpers: str = "course"

    def ruled(self, mark: Mark) -> Mark:
        """The mark of an answer with the helpers that it is to be judged with."""
        return mark.own if self.helpers == "own" and mark.own is not None else mark

    def assigned(self, exercise_id: str) -> bool:
        """Whether the settings list an exercise, or the notebook in which it stands, as assigned."""
        return exercise_id in self.exercises or places()[exercise_id] in self.exercises

    def weight(self, exercise_id: str) -> float:
        """Factor of an exercise."""
        kind = "predictions" if exercises_of()[exercise_id].kind == "value" else ""
        names = (exercise_id, kind, places()[exercise_id], exercise_id.split(".")[0])
        return next((self.weights[name] for name in names if name in self.weights), 1.0)

    def full(self, *exercises: str) -> float:
        """Weighted points that exercises have together."""
        known = exercises_of()
        return round(sum(self.points(key, known[key].points, known[key].points) for key in exercises), 6)

    def points(self, exercise_id: str, points: float, possible: float) -> float:
        """Weighted points of an exercise."""
        if not self.partial and points < possible:
            return 0.0
        return round(points * self.weight(exercise_id), 6)

    def kept(self, handed_in: float | None, own: float | None = None) -> float:
        """Share of the points that remains when a notebook was handed in at this time (seconds since 1970); ``own``: the student's own
        deadline, where it is another one than the class's."""
        deadline = self.deadline if own is None else own
        if self.deadline is None or deadline is None or handed_in is None or handed_in <= deadline:
            return 1.0
        days = math.ceil((handed_in - deadline) / 86400)
        return 1.0 - min(self.most, days * self.per_day)


def load_settings(path: str | Path | None) -> Settings:
    """Read a TOML file; ValueError that names the file and what is wrong with it."""
    if path is None:
        return Settings()
    try:
        return _settings(tomllib.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:  # of the encoding, of TOML, and of what it says
        raise ValueError(f"{path}: {error}") from None


def _settings(data: dict[str, Any]) -> Settings:
    """What a file says, checked in the order in which people write it."""
    weights, late = data.get("weights", {}), data.get("late", {})
    if not isinstance(weights, dict) or not isinstance(late, dict):
        raise ValueError("weights and late are tables: [weights], [late]")
    unknown = set(data) - {"partial", "weights", "late", "exercises", "missing", "helpers"} | set(late) - {"deadline", "per_day", "most"}
    if unknown:
        raise ValueError(f"unknown setting {sorted(unknown)[0]!r}")
    partial, missing = data.get("partial", True), data.get("missing", "zero")
    if not isinstance(partial, bool):
        raise ValueError("partial must be true or false")
    deadline = late.get("deadline")
    if late and not isinstance(deadline, dt.datetime):
        raise ValueError("[late] needs a deadline like 2027-01-31T23:59:00+00:00")
    _refuse_unknown(
        set(weights) - {"predictions"}, '[weights] names {!r}, which is no chapter and no exercise; they are written like "03" and "03.2"'
    )
    exercises = data.get("exercises", [])
    if not isinstance(exercises, list) or not all(isinstance(name, str) for name in exercises):
        raise ValueError('exercises is a list of chapters and exercises: ["03", "06.1"]')
    _refuse_unknown(exercises, 'exercises names {!r}, which is no chapter and no exercise; write "03" or "03.2"')
    if missing not in ("zero", "empty"):
        raise ValueError(f'missing = {missing!r} must be "zero" or "empty"')
    helpers = data.get("helpers", "course")
    if helpers not in ("course", "own"):
        raise ValueError(f'helpers = {helpers!r} must be "course" or "own"')
    return Settings(
        partial=partial,
        weights={name: _number(weights, name, 1.0) for name in weights},
        deadline=deadline.timestamp() if deadline else None,
        per_day=_number(late, "per_day", 0.0, 1.0),
        most=_number(late, "most", 1.0, 1.0),
        exercises=tuple(exercises),
        missing=missing,
        helpers=helpers,
    )


def _refuse_unknown(names: Iterable[str], message: str) -> None:
    """ValueError with the first of these names that is neither a chapter nor an exercise."""
    known = {name for key, place in places().items() for name in (key, place)}
    strange = sorted(set(names) - known)
    if strange:
        raise ValueError(message.format(strange[0]))


def _number(table: dict[str, Any], name: str, default: float, most: float = math.inf) -> float:
    value = table.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
        raise ValueError(f"{name} = {value!r} must be a number from 0" + (f" to {most:g}" if most < math.inf else ""))
    return float(value)
