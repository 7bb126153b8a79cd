"""The machine drawn: the Transformer of chapter 00, in colour where the parts are the reader's own, grey where they are not yet."""

from __future__ import annotations

import html
import re
from collections.abc import Set
from pathlib import Path

from .whole import course_parts, name_of

_PART = re.compile(r"\{(\d\w+\.\d+)\}")


def _filled(file: str, drawn: dict[bool, str], own: Set[str]) -> str:
    """A drawing whose places, such as ``{04.4}``, say whose the part is."""
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    return _PART.sub(lambda place: drawn[place[1] in own].format(place[1]), text)


def sentence(own: Set[str], passed: Set[str]) -> str:
    """How much of the machine is the reader's own, which part comes next, and which have passed but are not kept."""
    parts = course_parts()
    yours, rest = [part for part in parts if part in own], [part for part in parts if part not in own]
    if not rest:
        return f"All {len(parts)} parts of the machine are yours. Let it train and write: python course.py mine"
    text = f"{len(yours)} of {len(parts)} parts of the machine are yours; "
    text += f"the next one is {rest[0]} {name_of(parts[rest[0]])}."
    lost = [part for part in rest if part in passed]
    return text + (f" Passed, but not kept: {', '.join(lost)}; run their checks again to see why." if lost else "")


def as_text(own: Set[str]) -> str:
    """The machine in a terminal: ■ is the reader's own, □ the course's version."""
    return _filled("machine.txt", {True: "■ {}", False: "□ {}"}, own).rstrip() + "\n  ■ yours   □ the course's version, so far"


def as_html(own: Set[str]) -> str:
    """The machine as a drawing for light and dark grounds, legible at a width of 400 pixels, with words for those who cannot see it."""
    parts = course_parts()
    named = ", ".join(f"{part} {name_of(parts[part])}" for part in parts if part in own) or "none yet"
    alt = html.escape(f"The Transformer, encoder and decoder, and a GPT below. Parts in colour, your own: {named}.", quote=True)
    return _filled("machine.svg", {True: "own", False: "open"}, own).replace("{{ALT}}", alt)
