"""``python -m course_tools.grading SUBMISSIONS --out GRADES``: see ``docs/grading.md``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from course_utils.files import write_bytes

from . import one
from .by_hand import load_changes
from .collect import collect
from .engines import Engine
from .jobs import Plan, fingerprint_of_exercises
from .marks import exercises_of
from .options import parser
from .roster import load_roster
from .run import grade_class
from .run_folder import alone_in, key_of
from .sandbox import SandboxError
from .settings import load_settings
from .write_results import write_results


def chapters(words: list[str]) -> tuple[str, ...]:
    """What was typed as the course writes it: "3" and "8A" are "03" and "08a". ValueError for a chapter without exercises."""
    known = {key.split(".")[0] for key in exercises_of()}
    found = [re.sub(r"^0*(\d+)(?=[a-z]?$)", lambda match: match[1].zfill(2), word.lower()) for word in words]
    for word, number in zip(words, found, strict=True):
        if number not in known:
            raise ValueError(f"there is no chapter {word} with exercises. The chapters are: {', '.join(sorted(known))}")
    return tuple(dict.fromkeys(found))


def main(arguments: list[str] | None = None) -> int:
    """Grade, write the reports, say in one line what was done. 0 when every notebook could be read, 1 when some could not."""
    words = sys.argv[1:] if arguments is None else arguments
    if any(word.split("=")[0] == "--one" for word in words):
        return one.main(words)
    options = parser().parse_args(words)
    try:
        if options.engine == "dask" and not options.scheduler:
            raise ValueError("--engine dask needs --scheduler tcp://host:8786")
        if not options.timeout > 0 or not options.memory >= 0.5:
            raise ValueError(f"--timeout {options.timeout:g} must be positive and --memory {options.memory:g} at least 0.5")
        settings = load_settings(options.settings)
        roster = load_roster(options.roster)
        if settings.deadline is None and any(entry.deadline is not None for entry in roster.entries):
            raise ValueError(f"{options.roster} gives deadlines, but nothing is taken off: name rules with a [late] table by --settings")
        if Path(options.submissions).resolve() in Path(options.out).resolve().parents:
            raise ValueError(f"--out {options.out} lies inside {options.submissions}: the next run would take it for a student's folder")
        kept = Path(options.out) / "marks.csv"
        changes = load_changes(options.marks or (kept if kept.exists() else None))
        only = chapters(options.only)
        plan = Plan(only, options.timeout, int(options.memory * 2**30), options.unsafe)
        engine = Engine(options.engine, options.jobs, options.scheduler)
        counts = grade_class(options.submissions, options.out, plan, engine, options.resume, options.seed, options.quiet)
        submissions = collect(options.submissions)
        with alone_in(options.out, True) as run:
            keys, stamp = {key_of(s) for s in submissions}, fingerprint_of_exercises(only)
            students = write_results(run, settings, keys, stamp, only, roster, changes)
            if options.marks:
                write_bytes(kept, Path(options.marks).read_bytes(), 0o600)
    except (ValueError, OSError, SandboxError) as error:
        print(f"grading: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"\ngrading: stopped. What is graded is kept in {options.out}; the same command with --resume goes on", file=sys.stderr)
        return 130
    timeless = sum(s.handed_in is None and not s.problem for s in submissions)
    if settings.deadline is not None and timeless:
        print(
            f"Nobody knows when {timeless} of the notebooks were handed in, so they get no late penalty. Canvas and Moodle do not give "
            "this time in their zip files; let Canvas or Moodle deduct the penalty."
        )
    words = ["student" + "s" * (len(students) != 1), "notebook" + "s" * (counts.graded != 1)]
    print(
        f"{len(students)} {words[0]}: {counts.graded} {words[1]} graded, {counts.kept} unchanged, "
        f"{counts.unreadable} unreadable. See {options.out}/report.html"
    )
    return 1 if counts.unreadable else 0


if __name__ == "__main__":
    sys.exit(main())
