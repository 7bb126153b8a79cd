"""The part of the class report that says how it went on for those who handed in a chapter again."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from html import escape

from .marks import exercises_of, places
from .markup import bar, row, table
from .students import HandIn, Student


def resubmissions(graded: list[Student]) -> str:
    """Points of a chapter from one hand-in to the next, with the dates, and what was mended; of those who handed it in more than once."""
    again: dict[str, list[list[HandIn]]] = defaultdict(list)
    for student in graded:
        for chapter, series in student.history.items():
            if len(series) > 1:
                again[chapter].append(series)
    rows, mended = [], []
    for chapter, many in sorted(again.items()):
        most = sum(e.points for key, e in exercises_of().items() if places()[key] == chapter)
        for turn in range(min(12, max(map(len, many)))):
            points = [sum(series[min(turn, len(series) - 1)].points.values()) for series in many]
            mean = sum(points) / len(points)
            there = [series[turn].when for series in many if turn < len(series)]
            first = f"{escape(chapter)} ({most:g} points)" if turn == 0 else f"<span class='note'>{escape(chapter)}</span>"
            rows.append(row(first, turn + 1, len(there), _days(there), bar(6 * mean / most if most else 0, f"{mean:.1f}")))
        mended.append(_mended(chapter, many))
    if not rows:
        return ""
    return (
        table("Handed in again", ("Chapter", "#Hand-in", "#Students", "When", "Points on average"), rows)
        + "<p class='note'>This table is about students who handed in a chapter more than once. Those who had stopped by then keep "
        "their last points in the average.</p>" + "".join(mended)
    )


def _mended(chapter: str, many: list[list[HandIn]]) -> str:
    """Which exercises were wrong or blank at first, and how many of these were right in the end."""
    exercises, told = {key: e for key, e in exercises_of().items() if places()[key] == chapter}, []
    for key, exercise in exercises.items():
        before = [series for series in many if series[0].points.get(key, exercise.points) < exercise.points]
        after = sum(max(hand_in.points.get(key, 0.0) for hand_in in series) >= exercise.points for series in before)
        if before:
            told.append(f"{escape(key)} {after} of {len(before)}")
    return f"<p>Chapter {escape(chapter)}, answers right in the end, among those not right at first: {', '.join(told)}.</p>" if told else ""


def _days(times: list[float | None]) -> str:
    """From the first to the last day, as far as they are known."""
    days = sorted({dt.datetime.fromtimestamp(when).date() for when in times if when is not None})
    shown = [f"{day.day} {day:%b %Y}" for day in dict.fromkeys((days[0], days[-1]))] if days else ["unknown"]
    return " to ".join(shown)
