"""How much of one piece of code stands in another, whatever its comments, layout and local names. Runs on both sides of the sandbox."""

from __future__ import annotations

import dis
import types
import zlib
from collections import Counter
from typing import Any

TOGETHER = 3  # instructions that are compared as one
MOST = 5000  # of these that are kept of one answer
IDLE = {"RESUME", "NOP", "CACHE", "EXTENDED_ARG", "PRECALL", "MAKE_CELL", "COPY_FREE_VARS"}
LOCAL, JUMPS = {*dis.haslocal, *dis.hasfree}, {*dis.hasjrel, *dis.hasjabs}


def likeness(thing: Any) -> list[int]:
    """A number for every three instructions in a row, of a function or of a class's own methods."""
    found = []
    for part in vars(thing).values() if isinstance(thing, type) else (thing,):
        code = getattr(getattr(part, "__func__", part), "__code__", None)
        for words in _bodies(code) if isinstance(code, types.CodeType) else ():
            rows = ("\n".join(words[i : i + TOGETHER]) for i in range(len(words) - TOGETHER + 1))
            found += [zlib.crc32(row.encode(errors="backslashreplace")) for row in rows]
    return found[:MOST]


def share(own: list[int], theirs: list[int]) -> float:
    """How much of their code stands in one's own: what else stands there does not hide it."""
    return (Counter(own) & Counter(theirs)).total() / max(1, len(theirs))


def _bodies(code: types.CodeType) -> list[list[str]]:
    """The instructions of a body of code, and of each one inside it, with what they work on."""
    own = [f"{step.opname} {_argument(step)}" for step in dis.get_instructions(code) if step.opname not in IDLE]
    return [own, *(body for part in code.co_consts if isinstance(part, types.CodeType) for body in _bodies(part))]


def _argument(step: dis.Instruction) -> str:
    """What an instruction works on; nothing where a new line or another name would change it."""
    if step.opcode in LOCAL or step.opcode in JUMPS or isinstance(step.argval, types.CodeType):
        return ""
    return repr(step.argval)
