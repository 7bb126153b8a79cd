"""The folder of a run: ``run.json`` with the secret of its draws, ``grades.jsonl`` with a record for each notebook."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from course_utils.files import write_bytes

from .collect import Submission
from .marks import Mark


@dataclass(frozen=True)
class GradeRecord:
    """A line of ``grades.jsonl``: a submission with its marks by exercise, or the problem with it.

    ``sha256`` is the digest of what was read. It is empty where nothing could be, and --resume then grades it again as soon as it can.
    ``stamp`` tells with which exercises it was graded.
    """

    key: str
    sha256: str
    submission: Submission
    problem: str = ""
    marks: dict[str, Mark] = field(default_factory=dict)
    stamp: str = ""

    @classmethod
    def unread(cls, submission: Submission, problem: str) -> GradeRecord:
        """The record of a submission that could not be graded."""
        return cls(key_of(submission), "", submission, problem)

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> GradeRecord:
        """From a line of the file; TypeError or KeyError where another version of the course has written it."""
        marks = {exercise: Mark.from_plain(mark) for exercise, mark in plain["marks"].items()}
        return cls(**{**plain, "submission": Submission(**plain["submission"]), "marks": marks})


def key_of(submission: Submission) -> str:
    """What identifies a submission in a run: where it lies, and whose it is."""
    text = f"{submission.path}\0{submission.member}\0{submission.student}" + (f"\0{submission.inner}" if submission.inner else "")
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:24]


class RunFolder:
    """What a run keeps, to be read or, by :func:`alone_in`, to be written."""

    def __init__(self, folder: str | Path, resume: bool, seed: str | None = None):
        self.folder = Path(folder)
        self.run_file, self.records_file = self.folder / "run.json", self.folder / "grades.jsonl"
        if self.run_file.exists() and not resume:
            raise ValueError(f"{self.folder} already holds a run: give --resume to go on with it, or another folder")
        if self.run_file.exists():
            self.secret = json.loads(self.run_file.read_text(encoding="utf-8"))["secret"]
            if seed not in (None, self.secret):
                raise ValueError(f"--seed {seed} is not the seed of the run in {self.folder}: leave it out, or name a new folder")
        else:
            self.secret = seed or secrets.token_hex(16)
            write_bytes(self.run_file, json.dumps({"secret": self.secret}).encode(), 0o600)

    def records(self) -> Iterator[GradeRecord]:
        """Every complete record; the last one may have been cut off by a kill."""
        if not self.records_file.exists():
            return
        with self.records_file.open(encoding="utf-8") as file:
            for line in file:
                try:
                    yield GradeRecord.from_plain(json.loads(line))
                except (ValueError, TypeError, KeyError, AttributeError):
                    continue

    def append(self, record: GradeRecord) -> None:
        """Write one record and make sure that it is on disk."""
        with self.records_file.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # a kill has cut the last line off
                    file.write(b"\n")
            file.write(json.dumps(asdict(record)).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())


@contextlib.contextmanager
def alone_in(folder: str | Path, resume: bool, seed: str | None = None) -> Iterator[RunFolder]:
    """The folder of a run for this process alone: two that write records and tables would spoil each other's. ValueError when another
    works there. The lock ends with the process, however that ends."""
    path = Path(folder)
    if path.exists() and not (path / "run.json").exists() and not _only_begun(path):
        raise ValueError(f"{path} holds other things, which would be overwritten: name a new folder")
    path.mkdir(parents=True, exist_ok=True)
    held = _locked(path)
    try:
        yield RunFolder(path, resume, seed)
    finally:
        if held is not None:
            os.close(held)


def _only_begun(folder: Path) -> bool:
    """Whether a folder is empty, or holds no more than a run that was killed as it began."""
    return folder.is_dir() and all(path.name.startswith(".run.json.") for path in folder.iterdir())


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
