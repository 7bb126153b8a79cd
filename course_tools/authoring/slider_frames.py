"""What makes sliders move where no kernel is: a notebook is built with every frame of them.

While ``build`` runs a notebook, ``install`` replaces what shows frames by a form that draws one for each position of the sliders
and stores them with the output. A learner's own run draws the first alone; the lab asks its kernel for the others.
"""

from __future__ import annotations

import base64
import importlib.abc
import importlib.machinery
import io
import itertools
import random
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

COLOURS = 32  # of a frame: with twice as many it is a seventh larger and looks the same
MODULE = "course_utils.show.widgets"


def install() -> None:
    """Wrap ``show_frames`` when a chapter imports its module, and no sooner: chapters without sliders do not wait for it."""
    sys.meta_path.insert(0, _Finder())


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != MODULE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.origin is not None:
            spec.loader = _Loader(name, spec.origin)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def exec_module(self, module: types.ModuleType) -> None:
        super().exec_module(module)
        module.__dict__["show_live"] = with_frames(module.__dict__["show_live"])


def with_frames(show_live: Callable[..., None]) -> Callable[..., None]:
    """``show_live`` that first draws the frames which the state lacks, each from the same random state, and takes the kernel's key away."""

    def shown(kind: str, state: dict[str, Any], *still: Any) -> None:
        from course_utils.show.widgets import asked

        key, frames = state["key"], {at: [reduced(one) for one in items] for at, items in state["frames"].items()}
        for at in positions([len(values) for values in state["values"]], state["start"], state["together"]):
            with same_randomness():
                frames[",".join(map(str, at))] = [reduced(one) for one in asked(key, list(at)).items]
        show_live(kind, {**{name: value for name, value in state.items() if name != "key"}, "frames": frames}, *still)

    return shown


def positions(sizes: list[int], start: list[int], together: bool) -> list[tuple[int, ...]]:
    """All positions of sliders with ``sizes`` steps but the start's; without ``together`` those that move one slider alone."""
    every = [at for at in itertools.product(*map(range, sizes)) if at != tuple(start)]
    return [at for at in every if together or sum(i != j for i, j in zip(at, start, strict=True)) <= 1]


def reduced(item: dict[str, Any]) -> dict[str, Any]:
    """A frame whose picture has a palette; the same bytes for the same picture. A text stays."""
    from PIL import Image

    if "png" not in item:
        return item
    small = io.BytesIO()
    image = Image.open(io.BytesIO(base64.b64decode(item["png"]))).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    image.save(small, "PNG", optimize=True)
    return {**item, "png": base64.b64encode(small.getvalue()).decode("ascii")}


@contextmanager
def same_randomness() -> Iterator[None]:
    """Leave the generators of Python, NumPy and PyTorch as they were."""
    torch, numpy, plain = sys.modules.get("torch"), sys.modules.get("numpy"), random.getstate()
    states = torch and torch.get_rng_state(), numpy and numpy.random.get_state()
    try:
        yield
    finally:
        random.setstate(plain)
        if torch:
            torch.set_rng_state(states[0])
        if numpy:
            numpy.random.set_state(states[1])
