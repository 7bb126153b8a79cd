"""Where the jobs of a run are done: on the cores of this machine, or on a Dask cluster. Each engine yields records as they are ready."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from .collect import Submission, load, printable
from .jobs import Plan, fingerprint_of_exercises, grade_loaded, grade_submission, sandboxes
from .run_folder import GradeRecord, key_of

TOGETHER = 3  # times that a class is graded side by side before notebooks are graded one by one, because judges die
_one_at_a_time = threading.Lock()
Admit = Callable[[Submission], Submission]


@dataclass(frozen=True)
class Engine:
    """ "local" with so many processes, one for each core unless told otherwise; or "dask" with the address of its scheduler."""

    name: str = "local"
    jobs: int | None = None
    scheduler: str | None = None

    def run(self, todo: list[Submission], plan: Plan, admit: Admit = lambda submission: submission) -> Iterator[GradeRecord]:
        """The record of every submission, in the order in which they are ready; ``admit`` is asked for each as its turn comes."""
        if self.name == "dask":
            return on_a_cluster(map(admit, todo), plan, self.scheduler)
        return on_this_machine(todo, plan, self.jobs, admit)


# ---- this machine ------------------------------------------------------------------------------------------------


def on_this_machine(
    todo: list[Submission], plan: Plan, jobs: int | None = None, admit: Admit = lambda submission: submission
) -> Iterator[GradeRecord]:
    """The cores of this machine, through joblib."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    jobs = jobs or max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    if jobs == 1 or len(todo) < 2:
        yield from (grade_submission(admit(submission), plan) for submission in todo)
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    workers: dict[str, Any] = {"backend": "loky", "initializer": _end_with, "initargs": (os.getpid(),)}
    left = {key_of(submission): submission for submission in todo}
    for _ in range(TOGETHER):
        parallel = Parallel(n_jobs=min(jobs, len(todo)), return_as="generator_unordered", pre_dispatch="2*n_jobs", batch_size=1, **workers)
        try:
            for record in parallel(delayed(grade_submission)(admit(submission), plan) for submission in list(left.values())):
                left.pop(record.key)
                yield record
        except TerminatedWorkerError:  # a judge process itself has died, or somebody has killed it
            continue
        return
    for submission in left.values():  # find out, one by one, which notebook it was
        try:
            yield next(iter(Parallel(n_jobs=2, **workers)([delayed(grade_submission)(submission, plan)])))
        except TerminatedWorkerError:
            yield GradeRecord.unread(submission, "the judge's process died over it; --resume tries again")


def _end_with(main: int) -> None:
    """In a new process: end it, and its sandbox, when the process that started the run is gone: it may have been killed."""

    def watch() -> None:
        while os.getppid() == main:
            time.sleep(0.5)
        for sandbox in list(sandboxes.values()):
            if sandbox.process is not None:
                sandbox.process.kill()
            sandbox.sweep()
        os._exit(1)  # a sandbox that is only starting dies with its parent

    threading.Thread(target=watch, daemon=True).start()


# ---- a cluster ---------------------------------------------------------------------------------------------------


def on_a_cluster(todo: Iterable[Submission], plan: Plan, scheduler: str | None) -> Iterator[GradeRecord]:
    """The workers of a Dask cluster; the notebooks travel with the jobs, the course has to be installed there.

    ``dask worker tcp://… --nworkers N --nthreads 1`` on every machine, N its cores: a worker grades one notebook at a time, whatever its
    threads, because judge and sandbox belong to a process. Nannies may stay: a sandbox dies with its worker. What a lost worker had is
    graded again by another; only what arrives here is written down, once. Bubblewrap has to be on every machine.
    """
    try:
        from dask.distributed import Client, as_completed

        client = Client(scheduler)
    except ImportError:
        raise ValueError("--engine dask needs a package more: python course.py setup --with grading") from None
    except OSError as error:
        raise ValueError(f"no Dask scheduler answers at {scheduler} ({type(error).__name__})") from None
    with client:
        cluster = _Cluster(client, plan, as_completed())
        try:
            yield from cluster.grade(iter(todo))
        except OSError as error:
            raise ValueError(f"the Dask scheduler at {scheduler} has gone ({error}); --resume goes on") from None
    if cluster.failures:
        raise ValueError(
            f"{len(cluster.failures)} notebooks could not be graded on the cluster; --resume tries them again. "
            f"The first: {cluster.failures[0]}"
        )


class _Cluster:
    """A client of a cluster with the jobs that are under way there, and what failed."""

    def __init__(self, client: Any, plan: Plan, running: Any):
        self.client, self.plan, self.stamp = client, plan, fingerprint_of_exercises(plan.only)
        self.running = running
        self.waiting: dict[str, Submission] = {}
        self.failures: list[str] = []

    def grade(self, queue: Iterator[Submission]) -> Iterator[GradeRecord]:
        """Keep two jobs a core under way; a class need not fit into memory."""
        while True:
            yield from self.top_up(queue, 2 * max(1, sum(self.client.ncores().values())))
            if not self.waiting:
                return
            future = self.ready()
            submission = self.waiting.pop(future.key)
            try:
                record = future.result()
            except Exception as error:  # a worker without a sandbox, or four workers lost over one notebook
                self.failures.append(f"{printable(submission.student)}: {type(error).__name__}: {error}"[:300])
            else:
                yield record
            future.release()

    def ready(self) -> Any:
        """The next job that is done. After ten seconds without one: where no worker is left, say once that one is waited for."""
        asked = time.monotonic()
        while not self.running.has_ready():
            time.sleep(0.05)
            if time.monotonic() > asked + 10:
                asked = time.monotonic() if self.client.ncores() else float("inf")
                if asked == float("inf"):
                    print("\ngrading: the cluster has no worker; waiting for one (or Ctrl-C, and --resume)", file=sys.stderr, flush=True)
        return next(self.running)

    def top_up(self, queue: Iterator[Submission], many: int) -> Iterator[GradeRecord]:
        """Send jobs until so many are under way; the records of what cannot be read."""
        while len(self.waiting) < many:
            submission = next(queue, None)
            if submission is None:
                return
            try:
                data = load(submission)
            except ValueError as error:
                yield GradeRecord.unread(submission, str(error))
                continue
            key = f"grade-{key_of(submission)}-{secrets.token_hex(4)}"
            future = self.client.submit(_grade_there, submission, data, self.plan, self.stamp, pure=False, retries=1, key=key)
            self.waiting[key] = submission
            self.running.add(future)


def _grade_there(submission: Submission, data: bytes, plan: Plan, stamp: str) -> GradeRecord:
    """On a worker of a cluster: the same exercises as at home, one notebook at a time."""
    with _one_at_a_time:
        if _stamp_there(plan.only) != stamp:
            raise RuntimeError(f"the course on {socket.gethostname()} is not the version that grading was started with")
        return grade_loaded(submission, data, plan)


@cache
def _stamp_there(only: tuple[str, ...]) -> str:
    return fingerprint_of_exercises(only)
