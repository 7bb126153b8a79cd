"""The list of a class, a CSV file: who should have handed in, and who has until when."""

from __future__ import annotations

import csv
import datetime as dt
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

NAME, FIRST, LAST = ("student", "name", "full name"), ("first name",), ("last name", "surname")
NUMBER = ("id", "identifier", "login", "username", "sis user id", "sis login id", "email", "email address")
UNTIL = ("deadline", "extension")
CANVAS = ("student", "id", "sis user id", "sis login id", "section")  # the first columns of Canvas's own export
NOBODY = ("Points Possible", "Student, Test")  # other lines of that


@dataclass(frozen=True)
class Entry:
    """One student of the list; ``numbers`` are whatever else a system may call them. Where the list is Canvas's export, the first
    columns of the line in ``canvas``; where it is Moodle's grading worksheet, "Participant 4711" in ``moodle``."""

    name: str
    numbers: tuple[str, ...] = ()
    deadline: float | None = None
    canvas: tuple[str, ...] = ()
    moodle: str = ""


@dataclass(frozen=True)
class Roster:
    """The list of a class; without a file nobody is on it."""

    entries: tuple[Entry, ...] = ()
    _by: dict[str, Entry] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: list[Entry]) -> Roster:
        """A list to look students up in: by number; by name, also with the last name first; by the login in an e-mail address; by the
        name without accents. Of these the first that finds somebody, and what two of them share says nothing."""
        turned = [(" ".join(reversed(entry.name.split(", ", 1))), entry) for entry in entries]
        logins = [(number.partition("@")[0], entry) for entry in entries for number in entry.numbers if "@" in number]
        found = _unique((bare(name), entry) for name, entry in turned) | _unique((plain(login), entry) for login, entry in logins)
        found |= _unique((plain(name), entry) for name, entry in {*turned, *((entry.name, entry) for entry in entries)})
        found |= {plain(number): entry for entry in entries for number in entry.numbers}
        return cls(tuple(entries), found)

    def find(self, name: str, identity: str) -> Entry | None:
        """The entry of a student, by the number if the list has it, else by the name."""
        return next((self._by[key] for key in (plain(identity), plain(name), bare(name)) if key in self._by), None)


def _unique(pairs: Iterable[tuple[str, Entry]]) -> dict[str, Entry]:
    """What only one of them is called."""
    known = list(pairs)
    many = Counter(key for key, _ in known)
    return {key: entry for key, entry in known if key and many[key] == 1}


def plain(text: str) -> str:
    """A name as it is compared: the same in upper and lower case, and however its letters are put together."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def bare(text: str) -> str:
    """A name without the accents that many leave out."""
    return "".join(c for c in unicodedata.normalize("NFKD", plain(text)) if not unicodedata.combining(c))


def rows_of(path: str | Path, needed: tuple[str, ...] = ()) -> Iterator[tuple[int, dict[str, str]]]:
    """The lines of a CSV file with their numbers, by the names of their columns in lower case. ValueError that names the file where it
    cannot be read, or has not the columns that are ``needed``."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        separator = ";" if text.partition("\n")[0].count(";") > text.partition("\n")[0].count(",") else ","
        reader = csv.DictReader(text.splitlines(), delimiter=separator)
        columns = {(name or "").strip().casefold() for name in reader.fieldnames or ()}
        if missing := [name for name in needed if name not in columns]:
            raise ValueError(f"the first line has no column {missing[0]}; it names the columns: {', '.join(needed)}")
        for row in reader:
            yield reader.line_num, {(key or "").strip().casefold(): value.strip() for key, value in row.items() if isinstance(value, str)}
    except (OSError, ValueError, csv.Error) as error:
        raise ValueError(f"{path}: {error}") from None


def load_roster(path: str | Path | None) -> Roster:
    """Read the list; ValueError that names the file, the line and what is wrong with it."""
    if path is None:
        return Roster()
    entries = [entry for number, row in rows_of(path) if (entry := _entry(f"{path}: line {number}", row)) is not None]
    if not entries:
        raise ValueError(f"{path}: nobody is on this list. Its first line names the columns: student, and if you like id and deadline")
    return Roster.of(entries)


def _entry(where: str, row: dict[str, str]) -> Entry | None:
    name = next((row[key] for key in NAME if row.get(key)), "")
    name = name or " ".join(row[key] for key in (*FIRST, *LAST) if row.get(key))
    if not name or name in NOBODY:
        return None
    until = next((row[key] for key in UNTIL if row.get(key)), "")
    try:
        deadline = dt.datetime.fromisoformat(until).timestamp() if until else None
    except ValueError:
        raise ValueError(f"{where}: {until!r} is no date like 2027-02-07T23:59:00+00:00") from None
    exported = {"student", "id", "section"} <= set(row) and row["id"].isdigit()
    canvas = tuple(row.get(key, "") for key in CANVAS) if exported else ()
    moodle = row.get("identifier", "") if row.get("identifier", "").startswith("Participant ") else ""
    return Entry(name, tuple(row[key] for key in NUMBER if row.get(key)), deadline, canvas, moodle)
