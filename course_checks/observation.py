"""What was seen when an answer ran on a case: plain data, so that it can cross from a sandbox to the judge."""

from dataclasses import dataclass, field, fields
from typing import Any

import torch

STATUSES = ("ok", "blank", "raised", "forbidden")
LONGEST = 1_000  # characters of a text in an observation


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text was expected, not a {type(value).__name__}")
    return value[:LONGEST]


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or len(value) > LONGEST:
        raise TypeError("a list of texts was expected")
    return tuple(map(_text, value))


@dataclass(frozen=True)
class Error:
    """The exception an answer ended with: its type and message, the learner's own line, a name that hides another, its base classes."""

    type: str = ""
    message: str = ""
    number: int | None = None
    line: str = ""
    hidden: str = ""
    classes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Misfit:
    """Why a module cannot take a case's parameters: "not a module"; "names", ``missing`` and ``extra``; or "sizes" of ``name``. For a
    result that can do nothing in a case, ``problem`` is what the judge says of it."""

    problem: str = ""
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    name: str = ""
    got: str = ""
    want: str = ""


@dataclass(frozen=True)
class Again:
    """What a later call on the same input did differently: another ``value`` or an ``error``; ``random``: the random state decides;
    ``evaluated``: it was the evaluation mode."""

    value: Any = None
    error: Error | None = None
    random: bool = False
    evaluated: bool = False


@dataclass(frozen=True)
class Observation:
    """What an answer did on one case.

    ``status`` is ok, blank, raised or forbidden; ``type`` the kind of the result in a learner's words; ``changed`` names inputs that
    were modified; ``gradients`` maps the names that were asked for to tensors, None where nothing arrives. ``again`` is None where a
    second call did the same; ``calls`` says how often callables among the inputs were called, ``attached`` which of the floating
    results a gradient can leave, ``ignored`` which inputs can be changed without any effect.
    """

    status: str = "ok"
    type: str = ""
    value: Any = None
    module: Misfit | None = None
    gradients: dict[str, torch.Tensor | None] = field(default_factory=dict)
    printed: str = ""
    changed: tuple[str, ...] = ()
    error: Error | None = None
    again: Again | None = None
    calls: dict[str, int] = field(default_factory=dict)
    attached: tuple[bool, ...] = ()
    ignored: tuple[str, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """As dicts, lists, texts, numbers and tensors, for the wire."""
        plain = _shallow(self)
        plain["module"] = None if self.module is None else _shallow(self.module)
        plain["error"] = None if self.error is None else _shallow(self.error)
        if self.again is not None:
            plain["again"] = {**_shallow(self.again), "error": None if self.again.error is None else _shallow(self.again.error)}
        return plain

    @classmethod
    def from_plain(cls, plain: Any) -> "Observation":
        """From the wire; TypeError or KeyError for anything that :meth:`to_plain` would not have made."""
        gradients, value = plain["gradients"], plain["value"]
        if plain["status"] not in STATUSES or not isinstance(gradients, dict):
            raise TypeError("not an observation")
        if not all(isinstance(k, str) and (g is None or isinstance(g, torch.Tensor)) for k, g in gradients.items()):
            raise TypeError("gradients are tensors by name")
        if plain["type"] == "tensor" and not (isinstance(value, torch.Tensor) or isinstance(value, dict) and "object" in value):
            raise TypeError("this is not the tensor that was announced")
        module = None if plain["module"] is None else _record(Misfit, plain["module"])
        error = None if plain["error"] is None else _record(Error, plain["error"])
        if error is None and plain["status"] in ("raised", "forbidden"):
            raise TypeError("an error was announced, and there is none")
        calls, later, again = plain["calls"], plain["again"], None
        if not isinstance(calls, dict) or not all(isinstance(k, str) and type(n) is int for k, n in calls.items()):
            raise TypeError("numbers of calls by name were expected")
        if later is not None:
            failed = None if later["error"] is None else _record(Error, later["error"])
            again = Again(later["value"], failed, later["random"] is True, later["evaluated"] is True)
        attached = plain["attached"]
        if not isinstance(attached, (list, tuple)) or not all(type(flag) is bool for flag in attached):
            raise TypeError("True or False for each result was expected")
        texts: dict[str, Any] = {name: _text(plain[name]) for name in ("type", "printed")} | {
            name: _texts(plain[name]) for name in ("changed", "ignored")
        }
        parts: dict[str, Any] = {"value": value, "module": module, "gradients": gradients, "error": error, "again": again, "calls": calls}
        return cls(status=plain["status"], attached=tuple(attached), **texts, **parts)


def _shallow(record: Any) -> dict[str, Any]:
    return {entry.name: getattr(record, entry.name) for entry in fields(record)}


def _record(kind: type, plain: Any) -> Any:
    """An :class:`Error` or :class:`Misfit` from a dict of texts, lists of texts and, for a line's number, a whole number."""
    values = {}
    for entry in fields(kind):
        value = plain[entry.name]
        if entry.name == "number":
            if value is not None and type(value) is not int:
                raise TypeError("a line's number was expected")
        else:
            value = _texts(value) if isinstance(entry.default, tuple) else _text(value)
        values[entry.name] = value
    return kind(**values)
