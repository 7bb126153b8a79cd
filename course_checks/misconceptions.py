"""An exercise's page of mistakes, and the wrong answers that the engine makes from it.

A page is Markdown beside the exercise's file. Each entry names a misconception, says what it changes in the right answer, and ends with
the hint that leads out of it::

    ## not scaled
    - return query @ key.mT / math.sqrt(width)
    + return query @ key.mT
    The products are right, their size is not: without the division the scores grow with the width of the vectors.

Lines with ``-`` are replaced by those with ``+`` below them; they are whole lines and must stand exactly once in the right answer. How far
they are indented does not matter, only how they are indented among each other. A blank line, or the next ``-``, begins another edit. A
mistake that is clearer as a whole stands as code in a fence, under the right answer's name. For a prediction, each ``+`` line is an entry
``"key": value`` that is answered otherwise. ``<!-- untouched -->`` marks the code that a find-the-bug exercise hands out.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

UNTOUCHED = "<!-- untouched -->"


class PageError(ValueError):
    """A page of mistakes that does not fit its exercise."""


@dataclass(frozen=True)
class Misconception:
    """A named wrong answer: what it changes in the right one, and the hint that mends it.

    ``name`` is the misconception in two to six words; ``hint`` one to three sentences without the code. ``edits`` are pairs of lines to
    replace and lines to put there; ``whole`` is code that takes the place of the right answer. ``untouched`` marks the stub of a
    find-the-bug exercise, which counts as "not attempted".
    """

    name: str
    hint: str
    edits: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    whole: str = ""
    untouched: bool = False
    make: Callable[[Misconception], Any] | None = None  # of the exercise: from this entry to the wrong answer

    @cached_property
    def answer(self) -> Any:
        """The wrong answer, ready to be run. PageError where an edit does not fit."""
        if self.make is None:
            raise PageError(f"{self.name}: belongs to no exercise")
        return self.make(self)


def read_page(text: str, make: Callable[[Misconception], Any] | None = None) -> tuple[Misconception, ...]:
    """The entries of a page of mistakes, in its order. PageError for an entry without a name, a change or a hint, or a name used twice."""
    head, *parts = re.split(r"(?m)^## +", text.replace("\r\n", "\n"))
    found = tuple(_entry(part, make) for part in parts)
    names = [entry.name for entry in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise PageError(f"two misconceptions share a name: {', '.join(sorted(twice))}")
    return found


def _entry(part: str, make: Callable[[Misconception], Any] | None) -> Misconception:
    name, _, body = part.partition("\n")
    untouched, body = UNTOUCHED in body, body.replace(UNTOUCHED, "")
    fence = re.search(r"(?ms)^```python\n(.*?)^```\n", body)
    whole = fence.group(1) if fence else ""
    if fence:
        body = body[: fence.start()] + body[fence.end() :]
    edits, hint, state = [], [], " "
    for line in body.splitlines():
        sign = line[:1] if line[:2] in ("- ", "+ ", "-", "+") and not hint else " "
        if sign == " ":
            hint += [line.strip()] if line.strip() else []
        else:
            if not edits or state == " " or (sign, state) == ("-", "+"):
                edits.append(([], []))
            edits[-1][sign == "+"].append(line[2:].rstrip())
        state = sign
    if not name.strip() or not hint or not (edits or whole):
        raise PageError(f"the entry {name.strip()!r} needs a name, a change and a hint")
    pairs = tuple((tuple(old), tuple(new)) for old, new in edits)
    return Misconception(name.strip(), " ".join(hint), pairs, whole, untouched, make)


def source_of(*definitions: Any) -> str:
    """The text of functions and classes, one behind the other, as an edit sees it."""
    return "\n\n".join(inspect.getsource(definition) for definition in definitions)


def edited(text: str, edits: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]) -> str:
    """``text`` with whole lines replaced. PageError where the lines to replace do not stand exactly once."""
    for old, new in edits:
        lines = text.split("\n")
        wanted = _outdented(old)
        places = [i for i in range(len(lines) - len(old) + 1) if old and _outdented(lines[i : i + len(old)]) == wanted]
        if len(places) != 1:
            raise PageError(f"stands {len(places)} times in the right answer, not once: {' / '.join(old) or '(no line with a minus)'}")
        start = places[0]
        shift = _indent(lines[start]) - _indent(old[0])
        put = [" " * (shift + _indent(line)) + line.lstrip() if line.strip() else "" for line in new]
        text = "\n".join([*lines[:start], *put, *lines[start + len(old) :]])
    return text


def wrong_code(misconception: Misconception, right: Any, helpers: tuple[Any, ...] = ()) -> Any:
    """The function or class that makes the mistake: the right answer's text, edited, and run beside what its module holds."""
    module = sys.modules[right.__module__]
    try:
        code = misconception.whole or edited(source_of(*helpers, right), misconception.edits)
        space = dict(vars(module))
        exec(compile(code, f"<{misconception.name}>", "exec", dont_inherit=True), space)
    except (PageError, SyntaxError) as error:
        raise PageError(f"{module.__name__}, {misconception.name!r}: {error}") from None
    return space[right.__name__]


def wrong_words(misconception: Misconception, right: Any, module: str) -> Any:
    """The prediction with other entries; code of its own sees the right one as ``right``."""
    lines = ",\n".join(line.rstrip(",") for _, new in misconception.edits for line in new)
    space = {**vars(sys.modules[module]), "right": right}
    try:
        changed = eval(misconception.whole or f"{{\n{lines}\n}}", space)
    except SyntaxError as error:
        raise PageError(f"{module}, {misconception.name!r}: {error}") from None
    if not isinstance(right, dict) or misconception.whole:
        return changed
    if unknown := changed.keys() - right.keys():
        raise PageError(f"{module}, {misconception.name!r}: the prediction has no entry {', '.join(map(repr, unknown))}")
    return {**right, **changed}


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _outdented(lines: tuple[str, ...] | list[str]) -> list[str]:
    """Lines without the indentation of the first one, and nothing behind their ends; compared, not run."""
    first = _indent(lines[0]) if lines else 0
    return [" " * max(0, _indent(line) - first) + line.strip() for line in lines]
