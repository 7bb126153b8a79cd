"""English prose that Python itself carries: the language reference and the docstrings of the standard library, frozen.

Both differ between versions of Python, and so would every number measured on them: ``python_prose.txt`` is one copy, of Python
3.11.7, written by the tool ``python_prose.py``. No paragraph in it occurs twice.
"""

import re
from functools import cache
from hashlib import sha256
from pathlib import Path

FILE = Path(__file__).with_name("python_prose.txt")
_PAGE = re.compile(r"# (topic|module) \S+")
_END = re.compile(r"(?<=[a-z\d\"')][.?!]) (?=[A-Z\"])|(?<=\.\") (?=[A-Z])")
_ABBREVIATED = re.compile(r"\b(e\.g|i\.e|etc|vs|cf|Dr|No|St)\.$")


@cache
def _pages(kind: str) -> tuple[tuple[str, ...], ...]:
    """The pages that are a "topic" or a "module", each a tuple of paragraphs."""
    found: dict[str, list[list[str]]] = {"topic": [], "module": []}
    page: list[str] = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if head := _PAGE.fullmatch(line):
            page = []
            found[head[1]].append(page)
        elif not line.startswith("# "):
            page.append(line)
    return tuple(map(tuple, found[kind]))


def reference() -> tuple[tuple[str, ...], ...]:
    """The language reference, a tuple of paragraphs for each topic (66 topics, about 219,000 characters)."""
    return _pages("topic")


def docstrings() -> tuple[tuple[str, ...], ...]:
    """The docstrings of the standard library, a tuple of paragraphs for each module (315 modules, about 887,000 characters)."""
    return _pages("module")


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
