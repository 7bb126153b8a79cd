"""Something to type into: a line of text and sliders, answered at once; a refusal is shown and nothing typed is lost."""

from collections.abc import Callable
from typing import Any

from .widgets import as_now, show_frames, starts


def reply(answer: Callable[..., str | None], text: str, **settings: Any) -> str | None:
    """What the box shows: the answer, or the sentence of a ValueError behind a cross."""
    try:
        return answer(text, **settings)
    except ValueError as error:
        return f"✗ {error}"


def type_and_see(answer: Callable[..., str | None], text: str, label: str = "text", **choices: Any) -> None:
    """Show the answer to ``text`` under a text field and one slider for each choice (as in ``explore``).

    ``answer(text, **settings)`` returns what is to be shown, or draws it and returns nothing; a ValueError it raises is shown as a
    sentence. What is typed needs a kernel; without one the answers to ``text`` stay.
    """
    answer, first = as_now(answer), text

    def say(text: str = first, **settings: Any) -> None:
        said = reply(answer, text, **settings)
        if said is not None:
            print(f"{label}: {text}\n{said}")

    show_frames(say, starts(choices), typed={"label": label, "text": text})
