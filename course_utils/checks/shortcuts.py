"""Names that are forbidden while an answer runs: the very thing an exercise asks for."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class ForbiddenShortcut(BaseException):
    """An answer called what it was asked to build; not an ``Exception``, so that it cannot be swallowed by one."""


def _locate(dotted: str) -> tuple[Any, str]:
    """Owner and attribute of a dotted name: ``torch.Tensor.softmax`` -> (torch.Tensor, "softmax")."""
    parts = dotted.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            owner = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:-1]:
            owner = getattr(owner, part)
        return owner, parts[-1]
    raise ValueError(f"no module holds the forbidden name {dotted!r}")


@contextmanager
def forbid(names: tuple[str, ...], namespaces: list[dict[str, Any]]) -> Iterator[list[str]]:
    """Replace every name by a function that raises; yields the list of those that were called.

    ``namespaces`` are the globals the answer sees: a name imported there earlier
    (``from torch.nn.functional import softmax``) is replaced too. Everything is put back at the end.
    """
    used: list[str] = []
    undo: list[tuple[Any, str, Any]] = []

    def blocked(name: str):
        def raiser(*args: Any, **kwargs: Any) -> None:
            used.append(name)
            raise ForbiddenShortcut(name)

        return raiser

    try:
        for name in names:
            owner, attribute = _locate(name)
            original, raiser = getattr(owner, attribute), blocked(name)
            undo.append((owner, attribute, original))
            setattr(owner, attribute, raiser)
            for space in namespaces:
                for key, value in list(space.items()):
                    if value is original:
                        undo.append((space, key, original))
                        space[key] = raiser
        yield used
    finally:
        for owner, key, original in reversed(undo):
            if isinstance(owner, dict):
                owner[key] = original
            else:
                setattr(owner, key, original)
