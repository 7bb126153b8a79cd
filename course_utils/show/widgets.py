"""Something to drag: a static figure first, then the same drawing under sliders."""

from collections.abc import Callable
from typing import Any

# The pictures that stand in front of a live one in the outputs of its cell.
HIDE = "<style>.jp-OutputArea-child:has(~ .jp-OutputArea-child .course-live) {display: none}</style>"


def starts(choices: dict[str, Any]) -> dict[str, tuple[Any, list[Any]]]:
    """Each choice as ``(start, values)``; a list alone starts with its first value."""
    pairs = {name: c if isinstance(c, tuple) and isinstance(c[1], (list, range)) else (c[0], c) for name, c in choices.items()}
    return {name: (first, list(values)) for name, (first, values) in pairs.items()}


def sliders_for(choices: dict[str, tuple[Any, list[Any]]], **look: Any) -> dict[str, Any]:
    """A slider for each choice of ``starts``."""
    from ipywidgets import SelectionSlider

    return {
        name: SelectionSlider(options=values, value=first, description=name.replace("_", " "), continuous_update=False, **look)
        for name, (first, values) in choices.items()
    }


def explore(draw: Callable[..., None], **choices: Any) -> None:
    """Draw once with the first choice of everything, then again under one slider for each choice.

    ``choices`` maps each argument of ``draw`` to the values its slider steps through; a value marks the start by
    standing in a tuple ``(start, values)``. Readers of a rendered page see the static figure; it goes where the live one stands below it.
    """
    import ipywidgets

    pairs = starts(choices)
    draw(**{name: first for name, (first, _) in pairs.items()})
    sliders = sliders_for(pairs, style={"description_width": "initial"}, layout={"width": "26em"})
    live = ipywidgets.VBox([ipywidgets.HTML(HIDE), ipywidgets.interactive(draw, **sliders)])
    live.add_class("course-live")
    display_live(live)


def display_live(widget: Any) -> None:
    """Show a widget. In a saved notebook that is opened again, it has no kernel: a sentence is there instead."""
    from IPython.display import display

    display(widget._repr_mimebundle_() | {"text/plain": "[to move this, run the cell again]"}, raw=True)
