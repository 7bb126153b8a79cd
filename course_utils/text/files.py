"""Writing a file so that a crash in the middle costs nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside ``path`` to write to: it takes the place of ``path`` when all went well.

    Otherwise nothing changes. Missing folders are made. The name holds the number of the process, so that two
    may write one file; the later one wins.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        yield beside
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8, as a whole or not at all."""
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8")
