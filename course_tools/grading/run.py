"""A whole class: which notebooks have to be graded, and a record of each in the run's folder.

A run can be killed at any moment and resumed: a notebook is graded again only if it, the exercises or the draws changed.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

from .bubblewrap import why_not
from .collect import Submission, collect, printable
from .engines import Engine
from .jobs import Plan, digest_of, fingerprint_of_exercises
from .run_folder import RunFolder, alone_in, key_of


@dataclass
class Counts:
    """How many notebooks of a class were graded, kept from before, and unreadable."""

    graded: int = 0
    kept: int = 0
    unreadable: int = 0


def grade_class(
    folder: str | Path, out: str | Path, plan: Plan, engine: Engine, resume: bool = False, seed: str | None = None, quiet: bool = False
) -> Counts:
    """Grade everything under ``folder`` into ``out``. ValueError where there is nothing to grade, or nothing to grade it in."""
    submissions = collect(folder)
    if all(s.problem for s in submissions):
        first = f". The first of {len(submissions)} files: {printable(submissions[0].problem)}" if submissions else ""
        raise ValueError(f"there is no notebook under {folder}{first}")
    if not plan.unsafe and (reason := why_not()):
        raise ValueError(
            f"{reason}. Without a sandbox submissions could read and change everything you can: give --unsafe only for "
            "notebooks you have read"
        )
    with alone_in(out, resume, seed) as run:
        return _grade_into(run, submissions, replace(plan, secret=run.secret), engine, quiet)


def _grade_into(run: RunFolder, submissions: list[Submission], plan: Plan, engine: Engine, quiet: bool) -> Counts:
    from tqdm import tqdm

    stamp = fingerprint_of_exercises(plan.only)
    done = {record.key: record for record in run.records() if record.stamp == stamp}
    todo = [s for s in submissions if key_of(s) not in done or done[key_of(s)].sha256 != digest_of(s)]
    kept = {key_of(s) for s in submissions} - {key_of(s) for s in todo}
    troubled = {key for key in kept if done[key].problem}
    counts = Counts(kept=len(kept) - len(troubled), unreadable=len(troubled))
    with tqdm(total=len(todo), desc="grading", unit="notebook", file=sys.stdout, disable=quiet) as bar:
        for record in engine.run(todo, plan):
            run.append(replace(record, stamp=stamp))
            if record.problem:
                counts.unreadable += 1
            else:
                counts.graded += 1
            bar.set_postfix_str(printable(record.submission.student, 20), refresh=False)
            bar.update()
    return counts
