"""The clock's figures of the course's chapters, counted once in a process."""

from __future__ import annotations

import os
from functools import cache

import nbformat
import pytest
from nbformat import NotebookNode

from course_tools.authoring.chapter import CHAPTER, SOLUTION, Chapter
from course_tools.authoring.clock import Figures, figures
from course_tools.authoring.ledger import find_texts
from course_tools.authoring.source import read_chapter
from course_tools.authoring.stored import notebook_path
from course_utils.paths import ROOT

TEXTS = find_texts(ROOT)  # "03" is a chapter, "03-deeper" its companion
ONLY = [number for number in os.environ.get("COURSE_CHAPTERS", "").split(",") if number]
CHAPTERS = [label for label in TEXTS if "-" not in label]
COMPANIONS = [label for label in TEXTS if "-" in label]

each_chapter = pytest.mark.parametrize("number", [number for number in CHAPTERS if not ONLY or number in ONLY])
each_text = pytest.mark.parametrize("label", [label for label in TEXTS if not ONLY or label.split("-")[0] in ONLY])


@cache
def chapter_of(label: str) -> Chapter:
    return read_chapter(TEXTS[label])


@cache
def notebook_of(label: str, kind: str) -> NotebookNode:
    path = notebook_path(chapter_of(label), kind, ROOT)
    if not path.exists():
        pytest.fail(f"{path.relative_to(ROOT)} is missing; build {label}")
    return nbformat.read(path, as_version=4)


@cache
def counted(label: str) -> Figures:
    return figures(chapter_of(label), notebook_of(label, SOLUTION))


def blank_of(label: str) -> NotebookNode:
    return notebook_of(label, CHAPTER)
