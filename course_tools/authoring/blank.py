"""Solved and blank form of an answer cell.

``### BEGIN SOLUTION`` and ``### END SOLUTION`` enclose the answer. The learner sees
``raise NotImplementedError`` instead, or what follows an optional ``### STUB`` line inside.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .errors import SourceError

BEGIN, STUB, END = "### BEGIN SOLUTION", "### STUB", "### END SOLUTION"
_ALLOWED_AFTER = {BEGIN: ("outside",), STUB: ("answer",), END: ("answer", "stub")}

Line = tuple[int, str]  # (line number in the source, text)


@dataclass
class Variants:
    """The lines of a cell in both notebooks, and those of the answer alone."""

    solved: list[Line] = field(default_factory=list)
    blank: list[Line] = field(default_factory=list)
    answer: list[str] = field(default_factory=list)


def split_variants(name: str, lines: list[Line], is_answer: bool) -> Variants:
    """Sort the lines of a cell; :class:`SourceError` where the marks do not fit."""
    result = Variants()
    state, opened, indent, regions = "outside", 0, "", 0
    for number, text in lines:
        word = text.strip()
        if word not in _ALLOWED_AFTER:
            if state != "stub":
                result.solved.append((number, text))
            if state != "answer":
                result.blank.append((number, text))
            if state == "answer":
                result.answer.append(text)
            continue
        if not is_answer:
            raise SourceError(name, number, f"{word!r} outside an answer cell")
        if state not in _ALLOWED_AFTER[word]:
            message = f"{word!r} does not belong here (BEGIN, optional STUB, END)"
            raise SourceError(name, number, message)
        if word == BEGIN:
            indent = text[: len(text) - len(text.lstrip())]
            state, opened, regions = "answer", number, regions + 1
        elif word == STUB:
            state = "stub"
        else:
            if state == "answer":
                result.blank.append((opened, _not_implemented(name, opened, indent)))
            state = "outside"
    if state != "outside":
        raise SourceError(name, opened, f"{BEGIN!r} without {END!r}")
    if is_answer and not regions:
        raise SourceError(name, lines[0][0], f"an answer cell needs {BEGIN!r} … {END!r}")
    return result


def _not_implemented(name: str, line: int, indent: str) -> str:
    if not indent:
        raise SourceError(
            name,
            line,
            "this answer is not inside a function, so the blank notebook would stop here; "
            f"give it a {STUB!r} with what the learner starts from",
        )
    return f"{indent}raise NotImplementedError"
