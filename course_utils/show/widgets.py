"""Something to drag: a drawing under sliders. What the page does not hold yet it asks this kernel for, position by position."""

import base64
import math
import sys
import uuid
from collections.abc import Callable
from types import FunctionType
from typing import Any

from .pieces import LIVE, show_live

MOST = 60  # positions of the sliders of one cell; with more of them, one slider moves at a time
Output = tuple[dict[str, Any], dict[str, Any]]  # data by mime type, metadata
_asked: dict[str, tuple[Callable[..., Any], dict[str, list[Any]]]] = {}  # by key: what a page of this kernel may ask for


def starts(choices: dict[str, Any]) -> dict[str, tuple[Any, list[Any]]]:
    """Each choice as ``(start, values)``; a list alone starts with its first value."""
    pairs = {name: c if isinstance(c, tuple) and isinstance(c[1], (list, range)) else (c[0], c) for name, c in choices.items()}
    return {name: (first, list(values)) for name, (first, values) in pairs.items()}


def explore(draw: Callable[..., None], **choices: Any) -> None:
    """Draw with the first choice of everything, under one slider for each choice; who has no sliders sees the first picture.

    ``choices`` maps each argument of ``draw`` to its slider's values; a tuple ``(start, values)`` says with which to start.
    """
    show_frames(draw, starts(choices))


def show_frames(draw: Callable[..., None], pairs: dict[str, tuple[Any, list[Any]]], **more: Any) -> None:
    """Show the first frame of ``draw`` with all that a page needs to move it; ``more`` goes to the page as it is."""
    found = drawn(draw, {name: first for name, (first, _) in pairs.items()})
    options = {name: values for name, (_, values) in pairs.items()}
    start = [values.index(first) for first, values in pairs.values()]
    key = uuid.uuid4().hex
    if len(_asked) >= 40:  # what was shown long ago must not keep its tensors alive
        del _asked[next(iter(_asked))]
    _asked[key] = (as_now(draw), options)
    state = {
        "names": [name.replace("_", " ") for name in pairs],
        "values": [[str(value) for value in values] for values in options.values()],
        "start": start,
        "together": math.prod(map(len, options.values())) <= MOST,
        "frames": {",".join(map(str, start)): [item(*output) for output in found]} if len(found) > 1 else {},
        "key": key,
        **more,
    }
    still = {mime: value for data, _ in found for mime, value in data.items()}
    show_live("frames", state, still, found[-1][1] if found else {})


def drawn(show: Callable[..., Any], settings: dict[str, Any]) -> list[Output]:
    """What a call shows, instead of showing it: first what it prints, then what it displays."""
    from IPython.utils.capture import capture_output

    with capture_output() as seen:
        show(**settings)
    sys.stderr.write(seen.stderr)
    printed: list[Output] = [({"text/plain": seen.stdout.rstrip("\n")}, {})] if seen.stdout else []
    return printed + [(output.data, output.metadata or {}) for output in seen.outputs]


def item(data: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    """An output as it is kept in a frame: a picture with its alt text, or a text. TypeError for anything else."""
    if "image/png" in data:
        png = data["image/png"]
        return {"png": png if isinstance(png, str) else base64.b64encode(png).decode("ascii"), **metadata.get("image/png", {})}
    if set(data) != {"text/plain"}:
        raise TypeError(f"a frame can show pictures and texts, not {', '.join(data)}")
    return {"text": data["text/plain"]}


class asked:  # noqa: N801 -- called as a function by the page
    """The frame at the positions ``at`` of the sliders, for the page of this kernel that holds ``key``; with ``text``, for that text."""

    def __init__(self, key: str, at: list[int], text: str | None = None) -> None:
        draw, values = _asked[key]
        settings = {name: options[i] for (name, options), i in zip(values.items(), at, strict=True)}
        self.items = [item(*output) for output in drawn(draw, settings if text is None else {**settings, "text": text})]

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {LIVE: self.items}


def as_now(function: Callable[..., Any]) -> Callable[..., Any]:
    """A notebook's function with the notebook's names as they are now: what later cells call by the same name does not change it."""
    if not isinstance(function, FunctionType) or function.__globals__["__name__"] != "__main__":
        return function
    names = dict(function.__globals__)

    def bound(part: FunctionType) -> FunctionType:
        made = FunctionType(part.__code__, names, part.__name__, part.__defaults__, part.__closure__)
        made.__kwdefaults__ = part.__kwdefaults__
        return made

    own = {name: bound(part) for name, part in names.items() if isinstance(part, FunctionType) and part.__globals__ is function.__globals__}
    names.update(own)
    return bound(function)
