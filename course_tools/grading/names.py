"""Whose a notebook is, from the names that people and learning-management systems give. Nothing is read but names."""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from functools import cache
from pathlib import PurePosixPath
from typing import NamedTuple

from course_utils.paths import ROOT

CANVAS = re.compile(
    r"^(?:LATE_(?=anon_))?(?P<student>[^_/]+)_(?:LATE_)?(?P<id>\d+|(?<=anon_)\w{5})_\d+_(?P<name>.+\.(?:ipynb|zip))$", re.IGNORECASE
)
MOODLE = re.compile(r"^(?P<student>.+?)_(?P<id>\d+)_assignsubmission_[a-z]+_?(?P<name>(?<=_).+\.(?:ipynb|zip))?$", re.IGNORECASE)
BLACKBOARD = re.compile(r"^.+_(?P<student>[^_]+)_attempt_(?P<when>\d{4}(?:-\d\d){5})(?:_(?P<name>.+)|\.txt)$", re.IGNORECASE)
BRIGHTSPACE = re.compile(r"^(?P<id>\d+-\d+) - (?P<student>.+?) - (?P<when>\D{3,9} \d{1,2}, \d{4} \d{3,4} [AP]M)$", re.IGNORECASE)
ILIAS = re.compile(r"^(?P<last>[^_]+)_(?P<first>[^_]+)_(?P<login>[^_]+)_(?P<id>\d{3,})$")
CHAPTER = re.compile(r"^(?P<student>.+?)[_\- ]+(?P<chapter>\d\d[a-z]?_[\w\-]+?)(?:[ _\-]*\(?\d+\)?)?$")


class Whose(NamedTuple):
    """Student, identity and label of a notebook, and when the system says that it was handed in.

    The identity is what the learning-management system calls the student: Canvas's ID, Moodle's "Participant 4711". ``back`` is what
    stands in front of ``feedback.html`` in an archive of feedback: the folder, or in Canvas the beginning of a file's name.
    """

    student: str
    identity: str
    label: str
    when: float | None = None
    back: str = ""


def whose(path: PurePosixPath) -> Whose:
    """Whose a notebook is, from its place: the folder's name, or the file's. Two spellings of one letter are one letter."""
    path = PurePosixPath(unicodedata.normalize("NFC", str(path)))
    first, label = path.parts[0], path.name
    if moodle := MOODLE.match(first):  # a folder for each student, or one for all
        back = f"{moodle['student'].replace('_', ' ')}_{moodle['id']}_assignsubmission_file/"
        named_so = moodle["name"] if len(path.parts) == 1 else None
        return Whose(moodle["student"], f"Participant {moodle['id']}", named_so or label, None, back)
    back = f"{first}/"
    if len(path.parts) > 1:
        if bright := BRIGHTSPACE.match(first):
            when = _time(bright["when"], "%b %d, %Y %I%M %p", "%B %d, %Y %I%M %p")
            return Whose(bright["student"], f"Brightspace {bright['id']}", label, when, back)
        if ilias := ILIAS.match(first):
            return Whose(f"{ilias['first']} {ilias['last']}", f"ILIAS {ilias['login']} {ilias['id']}", label, None, back)
        return Whose(first, "", label, None, back)
    if canvas := CANVAS.match(label):  # in a student's folder a name proves nothing
        back = label[: canvas.start("name")] if canvas["id"].isdigit() else ""
        return Whose(canvas["student"], canvas["id"], canvas["name"], None, back)
    if board := BLACKBOARD.match(label):
        return Whose(board["student"], "", board["name"] or label, _time(board["when"], "%Y-%m-%d-%H-%M-%S"))
    stem = label[: -len(path.suffix)] if path.suffix else label
    chapter = re.match(rf"^(?P<chapter>{_chapters()})[_\- ]+(?P<student>(?!\(?\d+\)?$).+)$", stem)
    flat = chapter or CHAPTER.match(stem)
    return Whose(flat["student"], "", f"{flat['chapter']}.ipynb") if flat else Whose(named(stem), "", label)


def given_by_a_system(path: PurePosixPath) -> bool:
    """Whether a name inside a zip file has the form that a learning-management system gives."""
    parts = any(pattern.match(part) for part in path.parts for pattern in (MOODLE, BRIGHTSPACE))
    return parts or bool(CANVAS.match(path.name) or BLACKBOARD.match(path.name))


def named(stem: str) -> str:
    """The student of a file that lies alone: ``answers_Jane_Doe (1)`` is Jane Doe's export, downloaded a second time."""
    export = re.fullmatch(r"answers_(.+?)(?: ?\(\d+\))?", stem)
    return unicodedata.normalize("NFC", export[1].replace("_", " ") if export else stem)


@cache
def _chapters() -> str:
    """The names of the course's notebooks, as a pattern."""
    return "|".join(sorted({re.escape(path.stem) for path in (ROOT / "chapters").rglob("[0-9]*.ipynb")}, key=len, reverse=True)) or "(?!)"


def _time(text: str, *forms: str) -> float | None:
    """A time as a system writes it, in the time of this machine."""
    for form in forms:
        try:
            return dt.datetime.strptime(text, form).timestamp()
        except (ValueError, OverflowError):
            continue
    return None
