"""What makes pictures move in the book: the solved notebook is built with every frame of its sliders.

A page of the book has no kernel. While ``build`` runs a *solved* notebook, ``install`` therefore replaces ``explore``, ``type_and_see``,
``attention_viewer`` and ``family_tree`` by forms that show what they always show, and add to its last output what the page needs: one
picture or text for each position of the sliders, or the state of the widget. Blank notebooks and the learner's copies carry none of it.
"""

from __future__ import annotations

import base64
import functools
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

MOST = 60  # positions of the sliders of one cell; with more of them, one slider moves at a time
COLOURS = 32  # of a frame: with twice as many it is a seventh larger and looks the same
Output = tuple[dict[str, Any], dict[str, Any]]  # data by mime type, metadata


def install() -> None:
    """Wrap the four functions when a chapter imports their modules, and no sooner: chapters without them do not wait for them."""
    sys.meta_path.insert(0, _Finder())


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name not in RECORDED:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.origin is not None:
            spec.loader = _Loader(name, spec.origin)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def exec_module(self, module: types.ModuleType) -> None:
        super().exec_module(module)
        function, wrap = RECORDED[self.name]
        setattr(module, function, wrap(getattr(module, function)))


def record_explore(explore: Callable[..., None]) -> Callable[..., None]:
    """``explore`` that also leaves its frames."""

    @functools.wraps(explore)
    def recorded(draw: Callable[..., None], **choices: Any) -> None:
        publish(*frames(draw, choices))
        explore(lambda **values: outputs(draw, **values), **choices)  # silent; leaves the random state of a blank notebook

    return recorded


def record_box(type_and_see: Callable[..., None]) -> Callable[..., None]:
    """``type_and_see`` that also leaves its answers to the text it begins with, for each position of its sliders."""

    @functools.wraps(type_and_see)
    def recorded(answer: Callable[..., str], text: str, label: str = "text", **choices: Any) -> None:
        from course_utils.show.box import reply

        found, live = frames(lambda **settings: print(f"{label}: {text}\n{reply(answer, text, **settings)}"), choices)
        publish(found, {**live, "typed": True})
        outputs(type_and_see, answer, text, label, **choices)

    return recorded


def record_widget(name: str, replaces: bool, show: Callable[..., Any]) -> Callable[..., Any]:
    """A widget's function that also leaves the widget's state; ``replaces`` the static picture, or stands below it."""
    from IPython.utils.capture import capture_output

    @functools.wraps(show)
    def recorded(*arguments: Any, **options: Any) -> Any:
        import anywidget

        from .outputs import WIDGET

        with capture_output() as seen:
            widget = show(*arguments, **options)
        found = [(output.data, output.metadata) for output in seen.outputs if WIDGET not in output.data]
        own = sorted(set(widget.traits(sync=True)) - set(anywidget.AnyWidget.class_traits()))
        state = {trait: getattr(widget, trait) for trait in own if not trait.startswith("_")}
        state = {trait: {"base64": _text(value)} if isinstance(value, bytes) else value for trait, value in state.items()}
        publish(found, {"kind": name, "replaces": replaces, "state": state})
        return widget

    return recorded


RECORDED: dict[str, tuple[str, Callable[..., Any]]] = {
    "course_utils.show.widgets": ("explore", record_explore),
    "course_utils.show.box": ("type_and_see", record_box),
    "course_utils.show.viewer": ("attention_viewer", functools.partial(record_widget, "viewer", False)),
    "course_utils.show.family": ("family_tree", functools.partial(record_widget, "family", True)),
}


def publish(found: list[Output], live: dict[str, Any]) -> None:
    """Show outputs ``(data, metadata)``; the last carries what makes all of them live."""
    from IPython.display import display

    from .outputs import LIVE  # late: a kernel without such cells does not wait for what it brings

    for place, (data, metadata) in enumerate(found, start=1):
        carried = {LIVE: {**live, "outputs": len(found)}} if place == len(found) else {}
        display({**data, **carried}, metadata=metadata, raw=True)


def frames(draw: Callable[..., None], choices: dict[str, Any]) -> tuple[list[Output], dict[str, Any]]:
    """The outputs of ``draw`` at the start, and the frames of all other positions; each is drawn from the same random state."""
    from course_utils.show.widgets import starts

    split = starts(choices)
    values = [options for _, options in split.values()]
    start = tuple(options.index(first) for first, options in split.values())

    def shown(at: tuple[int, ...]) -> list[Output]:
        with same_randomness():
            return outputs(draw, **{name: options[i] for (name, (_, options)), i in zip(split.items(), at, strict=True)})

    first = shown(start)
    positions = list(itertools.product(*map(range, map(len, values))))
    together = len(positions) <= MOST
    if not together:
        positions = [at for at in positions if sum(i != j for i, j in zip(at, start, strict=True)) <= 1]
    found = {",".join(map(str, at)): [item(data, metadata) for data, metadata in shown(at)] for at in positions if at != start}
    return first, {
        "kind": "frames",
        "names": [name.replace("_", " ") for name in split],
        "start": list(start),
        "together": together,
        "values": [[str(value) for value in options] for options in values],
        "frames": found,
    }


def outputs(show: Callable[..., Any], *arguments: Any, **options: Any) -> list[Output]:
    """What a call shows instead of showing it: first what it prints, then what it displays."""
    from IPython.utils.capture import capture_output

    with capture_output() as seen:
        show(*arguments, **options)
    sys.stderr.write(seen.stderr)  # build refuses it, as anywhere
    printed: list[Output] = [({"text/plain": seen.stdout.rstrip("\n")}, {})] if seen.stdout else []
    return printed + [(output.data, output.metadata or {}) for output in seen.outputs]


def item(data: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    """An output as it is kept in a frame: a picture of few colours with its alt text, or a text. TypeError for anything else."""
    if "image/png" in data:
        return {"png": reduced(data["image/png"]), **metadata.get("image/png", {})}
    if set(data) != {"text/plain"}:
        raise TypeError(f"a frame can show pictures and texts, not {', '.join(data)}")
    return {"text": data["text/plain"]}


def reduced(picture: bytes | str) -> str:
    """A PNG picture with a palette, in base64; the same bytes for the same picture."""
    from PIL import Image

    raw, small = base64.b64decode(picture) if isinstance(picture, str) else picture, io.BytesIO()
    image = Image.open(io.BytesIO(raw)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    image.save(small, "PNG", optimize=True)
    return _text(small.getvalue())


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


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
