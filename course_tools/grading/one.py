"""``course.py grade --one NOTEBOOK --json OUT``: one submission in, one file of JSON out, for other graders. See ``deploy/``. Without
``--json`` the result is printed, for people.

Where a container forbids namespaces and we are its root, the submission runs as another user instead of in a sandbox.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
from dataclasses import replace
from pathlib import Path

from course_utils.files import write_bytes

from . import other_user
from .bubblewrap import why_not
from .collect import Submission, collect, printable
from .forms import FORMS, Entry, Outcome, readable
from .jobs import Plan, grade_submission
from .marks import exercises_of
from .sandbox import SandboxError
from .settings import Settings, load_settings
from .students import Student, settle

WALLS = {
    "namespaces": "a sandbox: namespaces of its own, no network, a read-only system, limits",
    "user": "another user without rights, who cannot read the course; limits, and no network. It sees the system's files and the list of "
    "processes of this container: let a container hold one submission",
    "none": "nothing: it can do what you can do",
}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    found = argparse.ArgumentParser(prog="python course.py grade", description="Grade one submission, for another grader or to look at.")
    found.add_argument("--one", required=True, metavar="NOTEBOOK", help="a notebook, a zip file or a folder of what one person handed in")
    found.add_argument("--json", metavar="OUT", help="the file to be written; without it the result is printed")
    found.add_argument("--form", choices=FORMS, default="plain", help="whose form of results (plain)")
    found.add_argument("--only", nargs="+", default=[], metavar="NN", help="the chapters that were assigned: 03 08a")
    found.add_argument("--settings", help="TOML file with weights and partial credit")
    found.add_argument("--timeout", type=float, default=60.0, help="seconds for an exercise and the cells it needs (60)")
    found.add_argument("--memory", type=float, default=2.0, help="GB of memory for the submission (2)")
    found.add_argument("--seed", help="repeat the draws of an earlier run")
    found.add_argument("--unsafe", action="store_true", help="where there are no walls: only for a notebook you have read")
    return found


def main(arguments: list[str] | None = None) -> int:
    """0 when everything could be read, whatever it earned; 1 when something could not; 2 when the command could not be carried out."""
    from .__main__ import chapters

    options = parser().parse_args(arguments)
    try:
        walls = _walls(options.unsafe)
        print(f"What stands between the submission and this machine: {WALLS[walls]}.", file=sys.stderr)
        plan = Plan(
            chapters(options.only),
            options.timeout,
            int(options.memory * 2**30),
            walls == "none",
            options.seed or secrets.token_hex(16),
            walls,
        )
        outcome = grade_one(Path(options.one), plan, load_settings(options.settings))
        if options.json:
            write_bytes(Path(options.json), json.dumps(FORMS[options.form](outcome), indent=1).encode())
    except (ValueError, OSError, SandboxError) as error:
        print(f"grading: {error}", file=sys.stderr)
        return 2
    if not options.json:
        print(readable(outcome))
    print(f"{outcome.points:g} of {outcome.possible:g} points." + (f" See {options.json}" if options.json else ""))
    return 1 if outcome.problems else 0


def _walls(unsafe: bool) -> str:
    """The strongest walls that there are here. ValueError where there are none, and nobody allowed that."""
    if unsafe:
        return "none"
    reason = why_not()
    if not reason:
        return "namespaces"
    if other_user.is_possible():
        return "user"
    raise ValueError(
        f"{reason}. Without namespaces a submission can still be another user, but only root can see to that, and this is not root (or one "
        "who may not start programs of other users). --unsafe grades without any wall: only for a notebook you have read"
    )


def grade_one(path: Path, plan: Plan, settings: Settings) -> Outcome:
    """Grade what one person handed in, by the rules of a class of one; nothing is taken off for being late."""
    student = Student("")
    for submission in _submissions(path):
        record = grade_submission(submission, plan)
        student.take(replace(record, submission=replace(submission, handed_in=None)), settings)
    settle([student], settings, plan.only)
    entries = []
    for key, exercise in exercises_of(plan.only).items():
        mark, counts = student.marks.get(key), key in student.counted
        if counts:
            entries.append(Entry(key, exercise.title, mark.counts if mark else 0.0, settings.full(key), mark))
        elif mark:
            entries.append(Entry(key, exercise.title, 0.0, 0.0, mark, extra=True))
    return Outcome(entries, [printable(problem, 300) for problem in student.problems], plan.walls)


def _submissions(path: Path) -> list[Submission]:
    """A notebook by itself, or everything in a folder or zip file. ValueError where there is nothing."""
    if path.suffix.lower() == ".ipynb" and path.is_file() and not path.is_symlink():
        return [Submission("", path.name, str(path))]
    found = collect(path)
    if not found:
        raise ValueError(f"there is no notebook in {path}")
    return found
