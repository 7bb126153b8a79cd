"""What was handed in: folders, flat files, the zip files of learning-management systems, nbgrader's folders.

Nothing is unpacked to disk and nothing is executed; names and sizes are checked before a byte is read.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import unicodedata
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

LARGEST = 32 * 2**20  # bytes of a notebook
ENTRIES, RATIO = 10_000, 200  # files in a zip, and how often smaller it may be than its content
CANVAS = re.compile(r"^(?:LATE_(?=anon_))?(?P<student>[^_/]+)_(?:LATE_)?(?P<id>\d+|(?<=anon_)\w{5})_\d+_(?P<name>.+\.(?:ipynb|zip))$",
                    re.IGNORECASE)
MOODLE = re.compile(r"^(?P<student>.+?)_(?P<id>\d+)_assignsubmission_[a-z]+_?(?P<name>(?<=_).+\.(?:ipynb|zip))?$", re.IGNORECASE)
CHAPTER = re.compile(r"^(?P<student>.+?)[_\- ]+(?P<chapter>\d\d[a-z]?_[\w\-]+?)(?:[ _\-]*\(?\d+\)?)?$")


@dataclass(frozen=True)
class Submission:
    """One notebook: whose it is, where it lies (``member`` inside a zip), when it was handed in, why it cannot be read."""

    student: str
    label: str
    path: str
    member: str = ""
    identity: str = ""
    handed_in: float | None = None
    problem: str = ""


def printable(text: str, most: int = 120) -> str:
    """A name fit for a page and a table: no control characters, no direction marks, one line."""
    text = "".join(c if unicodedata.category(c)[0] != "C" else "�" for c in unicodedata.normalize("NFC", text))
    text = text.encode("utf-8", "replace").decode()
    return text.strip()[:most] or "(no name)"


def collect(folder: str | Path) -> list[Submission]:
    """Every notebook under ``folder`` (or in one zip file), in a fixed order. ValueError when there is no such folder."""
    root = Path(folder)
    if root.is_file() and zipfile.is_zipfile(root):
        found = list(_from_zip(root, None, whole_class=True))
    elif root.is_dir():
        base = root / "submitted" if (root / "submitted").is_dir() and not (root / "submitted").is_symlink() else root
        found = list(_from_folder(base))
    else:
        raise ValueError(f"{root} is neither a folder nor a zip file")
    return sorted(found, key=lambda s: (s.student, s.label, s.path, s.member))


def _from_folder(base: Path) -> Iterator[Submission]:
    for place, folders, files in os.walk(base):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f != "__MACOSX")
        for name in list(folders):
            if (Path(place) / name).is_symlink():
                folders.remove(name)
                yield _problem(base, Path(place) / name, "a symbolic link, which is not followed")
        for name in sorted(files):
            path = Path(place) / name
            lower = name.lower()
            if name.startswith(".") or not lower.endswith((".ipynb", ".zip")):
                continue
            if path.is_symlink() or not path.is_file():
                yield _problem(base, path, "a symbolic link or no ordinary file: not read")
            elif lower.endswith(".zip"):
                yield from _from_zip(path, _owner_of(base, path))
            else:
                yield _notebook(base, path)


def _owner_of(base: Path, path: Path) -> tuple[str, str] | None:
    """Student and identity to whom a zip file belongs; None when it may hold a whole class."""
    place = PurePosixPath(path.relative_to(base).as_posix())
    student, identity, _ = _whose(place)
    return (student, identity) if identity or len(place.parts) > 1 else None


def _notebook(base: Path, path: Path) -> Submission:
    student, identity, label = _whose(PurePosixPath(path.relative_to(base).as_posix()))
    stamp = path.parent / "timestamp.txt"
    handed_in: float | None = path.stat().st_mtime
    if base.name == "submitted" and stamp.is_file() and not stamp.is_symlink() and stamp.stat().st_size < 200:
        handed_in = _time(stamp.read_text(encoding="utf-8", errors="replace")) or handed_in
    if identity:  # unpacked from Canvas or Moodle, whose zip files carry the time of the download
        handed_in = None
    size = path.stat().st_size
    problem = f"{size / 2**20:.0f} MB is more than the {LARGEST / 2**20:.0f} MB a notebook may have" if size > LARGEST else ""
    return Submission(student, label, str(path), "", identity, handed_in, problem)


def _problem(base: Path, path: Path, text: str) -> Submission:
    student, identity, label = _whose(PurePosixPath(path.relative_to(base).as_posix()))
    return Submission(student, label, str(path), "", identity, None, text)


def _time(text: str) -> float | None:
    match = re.match(r"\s*(\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?)", text)
    try:
        return dt.datetime.fromisoformat(match.group(1)).replace(tzinfo=dt.UTC).timestamp() if match else None
    except (ValueError, OverflowError):
        return None


def _whose(path: PurePosixPath) -> tuple[str, str, str]:
    """Student, identity and label of a notebook from its place: the folder's name, or the file's.

    The identity is what the learning-management system calls the student: Canvas's ID, Moodle's "Participant 4711".
    """
    label = path.name
    moodle = MOODLE.match(path.parts[0])  # a folder for each student, or one for all
    if moodle:
        return moodle["student"], f"Participant {moodle['id']}", moodle["name"] if len(path.parts) == 1 and moodle["name"] else label
    if len(path.parts) > 1:
        return path.parts[0], "", label
    canvas = CANVAS.match(path.name)  # in a student's folder a name proves nothing
    if canvas:
        return canvas["student"], canvas["id"], canvas["name"]
    flat = CHAPTER.match(path.stem)
    return (flat["student"], "", f"{flat['chapter']}.ipynb") if flat else (path.stem, "", label)


def _from_zip(path: Path, owner: tuple[str, str] | None, whole_class: bool = False) -> Iterator[Submission]:
    """Notebooks in a zip file; it may be a whole class's or one student's."""
    def whose(where: PurePosixPath) -> tuple[str, str, str]:
        if owner or not where.parts or where.is_absolute() or ".." in where.parts:
            return (*(owner or (path.stem, "")), where.name or path.name)
        student, identity, label = _whose(where)
        unnamed = len(where.parts) == 1 and not identity and not CHAPTER.match(where.stem)
        return path.stem if unnamed and not whole_class else student, identity, label

    def refused(text: str, member: str = "") -> Submission:
        student, identity, label = whose(PurePosixPath(member.replace("\\", "/")))
        return Submission(student, label, str(path), member, identity, None, text)

    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > ENTRIES:
                yield refused(f"a zip file with {len(entries):,} entries: not opened")
                return
            for entry in entries:
                name = entry.filename
                where = PurePosixPath(name.replace("\\", "/"))
                if entry.is_dir() or not name.lower().endswith((".ipynb", ".zip")) or "__MACOSX" in where.parts:
                    continue
                if name.lower().endswith(".zip"):
                    yield refused("a zip file inside a zip file: not opened", name)
                    continue
                if where.is_absolute() or ".." in where.parts or re.match(r"^[A-Za-z]:", name):
                    yield refused("a path that leads out of the zip file: not read", name)
                elif (entry.external_attr >> 16) & 0o170000 == 0o120000:
                    yield refused("a symbolic link in a zip file: not read", name)
                elif entry.file_size > LARGEST or entry.file_size > RATIO * max(entry.compress_size, 2000):
                    yield refused(f"{entry.file_size / 2**20:.0f} MB unpacked: not read", name)
                elif entry.flag_bits & 1:
                    yield refused("an encrypted entry: not read", name)
                else:
                    student, identity, label = whose(where)
                    inside = dt.datetime(*entry.date_time).timestamp() if entry.date_time[0] > 1980 and not owner else path.stat().st_mtime
                    yield Submission(student, label, str(path), name, identity, None if identity else inside)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        yield refused(f"not a readable zip file ({type(error).__name__})")


def load(submission: Submission) -> bytes:
    """The bytes of a notebook; ValueError, with the reason, when it is not to be had."""
    if submission.problem:
        raise ValueError(submission.problem)
    try:
        if submission.member:
            with zipfile.ZipFile(submission.path) as archive, archive.open(submission.member) as file:
                data = file.read(LARGEST + 1)
        else:
            handle = os.open(submission.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
            with open(handle, "rb") as file:
                data = file.read(LARGEST + 1)
    except (OSError, zipfile.BadZipFile, KeyError, RuntimeError, EOFError, ValueError) as error:
        raise ValueError(f"cannot be read ({type(error).__name__})") from None
    except Exception as error:  # zlib.error, and whatever a broken archive makes of it
        raise ValueError(f"cannot be unpacked ({type(error).__name__})") from None
    if len(data) > LARGEST:
        raise ValueError(f"more than {LARGEST / 2**20:.0f} MB")
    return data
