"""The list of a class, a CSV file: who should have handed in, and who has until when."""

from __future__ import annotations

import csv
import datetime as dt
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

NAME, FIRST, LAST = ("student", "name", "full name"), ("first name",), ("last name", "surname")
NUMBER = ("id", "identifier", "login", "username", "sis user id", "sis login id", "email", "email address")
UNTIL = ("deadline", "extension")


@dataclass(frozen=True)
class Entry:
    """One student of the list; ``numbers`` are whatever else a system may call them."""

    name: str
    numbers: tuple[str, ...] = ()
    deadline: float | None = None


@dataclass(frozen=True)
class Roster:
    """The list of a class; without a file nobody is on it."""

    entries: tuple[Entry, ...] = ()
    _by: dict[str, Entry] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: list[Entry]) -> Roster:
        """A list to look students up in; a name that two of them have says nothing."""
        names = Counter(plain(entry.name) for entry in entries)
        found = {plain(entry.name): entry for entry in entries if names[plain(entry.name)] == 1}
        found |= {plain(number): entry for entry in entries for number in entry.numbers}
        return cls(tuple(entries), found)

    def find(self, name: str, identity: str) -> Entry | None:
        """The entry of a student, by the number if the list has it, else by the name."""
        return self._by.get(plain(identity)) or self._by.get(plain(name)) if identity else self._by.get(plain(name))


def plain(text: str) -> str:
    """A name as it is compared: the same in upper and lower case, and however its letters are put together."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def load_roster(path: str | Path | None) -> Roster:
    """Read the list; ValueError that names the file, the line and what is wrong with it."""
    if path is None:
        return Roster()
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        separator = ";" if text.partition("\n")[0].count(";") > text.partition("\n")[0].count(",") else ","
        rows = [
            {(key or "").strip().casefold(): (value or "").strip() for key, value in row.items() if isinstance(value, str)}
            for row in csv.DictReader(text.splitlines(), delimiter=separator)
        ]
        entries = [entry for number, row in enumerate(rows, 2) if (entry := _entry(number, row)) is not None]
    except (OSError, ValueError, csv.Error) as error:
        raise ValueError(f"{path}: {error}") from None
    if not entries:
        raise ValueError(f"{path}: nobody is on this list. Its first line names the columns: student, and if you like id and deadline")
    return Roster.of(entries)


def _entry(number: int, row: dict[str, str]) -> Entry | None:
    name = next((row[key] for key in NAME if row.get(key)), "")
    name = name or " ".join(row[key] for key in (*FIRST, *LAST) if row.get(key))
    if not name or name == "Points Possible":  # Canvas's second line
        return None
    until = next((row[key] for key in UNTIL if row.get(key)), "")
    try:
        deadline = dt.datetime.fromisoformat(until).timestamp() if until else None
    except ValueError:
        raise ValueError(f"line {number}: {until!r} is no date like 2027-02-07T23:59:00+00:00") from None
    return Entry(name, tuple(row[key] for key in NUMBER if row.get(key)), deadline)
