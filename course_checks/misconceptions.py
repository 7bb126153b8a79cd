"""An exercise's page for people, and the wrong answers that the engine makes from it.

A page is Markdown beside the exercise's file. Its head says what the exercise is; then each entry names a misconception, says what it
changes in the right answer, and ends with the hint that leads out of it::

    # 03.1 Scores

    `attention_scores(query, key) -> (batch, query, key)`

    ★ 5 minutes; points: values 2, refusal 1

    Whoever has predicted rightly may read here why that is right. Not every page has such lines.

    ## not scaled
    - return query @ key.mT / math.sqrt(width)
    + return query @ key.mT
    The products are right, their size is not: without the division the scores grow with the width of the vectors.

Lines with ``-`` are replaced by those with ``+`` below them; they are whole lines and must stand exactly once in the right answer. How far
they are indented does not matter, only how they are indented among each other. A blank line, or the next ``-``, begins another edit. A
mistake that is clearer as a whole stands as code in a fence, under the right answer's name. For a prediction, each ``+`` line is an entry
``"key": value`` that is answered otherwise. ``<!-- untouched -->`` marks the code that a find-the-bug exercise hands out.
"""

import copy
import functools
import inspect
import itertools
import linecache
import math
import random
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .changes import Change, PageError, read_change
from .heads import Head, read_head

UNTOUCHED = "<!-- untouched -->"
# What an edit may use beside the names of its exercise's file.
COMMON = {"copy": copy, "functools": functools, "itertools": itertools, "math": math, "random": random, "re": re, "np": np,
          "torch": torch, "Tensor": Tensor, "nn": nn, "F": F}  # fmt: skip


@dataclass(frozen=True)
class Misconception:
    """A named wrong answer: what it changes in the right one, and the hint that mends it.

    ``name`` is the misconception in two to six words; ``hint`` one to three sentences without the code. ``untouched`` marks the stub of
    a find-the-bug exercise, which counts as "not attempted".
    """

    name: str
    hint: str
    change: Change
    untouched: bool = False
    make: Callable[["Misconception"], Any] | None = None  # of the exercise: from this entry to the wrong answer

    @cached_property
    def answer(self) -> Any:
        """The wrong answer, ready to be run. PageError where an edit does not fit."""
        if self.make is None:
            raise PageError(f"{self.name}: belongs to no exercise")
        return self.make(self)


@dataclass(frozen=True)
class Page(Head):
    """What the page of an exercise says."""

    misconceptions: tuple[Misconception, ...]


def read_page(text: str, make: Callable[[Misconception], Any] | None = None) -> Page:
    """Read the page of an exercise. PageError for a head in another form, an entry without a name, a change or a hint, or a name twice."""
    head, *parts = re.split(r"(?m)^## +", text.replace("\r\n", "\n"))
    found = tuple(_entry(part, make) for part in parts)
    names = [entry.name for entry in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise PageError(f"two misconceptions share a name: {', '.join(sorted(twice))}")
    return Page(**vars(read_head(head)), misconceptions=found)


def _entry(part: str, make: Callable[[Misconception], Any] | None) -> Misconception:
    name, _, body = part.partition("\n")
    change = read_change(body.replace(UNTOUCHED, ""))
    if not name.strip() or not change.others or not (change.edits or change.whole):
        raise PageError(f"the entry {name.strip()!r} needs a name, a change and a hint")
    return Misconception(name.strip(), " ".join(change.others), change, UNTOUCHED in body, make)


def source_of(*definitions: Any) -> str:
    """The text of functions and classes, one behind the other, as an edit sees it."""
    return "\n\n".join(inspect.getsource(definition) for definition in definitions)


def wrong_code(misconception: Misconception, right: Any, helpers: tuple[Any, ...] = ()) -> Any:
    """The function or class that makes the mistake: the right answer's text, edited, and run beside what its module holds."""
    module = sys.modules[right.__module__]
    try:
        code = misconception.change.made(source_of(*helpers, right))
        space = COMMON | vars(module)
        file = f"<{right.__name__}, {misconception.name}>"
        linecache.cache[file] = (len(code), None, code.splitlines(True), file)  # its text can be found, as that of a cell
        exec(compile(code, file, "exec", dont_inherit=True), space)
    except (PageError, SyntaxError) as error:
        raise PageError(f"{module.__name__}, {misconception.name!r}: {error}") from None
    return space[right.__name__]


def wrong_words(misconception: Misconception, right: Any, module: str) -> Any:
    """The prediction with other entries; code of its own sees the right one as ``right``."""
    change = misconception.change
    lines = ",\n".join(line.rstrip(",") for _, new in change.edits for line in new)
    space = {**COMMON, **vars(sys.modules[module]), "right": right}
    try:
        changed = eval(change.whole or f"{{\n{lines}\n}}", space)
    except SyntaxError as error:
        raise PageError(f"{module}, {misconception.name!r}: {error}") from None
    if not isinstance(right, dict) or change.whole:
        return changed
    if unknown := changed.keys() - right.keys():
        raise PageError(f"{module}, {misconception.name!r}: the prediction has no entry {', '.join(map(repr, unknown))}")
    return {**right, **changed}
