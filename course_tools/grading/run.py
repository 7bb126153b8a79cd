"""A whole class: which notebooks have to be graded, on which machine, and one line for each notebook in ``grades.jsonl``.

A run can be killed at any moment and resumed: a notebook is graded again only if it, the exercises or the draws changed.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from course_utils.paths import PACKAGE

from .collect import Submission, collect, load, printable
from .marks import Limits, exercises_of, grade_notebook
from .sandbox import Sandbox, SandboxError, Unsandboxed, why_not

JUDGED = (PACKAGE / "checks", PACKAGE / "exercises", Path(__file__).resolve().parent)  # what a mark depends on
_boxes: dict[tuple, Sandbox] = {}
_one_at_a_time = threading.Lock()
TOGETHER = 3  # times that a class is graded side by side before notebooks are graded one by one, because judges die


@dataclass(frozen=True)
class Plan:
    """What every job of a run has in common; small enough to be sent along with each."""

    secret: str
    only: tuple[str, ...] = ()
    timeout: float = 60.0
    memory: int = 2 * 2**30
    unsafe: bool = False


def _watched(main: int) -> None:
    """In a new worker: end it, and its sandbox, when the process that started the run is gone: it may have been killed."""

    def watch() -> None:
        while os.getppid() == main:
            time.sleep(0.5)
        for box in list(_boxes.values()):
            if box.process is not None:
                box.process.kill()
            box.sweep()
        os._exit(1)  # a sandbox that is only starting dies with its parent

    threading.Thread(target=watch, daemon=True).start()


def _box(plan: Plan) -> Sandbox:
    """The sandbox of this process, started once."""
    key = (os.getpid(), plan.memory, plan.unsafe)
    if key not in _boxes:
        _boxes[key] = (Unsandboxed if plan.unsafe else Sandbox)(memory=plan.memory).__enter__()
        atexit.register(_boxes[key].__exit__, None, None, None)
    return _boxes[key]


def grade_bytes(data: bytes, plan: Plan) -> dict[str, Any]:
    """Grade one notebook in this process's sandbox; what a line of ``grades.jsonl`` holds of it."""
    import torch

    torch.set_num_threads(1)
    graded = grade_notebook(_box(plan), data, exercises_of(plan.only), plan.secret, Limits(plan.timeout, plan.memory))
    return {"problem": graded.problem, "marks": {key: mark.plain() for key, mark in graded.marks.items()}}


def grade_submission(submission: Submission, plan: Plan) -> dict[str, Any]:
    """Read and grade one submission; a file that cannot be read is a problem of its owner alone."""
    try:
        data = load(submission)
    except ValueError as error:
        return _line(submission, "", {"problem": str(error), "marks": {}})
    return grade_loaded(submission, data, plan)


def grade_loaded(submission: Submission, data: bytes, plan: Plan) -> dict[str, Any]:
    """Grade one submission whose bytes are here."""
    try:
        result = grade_bytes(data, plan)
    except SandboxError:
        raise
    except Exception as error:  # one submission must not stop the class; its owner is told, and so is the instructor
        return _line(submission, "", {"problem": f"the grader stumbled over it ({type(error).__name__}: {error})"[:300], "marks": {}})
    return _line(submission, hashlib.sha256(data).hexdigest(), result)


def _line(submission: Submission, digest: str, result: dict[str, Any]) -> dict[str, Any]:
    """A line for a submission. Without the digest of what was read, --resume grades it again as soon as it can be read."""
    return {"key": key_of(submission), "sha256": digest, "submission": asdict(submission), **result}


def key_of(submission: Submission) -> str:
    """What identifies a submission in a run: its place."""
    place = f"{submission.path}\0{submission.member}\0{submission.student}"
    return hashlib.sha256(place.encode(errors="backslashreplace")).hexdigest()[:24]


def fingerprint_of_exercises(only: tuple[str, ...]) -> str:
    """Changes when any exercise, oracle or judge changes, or how grading observes and judges."""
    text = hashlib.sha256(repr(sorted(only)).encode())
    for folder in JUDGED:
        for path in sorted(folder.rglob("*.py")):
            text.update(path.read_bytes())
    return text.hexdigest()[:16]


@contextlib.contextmanager
def alone_in(folder: str | Path, resume: bool, seed: str | None = None) -> Iterator[Book]:
    """The folder of a run for this process alone: two that write lines and tables would spoil each other's. ValueError when another
    works there. The lock ends with the process, however that ends."""
    place = Path(folder)
    if (
        place.exists()
        and not (place / "run.json").exists()
        and (not place.is_dir() or any(path.name not in ("run.part", "run.json") for path in place.iterdir()))
    ):
        raise ValueError(f"{place} holds other things, which would be overwritten: name a new folder")
    place.mkdir(parents=True, exist_ok=True)
    held = _locked(place)
    try:
        yield Book(place, resume, seed)
    finally:
        if held is not None:
            os.close(held)


def _locked(folder: Path) -> int | None:
    """A handle that holds the folder's lock; None where the file system has no locks."""
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise ValueError(f"another run is at work in {folder}: wait until it has ended, or name another folder") from None
    except OSError:
        pass
    return handle


class Book:
    """The folder of a run: ``run.json`` with its draws, ``grades.jsonl`` with a line for each notebook. :func:`alone_in` to write."""

    def __init__(self, folder: str | Path, resume: bool, seed: str | None = None):
        self.folder = Path(folder)
        self.run_file, self.lines_file = self.folder / "run.json", self.folder / "grades.jsonl"
        if self.run_file.exists() and not resume:
            raise ValueError(f"{self.folder} already holds a run: give --resume to go on with it, or another folder")
        if self.run_file.exists():
            self.secret = json.loads(self.run_file.read_text(encoding="utf-8"))["secret"]
            if seed not in (None, self.secret):
                raise ValueError(f"--seed {seed} is not the seed of the run in {self.folder}: leave it out, or name a new folder")
        else:
            self.secret = seed or secrets.token_hex(16)
            beside = self.run_file.with_suffix(".part")
            beside.write_text(json.dumps({"secret": self.secret}), encoding="utf-8")
            os.replace(beside, self.run_file)
        os.chmod(self.run_file, 0o600)

    def lines(self) -> Iterator[dict[str, Any]]:
        """Every complete line; the last one may have been cut off by a kill."""
        if not self.lines_file.exists():
            return
        with self.lines_file.open(encoding="utf-8") as file:
            for text in file:
                try:
                    yield json.loads(text)
                except ValueError:
                    continue

    def append(self, line: dict[str, Any]) -> None:
        """Write one line and make sure that it is on disk."""
        with self.lines_file.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # a kill has cut the last line off
                    file.write(b"\n")
            file.write(json.dumps(line).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())


def digest_of(submission: Submission) -> str:
    """What would be graded, without grading it; empty when it cannot be read."""
    try:
        return hashlib.sha256(load(submission)).hexdigest()
    except ValueError:
        return ""


def grade_class(
    folder: str | Path,
    out: str | Path,
    plan_options: dict[str, Any],
    resume: bool = False,
    jobs: int | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    seed: str | None = None,
    quiet: bool = False,
) -> dict[str, int]:
    """Grade everything under ``folder`` into ``out``; returns how many were graded, kept from before, and unreadable."""
    submissions = collect(folder)
    if all(s.problem for s in submissions):
        first = f". The first of {len(submissions)} files: {printable(submissions[0].problem)}" if submissions else ""
        raise ValueError(f"there is no notebook under {folder}{first}")
    if not plan_options.get("unsafe") and (reason := why_not()):
        raise ValueError(
            f"{reason}. Without a sandbox submissions could read and change everything you can: give --unsafe only for "
            "notebooks you have read"
        )
    with alone_in(out, resume, seed) as book:
        return _grade_into(book, submissions, Plan(secret=book.secret, **plan_options), jobs, engine, scheduler, quiet)


def _grade_into(
    book: Book, submissions: list[Submission], plan: Plan, jobs: int | None, engine: str, scheduler: str | None, quiet: bool
) -> dict[str, int]:
    from tqdm import tqdm

    stamp = fingerprint_of_exercises(plan.only)
    done = {line["key"]: line["sha256"] for line in book.lines() if line.get("stamp") == stamp and "key" in line}
    todo = [s for s in submissions if done.get(key_of(s)) is None or done[key_of(s)] != digest_of(s)]
    again = {key_of(s) for s in todo}
    kept = {key for s in submissions if (key := key_of(s)) not in again}
    troubled = {line["key"] for line in book.lines() if line.get("stamp") == stamp and line.get("key") in kept and line["problem"]}
    counts = {"graded": 0, "kept": len(kept) - len(troubled), "unreadable": len(troubled)}
    runner = _local if engine == "local" else _dask
    bar = tqdm(total=len(todo), desc="grading", unit="notebook", file=sys.stdout, disable=quiet)
    with bar:
        for line in runner(todo, plan, jobs, scheduler):
            book.append({**line, "stamp": stamp})
            counts["unreadable" if line["problem"] else "graded"] += 1
            bar.set_postfix_str(printable(line["submission"]["student"], 20), refresh=False)
            bar.update()
    return counts


def _local(todo: list[Submission], plan: Plan, jobs: int | None, scheduler: str | None) -> Iterator[dict[str, Any]]:
    """The cores of this machine, through joblib."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    jobs = jobs or max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    if jobs == 1 or len(todo) < 2:
        yield from (grade_submission(s, plan) for s in todo)
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    workers = {"backend": "loky", "initializer": _watched, "initargs": (os.getpid(),)}
    left = {key_of(s): s for s in todo}
    for _ in range(TOGETHER):
        parallel = Parallel(n_jobs=min(jobs, len(todo)), return_as="generator_unordered", pre_dispatch="2*n_jobs", batch_size=1, **workers)
        try:
            for line in parallel(delayed(grade_submission)(s, plan) for s in list(left.values())):
                left.pop(line["key"])
                yield line
        except TerminatedWorkerError:  # a judge process itself has died, or somebody has killed it
            continue
        return
    for submission in left.values():  # find out, one by one, which notebook it was
        try:
            yield next(iter(Parallel(n_jobs=2, **workers)([delayed(grade_submission)(submission, plan)])))
        except TerminatedWorkerError:
            yield _line(submission, "", {"problem": "the judge's process died over it; --resume tries again", "marks": {}})


def _dask(todo: list[Submission], plan: Plan, jobs: int | None, scheduler: str | None) -> Iterator[dict[str, Any]]:
    """The workers of a Dask cluster; the notebooks travel with the jobs, the course has to be installed there.

    ``dask worker tcp://… --nworkers N --nthreads 1`` on every machine, N its cores: a worker grades one notebook at a time,
    whatever its threads, because the judge and its sandbox belong to a process. Nannies may stay: the sandbox is a program
    of its own, which even a nanny's daemonic worker may start, and it dies with its worker. What a lost worker had is
    graded again by another; only what arrives here is written down, once. Bubblewrap has to be on every machine.
    """
    from dask.distributed import Client, as_completed

    stamp = fingerprint_of_exercises(plan.only)
    try:
        client = Client(scheduler)
    except OSError as error:
        raise ValueError(f"no Dask scheduler answers at {scheduler} ({type(error).__name__})") from None
    with client:
        waiting: dict[str, Submission] = {}
        failures: list[str] = []
        queue = iter(todo)
        running = as_completed()

        def top_up(many: int) -> Iterator[dict[str, Any]]:
            while len(waiting) < many:
                submission = next(queue, None)
                if submission is None:
                    return
                try:
                    data = load(submission)
                except ValueError as error:
                    yield _line(submission, "", {"problem": str(error), "marks": {}})
                    continue
                future = client.submit(
                    _grade_far,
                    submission,
                    data,
                    plan,
                    stamp,
                    pure=False,
                    retries=1,
                    key=f"grade-{key_of(submission)}-{secrets.token_hex(4)}",
                )
                waiting[future.key] = submission
                running.add(future)

        while True:
            yield from top_up(2 * max(1, sum(client.ncores().values())))  # a class need not fit into memory
            if not waiting:
                break
            future = next(running)
            submission = waiting.pop(future.key)
            try:
                line = future.result()
            except Exception as error:  # a worker without a sandbox, or four workers lost over one notebook
                failures.append(f"{printable(submission.student)}: {type(error).__name__}: {error}"[:300])
            else:
                yield line
            future.release()
    if failures:
        raise ValueError(
            f"{len(failures)} notebooks could not be graded on the cluster; --resume tries them again. The first: {failures[0]}"
        )


def _grade_far(submission: Submission, data: bytes, plan: Plan, stamp: str) -> dict[str, Any]:
    """On a worker of a cluster: the same exercises as at home, one notebook at a time."""
    with _one_at_a_time:
        if _stamp_here(plan.only) != stamp:
            raise RuntimeError(f"the course on {socket.gethostname()} is not the version that grading was started with")
        return grade_loaded(submission, data, plan)


@cache
def _stamp_here(only: tuple[str, ...]) -> str:
    return fingerprint_of_exercises(only)
