"""Something to drag: a static figure first, then the same drawing under sliders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

# The pictures that stand in front of a live one in the outputs of its cell.
HIDE = "<style>.jp-OutputArea-child:has(img):has(~ .jp-OutputArea-child .course-live) {display: none}</style>"


def explore(draw: Callable[..., None], **choices: Sequence[Any]) -> None:
    """Draw once with the first choice of everything, then again under one slider for each choice.

    ``choices`` maps each argument of ``draw`` to the values its slider steps through; a value marks the start by
    standing in a tuple ``(start, values)``. Readers of a rendered page see the static figure; it goes where the live one stands below it.
    """
    import ipywidgets
    from IPython.display import display

    sliders, start = {}, {}
    for name, values in choices.items():
        first, options = values if isinstance(values, tuple) and isinstance(values[1], (list, range)) else (values[0], values)
        start[name] = first
        sliders[name] = ipywidgets.SelectionSlider(
            options=list(options), value=first, description=name.replace("_", " "), continuous_update=False,
            style={"description_width": "initial"}, layout={"width": "26em"})
    draw(**start)
    live = ipywidgets.HTML(HIDE)  # drawn only where widgets live
    live.add_class("course-live")
    display(live)
    ipywidgets.interact(draw, **sliders)
