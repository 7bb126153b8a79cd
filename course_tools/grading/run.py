"""A whole class: which notebooks have to be graded, and a record of each in the run's folder.

A run can be killed at any moment and resumed: a notebook is graded again only if it, the exercises or the draws changed.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from .bubblewrap import why_not
from .collect import Submission, collect, printable
from .engines import Engine
from .jobs import Plan, digest_of, fingerprint_of_exercises
from .run_folder import GradeRecord, RunFolder, alone_in, key_of

EACH = 1_800.0  # seconds for all notebooks of one student, as long as others wait


@dataclass
class Counts:
    """How many notebooks of a class were graded, kept from before, and unreadable."""

    graded: int = 0
    kept: int = 0
    unreadable: int = 0


class Budget:
    """The seconds that each student has had, so that nobody holds the class up with many notebooks that never end."""

    def __init__(self, records: Iterable[GradeRecord] = ()):
        self.spent: defaultdict[tuple[str, str], float] = defaultdict(float)
        for record in records:
            self.spend(record)

    def spend(self, record: GradeRecord) -> None:
        """Count what a notebook has taken."""
        self.spent[record.submission.student, record.submission.identity] += sum(mark.seconds for mark in record.marks.values())

    def admit(self, submission: Submission) -> Submission:
        """A submission as its turn comes: with the reason where its owner has had all the time there is."""
        if submission.problem or self.spent[submission.student, submission.identity] < EACH:
            return submission
        return replace(submission, problem=f"not tried: the notebooks before it took the {EACH / 60:g} minutes that a student has")


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
    budget = Budget(done[key] for key in kept)
    counts = Counts(kept=len(kept) - len(troubled), unreadable=len(troubled))
    with tqdm(total=len(todo), desc="grading", unit="notebook", file=sys.stdout, disable=quiet) as bar:
        for record in engine.run(todo, plan, budget.admit):
            budget.spend(record)
            run.append(replace(record, stamp=stamp))
            if record.problem:
                counts.unreadable += 1
            else:
                counts.graded += 1
            bar.set_postfix_str(printable(record.submission.student, 20), refresh=False)
            bar.update()
    return counts
