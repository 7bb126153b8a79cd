"""Whether two pieces of code are the same but for comments, docstrings and layout. Runs on both sides of the sandbox."""

from __future__ import annotations

import dis
import hashlib
import types
from typing import Any

SMALLEST = 40  # instructions: shorter code is written alike by many


def likeness(thing: Any) -> str:
    """A digest of the instructions of a function or of a class's own methods; empty for what is too short to tell."""
    codes = [
        code
        for part in (vars(thing).values() if isinstance(thing, type) else (thing,))
        if isinstance(code := getattr(getattr(part, "__func__", part), "__code__", None), types.CodeType)
    ]
    words = [word for code in sorted(codes, key=lambda code: code.co_name) for word in _words(code)]
    return hashlib.sha256("\n".join(words).encode(errors="backslashreplace")).hexdigest() if len(words) >= SMALLEST else ""


def _words(code: types.CodeType) -> list[str]:
    """Every instruction with what it works on; those of functions inside it, too."""
    inner = [part for part in code.co_consts if isinstance(part, types.CodeType)]
    own = [f"{step.opname} {'code' if isinstance(step.argval, types.CodeType) else step.argval!r}" for step in dis.get_instructions(code)]
    return own + [word for part in inner for word in _words(part)]
