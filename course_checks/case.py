"""What an answer is tried on, as plain data: it is the only thing of an exercise that a sandbox sees."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch


@dataclass(frozen=True)
class Case:
    """One thing to try an answer on.

    ``args`` holds plain data only (tensors, numbers, strings, None, lists, dicts, :class:`Registered`), so
    that a case can be sent to another process. For a ``module`` exercise its keys are ``init``
    (constructor arguments), ``parameters`` (name -> tensor, loaded before the call), ``inputs``, and perhaps
    ``mode``: with "eval" the module is put into evaluation mode first, and ``method``: it is called in the
    place of ``forward``. With ``inputs`` None the result is :func:`.observe.starts` of a new module.
    """

    label: str
    args: dict[str, Any]
    part: str = "values"
    gradients: tuple[str, ...] = ()  # names of inputs (or parameters) to differentiate by
    rejects: type[Exception] | None = None  # the answer must raise this ...
    mentions: tuple[str, ...] = ()  # ... with a message that contains each of these
    shape: str = ""  # how the expected shape reads, e.g. "(batch, query, key)"
    finished: bool = False  # no result may carry a gradient
    calls: dict[str, int] = field(default_factory=dict)  # how often the answer must call a Registered argument


def refusal(label: str, args: dict[str, Any], *mentions: str, part: str = "bad input") -> Case:
    """A case with bad input: the answer must raise a ValueError whose message contains each of ``mentions``."""
    return Case(label, args, part, rejects=ValueError, mentions=mentions)


@dataclass(frozen=True)
class Registered:
    """A callable handed to an answer, by name, so that the case itself stays plain data."""

    name: str


CALLABLES: dict[str, Callable] = {}


def register(function: Callable) -> Callable:
    """Make ``function`` available to cases as ``Registered(function.__name__)``."""
    CALLABLES[function.__name__] = function
    return function


def generator(seed: int) -> torch.Generator:
    """A random generator of its own, so that drawing cases never touches the learner's random state."""
    return torch.Generator().manual_seed(seed)
