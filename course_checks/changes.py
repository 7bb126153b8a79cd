"""Changes of a text, as lines with ``-`` and ``+``: those of a page of mistakes, and those that break a learner's claim."""

import re
from dataclasses import dataclass

Edit = tuple[tuple[str, ...], tuple[str, ...]]  # lines to replace, and lines to put there


class PageError(ValueError):
    """A page of mistakes that does not fit its exercise, or a change that does not fit its text."""


@dataclass(frozen=True)
class Change:
    """What an entry of a page does to a text: edits, or the whole of a new one; and the other lines of the entry, in order."""

    edits: tuple[Edit, ...] = ()
    whole: str = ""
    others: tuple[str, ...] = ()

    def made(self, text: str) -> str:
        """The text with the change. PageError where an edit does not fit."""
        return self.whole or edited(text, self.edits)


def read_change(body: str) -> Change:
    """The ``-`` and ``+`` lines of an entry, or its fence; the first line that is neither ends them."""
    fence = re.search(r"(?ms)^```python\n(.*?)^```$", body)
    if fence:
        outside = body[: fence.start()] + body[fence.end() :]
        return Change(whole=fence[1], others=tuple(line.strip() for line in outside.splitlines() if line.strip()))
    pairs: list[tuple[list[str], list[str]]] = []
    others: list[str] = []
    before = " "
    for line in body.splitlines():
        sign = line[0] if line[:2] in ("- ", "+ ", "-", "+") and not others else " "
        if sign == " ":
            others += [line.strip()] if line.strip() else []
        else:
            if before == " " or (sign, before) == ("-", "+"):
                pairs.append(([], []))
            pairs[-1][sign == "+"].append(line[2:].rstrip())
        before = sign
    return Change(tuple((tuple(old), tuple(new)) for old, new in pairs), others=tuple(others))


def edited(text: str, edits: tuple[Edit, ...]) -> str:
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


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _outdented(lines: tuple[str, ...] | list[str]) -> list[str]:
    """Lines without the indentation of the first one, and nothing behind their ends; compared, not run."""
    first = _indent(lines[0]) if lines else 0
    return [" " * max(0, _indent(line) - first) + line.strip() for line in lines]
