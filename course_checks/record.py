"""What a learner has solved: remembered after each check, shown as a table."""

import contextlib
import html
import os
from pathlib import Path
from typing import Any

from course_utils.files import write_bytes
from course_utils.launcher import progress as kept
from course_utils.launcher.notebooks import DEEPER
from course_utils.launcher.progress import Done, what_next
from course_utils.launcher.work import Work
from course_utils.paths import ROOT

from .lookup import companions, notebooks


def progress_file() -> Path:
    """Where progress is kept."""
    return kept.progress_file(ROOT)


def silent() -> bool:
    """True while notebooks are built, tested or graded (``COURSE_PROGRESS=off``): nothing is written then."""
    return os.environ.get("COURSE_PROGRESS", "").lower() == "off"


def load() -> Done:
    """Progress so far, ``{exercise id: {"points": float, "passed": bool}}``; a damaged file is set aside, not lost.

    Raises OSError when the file is there but cannot be read just now.
    """
    return kept.read(progress_file())


def record(exercise: str, points: float, passed: bool) -> None:
    """Remember the best result of an exercise. A folder that cannot be written to costs nothing but the memory."""
    if silent():
        return
    with contextlib.suppress(OSError):
        done = load()
        best = done.get(exercise, {"points": 0.0, "passed": False})
        done[exercise] = {"points": max(float(points), best["points"]), "passed": passed or best["passed"]}
        kept.write(progress_file(), done)


def reset(chapter: str | None = None) -> list[str]:
    """Forget the results of a chapter ("03"), or all; the file as it was is kept beside the new one. Returns what was forgotten."""
    done, path = load(), progress_file()
    gone = sorted(key for key in done if chapter is None or key.split(".")[0] == chapter)
    if gone and not silent():
        write_bytes(path.with_suffix(".before_reset.json"), path.read_bytes(), 0o600)
        kept.write(path, {key: entry for key, entry in done.items() if key not in gone})
    return gone


def fresh_copy(chapter: str) -> str:
    """Begin a chapter such as "03" again, like ``course.py restart``; returns where the old copies lie, in words.

    ValueError where there is no such chapter, or no course around the notebook.
    """
    return " and ".join(str(old.relative_to(ROOT)) for old in Work(ROOT).restart(chapter))


class Progress:
    """Exercises done per chapter; shown as a table in a notebook."""

    def __init__(self, done: Done, exercises: list[Any]):
        self.done = done
        self.chapters: dict[str, list[tuple[str, str, float, float, bool]]] = {}
        for ex in exercises:
            entry = done.get(ex.id, {})
            row = (ex.id, ex.title, entry.get("points", 0.0), ex.points, bool(entry.get("passed")))
            self.chapters.setdefault(ex.id.split(".")[0], []).append(row)

    def next(self) -> tuple[str, str] | None:
        """Id and title of the exercise to try next: one begun and not finished, else the first open one behind the last one done;
        one of a companion when the chapters are done."""
        titles, later = {row[0]: row[1] for rows in self.chapters.values() for row in rows}, companions()
        found = what_next([name for name in titles if name not in later], self.done) or what_next(list(titles), self.done)
        return (found, titles[found]) if found else None

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
        body, files, deeper = "", notebooks(), companions()
        up = "../" if Path.cwd().name == DEEPER else ""  # this notebook is a companion itself

        def link(chapter: str, text: str, exercise: str = "") -> str:
            to = f"{up}{deeper.get(exercise) or files.get(chapter, '')}{f'#exercise-{exercise}' if exercise else ''}"
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
