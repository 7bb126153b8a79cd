"""Something to type into: a line of text and sliders, answered at once; a refusal is shown and nothing typed is lost."""

import html
from collections.abc import Callable
from typing import Any

from .widgets import display_live, sliders_for, starts


def reply(answer: Callable[..., str], text: str, **settings: Any) -> str:
    """What the box shows: the answer, or the sentence of a ValueError behind a cross."""
    try:
        return answer(text, **settings)
    except ValueError as error:
        return f"✗ {error}"


def type_and_see(answer: Callable[..., str], text: str, label: str = "text", **choices: Any) -> None:
    """Print the answer to ``text`` with the first choice of everything, then offer a text field and one slider for each choice.

    ``answer(text, **settings)`` returns what is to be shown; a ValueError it raises is shown as a sentence, and nothing typed is lost.
    Choices as in ``explore``.
    """
    import ipywidgets

    pairs = starts(choices)
    print(f"{label}: {text}\n{reply(answer, text, **{name: first for name, (first, _) in pairs.items()})}")
    field = ipywidgets.Text(value=text, description=label, layout={"width": "44em"}, style={"description_width": "initial"})
    sliders, shown = sliders_for(pairs), ipywidgets.HTML()

    def update(_: Any = None) -> None:
        said = reply(answer, field.value, **{name: slider.value for name, slider in sliders.items()})
        shown.value = f"<pre>{html.escape(said)}</pre>"

    for widget in (field, *sliders.values()):
        widget.observe(update, "value")
    update()
    display_live(ipywidgets.VBox([field, *sliders.values(), shown]))
