"""What a learner has solved: one small file at the root of the course, written atomically."""

from __future__ import annotations

import contextlib
import html
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from course_utils.paths import ROOT

from .lookup import notebooks, today


def progress_file() -> Path:
    """Where progress is kept."""
    return ROOT / ".course" / "progress.json"


def silent() -> bool:
    """True while notebooks are built, tested or graded (``COURSE_PROGRESS=off``): nothing is written then."""
    return os.environ.get("COURSE_PROGRESS", "").lower() == "off"


def load() -> dict[str, dict[str, Any]]:
    """Progress so far, ``{exercise id: {"points": float, "passed": bool}}``; what was done under a former id counts for today's.

    Raises OSError when the file is there but cannot be read just now.
    """
    done: dict[str, dict[str, Any]] = {}
    for key, entry in _read().items():
        (name,) = today(key) if "." in key else [key]
        done[name] = _better(done.get(name, entry), entry)
    return done


def _better(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {"points": max(one["points"], other["points"]), "passed": one["passed"] or other["passed"]}


def _read() -> dict[str, dict[str, Any]]:
    """The file as it is; a damaged one is set aside, not lost."""
    path = progress_file()
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    try:
        data = json.loads(text)
        return {str(key): {"points": float(entry["points"]), "passed": bool(entry["passed"])} for key, entry in data.items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        with contextlib.suppress(OSError):
            path.replace(path.with_suffix(".damaged.json"))
        return {}


def record(exercise: str, points: float, passed: bool) -> None:
    """Remember the best result of an exercise. A folder that cannot be written to costs nothing but the memory."""
    if silent():
        return
    path = progress_file()
    with contextlib.suppress(OSError):
        data = _read()  # what stands there under former ids stays: an older edition may come back
        new = {"points": float(points), "passed": passed}
        data[exercise] = _better(data.get(exercise, new), new)
        _write(path, data)


def reset(chapter: str | None = None) -> list[str]:
    """Forget the results of a chapter ("03"), or all; the file as it was is kept beside the new one. Returns what was forgotten."""
    data, path = _read(), progress_file()
    gone = sorted(key for key in data if chapter is None or today(key)[0].split(".")[0] == chapter)
    if gone and not silent():
        path.with_suffix(".before_reset.json").write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
        _write(path, {key: entry for key, entry in data.items() if key not in gone})
    return gone


def fresh_copy(chapter: str) -> Path | None:
    """Begin a chapter such as "03" again, like ``course.py restart``; returns where the old copy lies. ValueError where there is none."""
    sys.path.append(str(ROOT))  # the launcher's module: it needs no package
    try:
        from course_work import Work
    finally:
        sys.path.remove(str(ROOT))
    kept = Work(ROOT).restart(chapter)
    return kept.relative_to(ROOT) if kept else None


def _write(path: Path, data: dict[str, Any]) -> None:
    path.parent.mkdir(exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(data, file, indent=1, sort_keys=True)
    _replace(Path(name), path)


def _replace(source: Path, target: Path) -> None:
    """Move into place; on Windows another program may hold the file for a moment."""
    for attempt in range(5):
        try:
            source.replace(target)
            return
        except PermissionError:
            time.sleep(0.05 * (attempt + 1))
    source.unlink(missing_ok=True)


class Progress:
    """Exercises done per chapter; shown as a table in a notebook."""

    def __init__(self, done: dict[str, Any], exercises: list[Any]):
        self.chapters: dict[str, list[tuple[str, str, float, float, bool]]] = {}
        for ex in exercises:
            entry = done.get(ex.id, {})
            row = (ex.id, ex.title, entry.get("points", 0.0), ex.points, bool(entry.get("passed")))
            self.chapters.setdefault(ex.id.split(".")[0], []).append(row)

    def next(self) -> tuple[str, str] | None:
        """Id and title of the exercise to try next: one begun and not finished, else the first open one behind the last one done."""
        rows = [row for chapter in self.chapters.values() for row in chapter]
        last = max((i for i, row in enumerate(rows) if row[4]), default=-1)
        unfinished = [row for row in rows if row[2] and not row[4]]
        still = [row for row in (*unfinished, *rows[last + 1 :], *rows[: last + 1]) if not row[4]]
        return (still[0][0], still[0][1]) if still else None

    def summary(self) -> str:
        """One line: what is done in all, and what to try next."""
        rows = [row for chapter in self.chapters.values() for row in chapter]
        done, following = sum(row[4] for row in rows), self.next()
        text = f"{done} of {len(rows)} exercises, {sum(r[2] for r in rows):g} of {sum(r[3] for r in rows):g} points."
        return f"{text} Next: {following[0]} {following[1]}" if following else f"{text} All done."

    def __str__(self) -> str:
        lines = []
        for chapter, rows in self.chapters.items():
            done = sum(row[4] for row in rows)
            marks = " ".join(("✓" if row[4] else "·") for row in rows)
            points, possible = sum(r[2] for r in rows), sum(r[3] for r in rows)
            lines.append(f"chapter {chapter}  {marks}  {done} of {len(rows)} exercises, {points:g} of {possible:g} points")
        return "\n".join([*lines, self.summary()]) if lines else "no exercises yet"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        body, files = "", notebooks()

        def link(chapter: str, text: str, exercise: str = "") -> str:
            to = f"{files.get(chapter, '')}{f'#exercise-{exercise}' if exercise else ''}"
            return f"<a href='{to}'>{html.escape(text)}</a>" if chapter in files else html.escape(text)

        for chapter, rows in self.chapters.items():
            done = sum(row[4] for row in rows)
            boxes = "".join(
                f"<span title='{r[0]} {r[1]}' style='display:inline-block;width:1.1em;height:1.1em;margin-right:2px;"
                f"background:{'#2a9d5c' if r[4] else 'rgba(128,128,128,.25)'}'></span>"
                for r in rows
            )
            body += (
                f"<tr><td style='text-align:left'><b>{link(chapter, chapter)}</b></td><td style='text-align:left'>{boxes}</td>"
                f"<td>{done} of {len(rows)}</td>"
                f"<td>{sum(r[2] for r in rows):g} of {sum(r[3] for r in rows):g} points</td></tr>"
            )
        text, following = html.escape(self.summary()), self.next()
        if following:
            name = " ".join(following)
            text = text.replace(html.escape(name), link(following[0].split(".")[0], name, following[0]))
        return f"<p>{text}</p><table>{body}</table>"
