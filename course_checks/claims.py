"""A claim that a learner makes: run it as it stands, or with its change. Like ``observe``, it runs a learner's code.

A claim is a function without arguments. Its docstring says what is claimed, its assertions test that, and it returns the change that
should make them fail: lines with ``-`` that stand in it, and below them, with ``+``, the lines that take their place.
"""

import inspect
import random
import sys
import textwrap
import traceback
from collections.abc import Callable
from typing import Any

import torch

from .changes import PageError, edited, read_change

FILE = "<your claim, changed>"
Outcome = dict[str, str]  # "source", "change", and how it went: "problem", or what it "stopped" with, in which "line" of its own


def outcome(claim: Callable[[], Any], seed: int, changed: bool) -> Outcome:
    """What a claim does when the random numbers begin at ``seed``. Any exception but AssertionError of the claim as it stands goes on."""
    _begin(seed)
    try:
        change, stopped = claim(), False
    except AssertionError:
        change, stopped = "", True
    seen = {"source": _source(claim), "change": change if isinstance(change, str) else "", "problem": "", "stopped": "", "line": ""}
    if stopped:
        return {**seen, "stopped": "AssertionError"}
    return {**seen, **_with_change(claim, seen["source"], seen["change"], seed)} if changed else seen


def _with_change(claim: Callable[[], Any], source: str, change: str, seed: int) -> Outcome:
    """What the changed claim stops with, and in which line."""
    made = read_change(inspect.cleandoc(change))
    if made.whole or made.others or not made.edits or not all(old for old, _ in made.edits):
        return {"problem": "form"}
    try:
        text = changed_source(source, change)
        space = dict(claim.__globals__)  # type: ignore[attr-defined]
        exec(compile(text, FILE, "exec", dont_inherit=True), space)
    except PageError:
        return {"problem": "fit"}
    except SyntaxError:
        return {"problem": "syntax"}
    _begin(seed)
    try:
        space[claim.__name__]()
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return {"stopped": type(error).__name__[:100], "line": str(last.lineno) if last.filename == FILE else ""}
    return {}


def changed_source(source: str, change: str) -> str:
    """The text of a claim with its change; PageError where that does not fit. The lines of the change itself are not looked at."""
    return edited(source.replace(change, "") if change.strip() else source, read_change(inspect.cleandoc(change)).edits)


def _source(claim: Callable[[], Any]) -> str:
    try:
        return textwrap.dedent(inspect.getsource(claim))
    except (OSError, TypeError):
        return ""


def _begin(seed: int) -> None:
    """The random numbers of PyTorch, Python and NumPy."""
    torch.default_generator.manual_seed(seed)
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)
