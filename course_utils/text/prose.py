"""English prose that every Python installation carries: the language reference and the docstrings of the standard library.

Both differ a little between versions of Python; so do the numbers measured on them. Program text, tables and headings are left out.
"""

from __future__ import annotations

import ast
import re
import sysconfig
import textwrap
from functools import cache
from hashlib import sha256
from pathlib import Path

_NO_PROSE = ("test", "encodings", "idlelib", "lib2to3", "turtledemo", "site-packages", "dist-packages")
_LISTED = re.compile(r"(?:[*\-•]|\d+\.)\s+")
_WRAPPED = re.compile(r"\s+")
_MARKS = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "`": None, "*": None, "—": "-", "–": "-", "…": "..."})
_END = re.compile(r"(?<=[a-z\d\"')][.?!]) (?=[A-Z\"])|(?<=\.\") (?=[A-Z])")
_ABBREVIATED = re.compile(r"\b(e\.g|i\.e|etc|vs|cf|Dr|No|St)\.$")


@cache
def reference() -> tuple[tuple[str, ...], ...]:
    """The language reference, a tuple of paragraphs for each topic (about 200,000 characters)."""
    from pydoc_data.topics import topics

    seen: set[str] = set()
    return tuple(kept for name in sorted(topics) if (kept := _paragraphs(topics[name], seen)))


@cache
def docstrings() -> tuple[tuple[str, ...], ...]:
    """The docstrings of the standard library, a tuple of paragraphs for each module; empty where its source is not installed."""
    root, seen, found = Path(sysconfig.get_paths()["stdlib"]), set(), []
    for path in sorted(root.glob("*.py")) + sorted(root.glob("[!_]*/*.py")):
        if path.parent.name in _NO_PROSE:
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError, OSError):
            continue
        nodes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        texts = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, nodes)]
        if kept := _paragraphs("\n\n".join(texts), seen):
            found.append(kept)
    return tuple(found)


def training_and_held_out(with_docstrings: bool = False) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """The pages to train on and those to test on; the checksum of its first paragraph holds every eighth page back."""
    kept: tuple[list[tuple[str, ...]], list[tuple[str, ...]]] = ([], [])
    for page in [*reference(), *(docstrings() if with_docstrings else ())]:
        kept[sha256(page[0].encode()).digest()[0] % 8 == 0].append(page)
    return kept


def sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph, cut behind ``.``, ``?`` and ``!`` where a capital letter follows."""
    found: list[str] = []
    for piece in _END.split(paragraph):
        if found and _ABBREVIATED.search(found[-1]):
            found[-1] += " " + piece
        else:
            found.append(piece)
    return found


def _paragraphs(text: str, seen: set[str]) -> tuple[str, ...]:
    """Paragraphs of prose that were not ``seen`` before: evenly indented, mostly letters, ending as sentences do."""
    kept = []
    for block in re.split(r"\n\s*\n", text):
        block = textwrap.dedent(block.strip("\n"))
        listed = _LISTED.match(block)
        if not listed and re.search(r"\n\s", block):  # uneven: program text, a table, a definition
            continue
        paragraph = _WRAPPED.sub(" ", block[listed.end() if listed else 0:].translate(_MARKS)).strip()
        paragraph = re.sub(r"(\w)- (?=\w)", r"\1-", paragraph)  # a word that was broken at the end of a line
        letters = sum(c.isalpha() or c == " " for c in paragraph)
        if len(paragraph.split()) < 6 or letters < 0.86 * len(paragraph) or paragraph[-1] not in ".:?!" or "=" in paragraph:
            continue
        if not paragraph.isascii() or not paragraph[0].isupper() and paragraph[0] != '"' or paragraph in seen:
            continue
        seen.add(paragraph)
        kept.append(paragraph)
    return tuple(kept)
