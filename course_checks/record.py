"""What a learner has solved: remembered after each check, shown as a table."""

import contextlib
import html
import os
from collections.abc import Sequence, Set
from pathlib import Path

from course_utils.files import move, write_bytes
from course_utils.launcher import progress as kept
from course_utils.launcher.notebooks import DEEPER
from course_utils.launcher.progress import Done, what_next
from course_utils.mine import drawing
from course_utils.paths import ROOT

from .heads import Head, heads
from .lookup import companions, notebooks


def progress_file() -> Path:
    """Where progress is kept."""
    return kept.progress_file(ROOT)


def kept_file(exercise_id: str) -> Path:
    """Where the answer to an exercise is kept once it has passed."""
    return progress_file().parent / "mine" / f"{exercise_id}.py"


def kept_answers() -> set[str]:
    """Exercises of which an answer is kept."""
    return {path.stem for path in kept_file("x").parent.glob("[0-9]*.py")}


def silent() -> bool:
    """True while notebooks are built, tested or graded (``COURSE_PROGRESS=off``): nothing is written then."""
    return os.environ.get("COURSE_PROGRESS", "").lower() == "off"


def load() -> Done:
    """``{exercise id: {"points": float, "passed": bool}}``; a damaged file is set aside. OSError when it cannot be read just now."""
    return kept.read(progress_file())


def record(exercise: str, points: float, passed: bool) -> str:
    """Remember the best result of an exercise. Returns what to tell the learner where that is not possible, else nothing."""
    if silent():
        return ""
    try:
        done = load()
        best = done.get(exercise, {"points": 0.0, "passed": False})
        done[exercise] = {"points": max(float(points), best["points"]), "passed": passed or best["passed"]}
        kept.write(progress_file(), done)
    except OSError as error:
        return f"Your points were not kept in {progress_file().parent} ({error.strerror or error}). Save this notebook: it has your answer."
    return ""


def reset(chapter: str | None = None) -> list[str]:
    """Forget the results of a chapter ("03"), or all; the file as it was is kept beside the new one. Returns what was forgotten."""
    done, path = load(), progress_file()
    gone = sorted(key for key in done if chapter is None or key.split(".")[0] == chapter)
    if gone and not silent():
        write_bytes(path.with_suffix(".before_reset.json"), path.read_bytes(), 0o600)
        kept.write(path, {key: entry for key, entry in done.items() if key not in gone})
        for key in gone:
            with contextlib.suppress(FileNotFoundError):
                (path.parent / "mine" / "before_reset").mkdir(mode=0o700, exist_ok=True)
                move(kept_file(key), kept_file(f"before_reset/{key}"))
    return gone


class Progress:
    """The machine that the reader builds, and the exercises done per chapter; drawn in a notebook, text elsewhere."""

    def __init__(self, done: Done, pages: Sequence[Head], own: Set[str] = frozenset()):
        self.done, self.own = done, own
        self.machine = drawing.sentence(own, {key for key, entry in done.items() if entry.get("passed")})
        self.chapters: dict[str, list[tuple[str, str, float, float, bool]]] = {}
        for page in pages:
            entry = done.get(page.id, {})
            row = (page.id, page.title, entry.get("points", 0.0), sum(page.points.values()), bool(entry.get("passed")))
            self.chapters.setdefault(page.id.split(".")[0], []).append(row)

    @classmethod
    def now(cls) -> "Progress":
        """As it is kept; nothing done, where that cannot be read just now. Imports no exercise, and so no torch."""
        done: Done = {}
        with contextlib.suppress(OSError):
            done = load()
        return cls(done, heads(), kept_answers())

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
        lines, width = [], 2 * max(map(len, self.chapters.values()), default=0)
        for chapter, rows in self.chapters.items():
            done = sum(row[4] for row in rows)
            marks = " ".join(("✓" if row[4] else "·") for row in rows)
            lines.append(f"chapter {chapter:3}  {marks:{width}} {done:2} of {len(rows):2}")
        return "\n".join([drawing.as_text(self.own), "", self.machine, "", *lines, self.summary()]) if lines else "no exercises yet"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        body, files, deeper = "", notebooks(), companions()
        up = "../" if Path.cwd().name == DEEPER else ""  # this notebook is a companion itself

        def link(chapter: str, text: str, exercise: str = "") -> str:
            to = f"{up}{deeper.get(exercise) or files.get(chapter, '')}{f'#exercise-{exercise}' if exercise else ''}"
            return f"<a href='{to}'>{html.escape(text)}</a>" if chapter in files else html.escape(text)

        for chapter, rows in self.chapters.items():
            boxes = "".join(
                f"<span title='{r[0]} {html.escape(r[1], quote=True)}' style='display:inline-block;width:.7em;height:.7em;margin-right:2px;"
                f"background:{'#2a9d5c' if r[4] else 'rgba(128,128,128,.25)'}'></span>"
                for r in rows
            )
            done = sum(row[4] for row in rows)
            body += f"<span style='white-space:nowrap' title='{done} of {len(rows)}'><b>{link(chapter, chapter)}</b> {boxes}</span> "
        text, following = html.escape(self.summary()), self.next()
        if following:
            name = " ".join(following)
            text = text.replace(html.escape(name), link(following[0].split(".")[0], name, following[0]))
        machine = f"{drawing.as_html(self.own)}<p><b>{html.escape(self.machine)}</b></p>"
        return f"<div style='max-width:46em'>{machine}<p>{text}</p><p style='line-height:1.9'>{body}</p></div>"
