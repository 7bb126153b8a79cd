"""Write ``course_utils/text/python_prose.txt``: the prose that Python itself carries, frozen.

    .venv/bin/python -m course_tools.python_prose        (Windows: .venv\\Scripts\\python)

The language reference and the docstrings of the standard library, of the Python that runs this. Both differ between versions,
so every number that the chapters measure on them would differ too: the file was written once, by Python 3.11.7, and whoever
writes it again trains the stored models again. No paragraph occurs twice. Program text, tables and headings are left out.
"""

from __future__ import annotations

import ast
import platform
import re
import sysconfig
import textwrap
from collections.abc import Iterator
from pathlib import Path
from pydoc_data.topics import topics

from course_utils.text import prose

_NO_PROSE = ("test", "encodings", "idlelib", "lib2to3", "turtledemo", "site-packages", "dist-packages")
_LISTED = re.compile(r"(?:[*\-•]|\d+\.)\s+")
_WRAPPED = re.compile(r"\s+")
_MARKS = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "`": None, "*": None, "—": "-", "–": "-", "…": "..."})


def modules(root: Path) -> Iterator[tuple[str, str]]:
    """Each module of the standard library in ``root`` and all its docstrings."""
    nodes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for path in sorted(root.glob("*.py")) + sorted(root.glob("[!_]*/*.py")):
        if path.parent.name not in _NO_PROSE:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            texts = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, nodes)]
            yield path.relative_to(root).with_suffix("").as_posix().replace("/", "."), "\n\n".join(texts)


def paragraphs(text: str, seen: set[str]) -> list[str]:
    """Paragraphs of prose that were not ``seen`` before: evenly indented, mostly letters, ending as sentences do."""
    kept = []
    for block in re.split(r"\n\s*\n", text):
        block = textwrap.dedent(block.strip("\n"))
        listed = _LISTED.match(block)
        if not listed and re.search(r"\n\s", block):  # uneven: program text, a table, a definition
            continue
        paragraph = _WRAPPED.sub(" ", block[listed.end() if listed else 0 :].translate(_MARKS)).strip()
        paragraph = re.sub(r"(\w)- (?=\w)", r"\1-", paragraph)  # a word that was broken at the end of a line
        letters = sum(c.isalpha() or c == " " for c in paragraph)
        if len(paragraph.split()) < 6 or letters < 0.86 * len(paragraph) or paragraph[-1] not in ".:?!" or "=" in paragraph:
            continue
        if not paragraph.isascii() or not paragraph[0].isupper() and paragraph[0] != '"' or paragraph in seen:
            continue
        seen.add(paragraph)
        kept.append(paragraph)
    return kept


def written() -> str:
    """The whole file: a head, then a line for each page, followed by its paragraphs, a line each."""
    seen: set[str] = set()
    pages = [("topic", name, paragraphs(topics[name], seen)) for name in sorted(topics)]
    pages += [("module", name, paragraphs(text, seen)) for name, text in modules(Path(sysconfig.get_paths()["stdlib"]))]
    lines = [
        f"# Prose of Python {platform.python_version()}: the language reference and the docstrings of the standard library, cut",
        "# into paragraphs, without program text, tables and repetitions, by course_tools/python_prose.py. Copyright (c) the Python",
        "# Software Foundation and others; licence and notices: LICENSE-python.txt beside this file.",
    ]
    for kind, name, page in pages:
        if page:
            lines += [f"# {kind} {name}", *page]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    prose.FILE.write_text(written(), encoding="utf-8", newline="\n")
    print(f"{prose.FILE.name}: {len(prose.reference())} topics, {len(prose.docstrings())} modules")
