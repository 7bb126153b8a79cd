"""What was handed in: folders, flat files, the zip files of learning-management systems, nbgrader's folders.

Nothing is unpacked to disk and nothing is executed; names and sizes are checked before a byte is read.
"""

from __future__ import annotations

import datetime as dt
import io
import os
import re
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import IO

from .names import Whose, given_by_a_system, named, whose

LARGEST = 32 * 2**20  # bytes of a notebook
LONGEST = 400  # characters of a name inside a zip file: names are searched by patterns
MOST_EACH = 60  # notebooks of one student
ENTRIES, RATIO = 10_000, 200  # files in a zip, and how often smaller it may be than its content
NO_NOTEBOOK = "is no notebook: hand in the .ipynb, or a .zip of it"
IGNORED = (".ipynb_checkpoints", ".git", ".DS_Store", ".Trash")  # hidden folders in which nobody hands anything in
UNREADABLE = (".ipynb.txt", ".html", ".json", ".rar", ".7z", ".tar.gz", ".tgz", ".tar", ".gz", ".pdf", ".py", ".docx", ".md")


@dataclass(frozen=True)
class Submission:
    """One notebook: whose it is, where it lies (``member`` inside a zip, ``inner`` inside a student's own zip in it), when it was handed
    in, why it cannot be read, and under which name feedback goes ``back``."""

    student: str
    label: str
    path: str
    member: str = ""
    identity: str = ""
    handed_in: float | None = None
    problem: str = ""
    inner: str = ""
    back: str = ""


def printable(text: str, most: int = 120) -> str:
    """A name fit for a page and a table: no control characters, no direction marks, one line."""
    text = "".join(c if unicodedata.category(c)[0] != "C" else "�" for c in unicodedata.normalize("NFC", text))
    text = text.encode("utf-8", "replace").decode()
    return text.strip()[:most] or "(no name)"


def collect(folder: str | Path) -> list[Submission]:
    """Everything that was handed in under ``folder`` (or in one zip file), in a fixed order: notebooks, and with a ``problem`` whatever
    is no notebook. ValueError when there is no such folder."""
    root = Path(folder)
    if root.is_file() and zipfile.is_zipfile(root):
        found = list(_from_zip(root, None))
    elif root.is_dir():
        found = list(_from_folder(root / "submitted" if _is_nbgrader(root) else root))
    else:
        raise ValueError(f"{root} is neither a folder nor a zip file")
    notebooks = {(s.student, s.identity) for s in found if not s.problem}
    found = [s for s in found if not s.problem.endswith(NO_NOTEBOOK) or (s.student, s.identity) not in notebooks]
    return _capped(sorted(found, key=lambda s: (s.student, s.label, s.path, s.member, s.inner)))


def _is_nbgrader(root: Path) -> bool:
    """Whether a folder is nbgrader's: what was handed in lies in ``submitted``. Among students' folders it is a student of that name."""
    inner = root / "submitted"
    if not inner.is_dir() or inner.is_symlink():
        return False
    known = {"submitted", "source", "release", "autograded", "feedback"}
    folders = {path.name for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")}
    return folders <= known or any((root / name).is_file() for name in ("nbgrader_config.py", "gradebook.db"))


def _capped(found: list[Submission]) -> list[Submission]:
    """At most MOST_EACH notebooks of a student; one line says that there were more."""
    kept: list[Submission] = []
    count: Counter[tuple[str, str]] = Counter()
    for submission in found:
        count[submission.student, submission.identity] += 1
        many = count[submission.student, submission.identity]
        if many <= MOST_EACH:
            kept.append(submission)
        elif many == MOST_EACH + 1:
            kept.append(
                replace(submission, problem=f"more than {MOST_EACH} notebooks of one student: this one and those behind it are not graded")
            )
    return kept


def _from_folder(base: Path) -> Iterator[Submission]:
    """What was handed in below a folder; every folder right below it is a student, and gets a line."""
    errors: list[OSError] = []
    alone = [path for path in base.iterdir() if not path.name.startswith(".") and path.name != "__MACOSX"]
    seen: set[str] = set()  # folders right below the base in which something was handed in
    for folder, inner, files in os.walk(base, onerror=errors.append):
        yield from _not_walked(base, Path(folder), inner)
        for name in sorted(files):
            path = Path(folder) / name
            if name.startswith(".") or name in ("timestamp.txt", "Thumbs.db", "desktop.ini"):
                continue
            try:
                found = list(_from_file(base, path, owned=alone != [path]))
            except OSError as refused:
                found = [_problem(base, path, f"cannot be read ({type(refused).__name__}: {refused.strerror})")]
            seen |= {path.relative_to(base).parts[0]} if found else set()
            yield from found
    for error in errors:
        path = Path(error.filename or base)
        if path != base:
            seen.add(path.relative_to(base).parts[0])
            yield _problem(base, path, f"a folder that you may not read ({type(error).__name__})")
    for path in sorted(alone):
        if path.is_dir() and not path.is_symlink() and path.name not in seen:
            yield _problem(base, path, "an empty folder: nothing was handed in")


def _not_walked(base: Path, folder: Path, inner: list[str]) -> Iterator[Submission]:
    """Take out of ``inner``, the folders in a folder, those that are not read; a problem for each that a student may have meant."""
    hidden = sorted(name for name in inner if name.startswith(".") and name not in IGNORED) if folder == base else []
    yield from (_problem(base, folder / name, "a hidden folder: not read") for name in hidden)
    shown = sorted(name for name in inner if not name.startswith(".") and name != "__MACOSX")
    links = [name for name in shown if _is_link(folder / name)]
    yield from (_problem(base, folder / name, "a symbolic link, which is not followed") for name in links)
    inner[:] = [name for name in shown if name not in links]


def _is_link(path: Path) -> bool:
    try:
        return path.is_symlink()
    except OSError:  # a folder that may be listed and not entered, or a path that is too long: what lies in it says so
        return False


def _from_file(base: Path, path: Path, owned: bool) -> Iterator[Submission]:
    """What one file hands in; ``owned``: a zip file speaks for one student alone."""
    double = path.suffix.lower() in (".gz", ".xz", ".bz2", ".txt")  # .tar.gz, .ipynb.txt
    kind = "".join(path.suffixes[-2:] if double else path.suffixes[-1:]).lower()
    if path.is_symlink() or not path.is_file():
        yield _problem(base, path, "a symbolic link or no ordinary file: not read")
    elif kind == ".zip":
        yield from _from_zip(path, _owner_of(base, path) if owned else None)
    elif kind == ".ipynb":
        yield _notebook(base, path)
    elif kind in UNREADABLE or len(path.relative_to(base).parts) == 1:
        yield _problem(base, path, f"{kind or 'a file without an ending'} {NO_NOTEBOOK}")


def _owner_of(base: Path, path: Path) -> Whose:
    """To whom a zip file belongs: its folder's student, or its own name's."""
    return whose(PurePosixPath(path.relative_to(base).as_posix()))


def _notebook(base: Path, path: Path) -> Submission:
    student, identity, label, when, back = whose(PurePosixPath(path.relative_to(base).as_posix()))
    stamp = path.parent / "timestamp.txt"
    handed_in: float | None = path.stat().st_mtime
    if base.name == "submitted" and stamp.is_file() and not stamp.is_symlink() and stamp.stat().st_size < 200:
        handed_in = _time(stamp.read_text(encoding="utf-8", errors="replace")) or handed_in
    if identity or when:  # unpacked from a system, whose zip files carry the time of the download
        handed_in = when
    size = path.stat().st_size
    most = LARGEST / 2**20
    problem = f"{size / 2**20:.0f} MB is more than the {most:.0f} MB a notebook may have: clear the outputs" if size > LARGEST else ""
    return Submission(student, label, str(path), "", identity, handed_in, problem, back=back)


def _problem(base: Path, path: Path, text: str) -> Submission:
    student, identity, label, _, back = whose(PurePosixPath(path.relative_to(base).as_posix()))
    return Submission(student, label, str(path), "", identity, None, text, back=back)


def _time(text: str) -> float | None:
    match = re.match(r"\s*(\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?)", text)
    try:
        return dt.datetime.fromisoformat(match.group(1)).replace(tzinfo=dt.UTC).timestamp() if match else None
    except (ValueError, OverflowError):
        return None


def _from_zip(path: Path, owner: Whose | None) -> Iterator[Submission]:
    """Notebooks in a zip file: one student's, who speaks for nobody else, or (``owner`` None) a whole class's."""
    try:
        with zipfile.ZipFile(path) as archive:
            if problem := _no_archive(archive):
                yield _member(path, owner, problem=problem)
            for entry in _entries(archive):
                if len(entry.filename) > LONGEST:
                    yield _member(path, owner, problem=f"a name of {len(entry.filename):,} characters: not read")
                    continue
                found = _member(path, owner, entry, _refusal(entry, owner is not None))
                opened = owner is None and not found.problem and entry.filename.lower().endswith(".zip")
                yield from _export(archive, entry, found) if opened else (found,)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        yield _member(path, owner, problem=f"not a readable zip file ({type(error).__name__})")


def _export(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, outer: Submission) -> Iterator[Submission]:
    """The notebooks in a student's own zip file that lies in the archive of a class: they are that student's."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive.read(entry))) as export:
            if problem := _no_archive(export):
                yield replace(outer, problem=problem)
            for inner in _entries(export):
                if len(inner.filename) > LONGEST:
                    yield replace(outer, problem=f"a name of {len(inner.filename):,} characters: not read")
                else:
                    label = _inside(inner.filename).name or outer.label
                    yield replace(outer, label=label, inner=inner.filename, problem=_refusal(inner, owned=True))
    except Exception as error:  # zlib.error, and whatever a broken archive makes of it
        yield replace(outer, problem=f"not a readable zip file ({type(error).__name__})")


def _no_archive(archive: zipfile.ZipFile) -> str:
    """Why nothing is taken from a zip file; empty when something may be."""
    entries = archive.infolist()
    if len(entries) > ENTRIES:
        return f"a zip file with {len(entries):,} entries: not opened"
    found = any(entry.filename.lower().endswith((".ipynb", ".zip")) for entry in entries)
    return "" if found else "a zip file without a notebook"


def _entries(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The members of a zip file that may be meant to be graded."""
    entries = archive.infolist()
    return list(filter(_handed_in, entries)) if len(entries) <= ENTRIES else []


def _inside(name: str) -> PurePosixPath:
    return PurePosixPath(name.replace("\\", "/"))


def _handed_in(entry: zipfile.ZipInfo) -> bool:
    """Whether a member of a zip file may be meant to be graded: no folder, nothing hidden, nothing that a system puts in by itself."""
    parts = _inside(entry.filename).parts
    hidden = "__MACOSX" in parts or any(part.startswith(".") for part in parts if part not in (".", ".."))
    return not entry.is_dir() and entry.filename.lower().endswith((".ipynb", ".zip")) and not hidden


def _leads_out(name: str) -> bool:
    where = _inside(name)
    return where.is_absolute() or ".." in where.parts or re.match(r"^[A-Za-z]:", name) is not None


def _refusal(entry: zipfile.ZipInfo, owned: bool) -> str:
    """Why a member of a zip file is not read; empty when it is. ``owned``: by one student, who may not name others."""
    name, where = entry.filename, _inside(entry.filename)
    if owned and given_by_a_system(where):
        return (
            f"the name {name[:80]!r} is one that a learning-management system gives. In a zip file of one student it "
            "is not believed; the archive of a whole class is given to grade by itself"
        )
    if owned and name.lower().endswith(".zip"):
        return "a zip file inside a student's zip file: not opened"
    if _leads_out(name):
        return "a path that leads out of the zip file: not read"
    if (entry.external_attr >> 16) & 0o170000 == 0o120000:
        return "a symbolic link in a zip file: not read"
    if entry.file_size > LARGEST or entry.file_size > RATIO * max(entry.compress_size, 2000):
        return f"{entry.file_size / 2**20:.0f} MB unpacked: not read"
    return "an encrypted entry: not read" if entry.flag_bits & 1 else ""


def _member(path: Path, owner: Whose | None, entry: zipfile.ZipInfo | None = None, problem: str = "") -> Submission:
    """A member of a zip file, or without an ``entry`` the file as a whole, as a submission of its owner or of whom its name tells."""
    member = entry.filename if entry else ""
    where = _inside(member)
    if owner or not where.parts or where.is_absolute() or ".." in where.parts:
        owner = owner or Whose(named(path.stem), "", path.name)
        student, identity, label, when, back = owner._replace(label=where.name or path.name, when=None)
    else:
        student, identity, label, when, back = whose(where)
    if problem or identity or when or entry is None:  # the zip files of systems carry the time of the download
        return Submission(student, label, str(path), member, identity, None if problem else when, problem, back=back)
    believed = owner is None and entry.date_time[0] > 1980
    handed_in = dt.datetime(*entry.date_time).timestamp() if believed else path.stat().st_mtime
    return Submission(student, label, str(path), member, identity, handed_in, back=back)


def load(submission: Submission) -> bytes:
    """The bytes of a notebook; ValueError, with the reason, when it is not to be had."""
    if submission.problem:
        raise ValueError(submission.problem)
    try:
        if submission.member:
            with zipfile.ZipFile(submission.path) as archive, archive.open(submission.member) as file:
                data = _from_export(file, submission.inner) if submission.inner else file.read(LARGEST + 1)
        else:
            handle = os.open(submission.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
            with open(handle, "rb") as file:
                data = file.read(LARGEST + 1)
    except (OSError, zipfile.BadZipFile, KeyError, RuntimeError, EOFError, ValueError) as error:
        raise ValueError(f"cannot be read ({type(error).__name__})") from None
    except Exception as error:  # zlib.error, and whatever a broken archive makes of it
        raise ValueError(f"cannot be unpacked ({type(error).__name__})") from None
    if len(data) > LARGEST:
        raise ValueError(f"more than {LARGEST / 2**20:.0f} MB: clear the outputs")
    return data


def _from_export(file: IO[bytes], inner: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(file.read(LARGEST + 1))) as export, export.open(inner) as member:
        return member.read(LARGEST + 1)
