"""One job of a run: a submission, graded in the sandbox that belongs to this process."""

from __future__ import annotations

import atexit
import hashlib
import os
from dataclasses import dataclass

from .collect import Submission, load
from .marks import Graded, Limits, exercises_of
from .notebook_grader import grade_notebook
from .package_copy import CHECKS, TOOLS
from .run_folder import GradeRecord, key_of
from .sandbox import ByUser, Sandbox, SandboxError, Unsandboxed

JUDGED = (CHECKS, TOOLS / "grading", TOOLS / "metadata.py")  # what a mark depends on
sandboxes: dict[tuple[int, int, bool], Sandbox] = {}  # by process, memory, safety


@dataclass(frozen=True)
class Plan:
    """What every job of a run has in common; small enough to be sent along with each. ``secret``: the run's, once it has begun."""

    only: tuple[str, ...] = ()
    timeout: float = 60.0
    memory: int = 2 * 2**30
    unsafe: bool = False
    secret: str = ""
    walls: str = "namespaces"  # "user": those of :class:`.sandbox.ByUser`


def fingerprint_of_exercises(only: tuple[str, ...]) -> str:
    """Changes when any exercise, page of mistakes, oracle or judge changes, or how grading observes and judges."""
    text = hashlib.sha256(repr(sorted(only)).encode())
    for item in JUDGED:
        files = [item] if item.is_file() else sorted(path for path in item.rglob("*") if path.suffix in (".py", ".md"))
        for path in files:
            text.update(path.read_bytes())
    return text.hexdigest()[:16]


def digest_of(submission: Submission) -> str:
    """What would be graded, without grading it; empty when it cannot be read."""
    try:
        return hashlib.sha256(load(submission)).hexdigest()
    except ValueError:
        return ""


def grade_submission(submission: Submission, plan: Plan) -> GradeRecord:
    """Read and grade one submission; a file that cannot be read is a problem of its owner alone."""
    try:
        data = load(submission)
    except ValueError as error:
        return GradeRecord.unread(submission, str(error))
    return grade_loaded(submission, data, plan)


def grade_loaded(submission: Submission, data: bytes, plan: Plan) -> GradeRecord:
    """Grade one submission whose bytes are here."""
    try:
        graded = _grade(data, plan)
    except SandboxError:
        raise
    except Exception as error:  # one submission must not stop the class; its owner is told, and so is the instructor
        return GradeRecord.unread(submission, f"the grader stumbled over it ({type(error).__name__}: {error})"[:300])
    return GradeRecord(key_of(submission), hashlib.sha256(data).hexdigest(), submission, graded.problem, graded.marks)


def _grade(data: bytes, plan: Plan) -> Graded:
    import torch

    torch.set_num_threads(1)
    return grade_notebook(_sandbox(plan), data, exercises_of(plan.only), plan.secret, Limits(plan.timeout, plan.memory))


def _sandbox(plan: Plan) -> Sandbox:
    """The sandbox of this process, started once."""
    key = (os.getpid(), plan.memory, plan.unsafe)
    if key not in sandboxes:
        kind = Unsandboxed if plan.unsafe else ByUser if plan.walls == "user" else Sandbox
        sandboxes[key] = kind(memory=plan.memory).__enter__()
        atexit.register(sandboxes[key].__exit__, None, None, None)
    return sandboxes[key]
