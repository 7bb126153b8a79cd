"""Pieces that move on the page without a kernel: one mime type, drawn by the lab's extension and by the book with the same JavaScript.

A piece is a module ``NAME.js`` in ``lab/pictures/static/live``, with ``NAME.png`` as its still picture for all who cannot run it
(GitHub, other editors, paper) and its description in ``pieces.json``. A state that looks otherwise has a picture ``NAME-STILL.png``.
The output that a notebook stores holds everything.
"""

import base64
import json
from typing import Any

from ..paths import PACKAGE

LIVE = "application/vnd.course.live+json"
LIVE_FOLDER = PACKAGE / "show" / "lab" / "pictures" / "static" / "live"


def piece(name: str, still: str = "", **state: Any) -> None:
    """Show a piece; ``state`` is plain data that it begins with, and ``still`` names the picture of a state that looks otherwise.

    ValueError for a name or a picture that is none, with those that are.
    """
    known = json.loads((LIVE_FOLDER / "pieces.json").read_text("utf-8"))
    picture = f"{name}-{still}" if still else name
    if picture not in known:
        raise ValueError(f"there is no piece called {picture!r}; there are {', '.join(known)}")
    png = (LIVE_FOLDER / f"{picture}.png").read_bytes()
    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
    shown = {"alt": known[picture], "width": width // 2, "height": height // 2}
    bundle = {"image/png": base64.b64encode(png).decode("ascii"), "text/plain": f"[piece: {known[picture]}]"}
    show_live(name, json.loads(json.dumps(state, default=str)), bundle, {"image/png": shown})


def show_live(kind: str, state: dict[str, Any], still: dict[str, Any], metadata: dict[str, Any] | None = None) -> None:
    """Display ``state`` for the module ``kind``, beside a still form of it (data by mime type, with metadata)."""
    from IPython.display import display

    display({LIVE: {"kind": kind, "state": state}, **still}, metadata=metadata or {}, raw=True)
