"""Pictures of a notebook as files beside the pages, and what moves without a kernel with its state as a script."""

from __future__ import annotations

import base64
import html
import json
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from course_utils.show.pieces import LIVE, LIVE_FOLDER

from ..live.scripts import needs, script


def stage_scripts(static: Path) -> None:
    """Write the modules of all pieces as scripts, and their styles, for the pages."""
    static.mkdir(parents=True, exist_ok=True)
    for source in LIVE_FOLDER.glob("*.css"):
        (static / source.name).write_bytes(source.read_bytes())
    for source in LIVE_FOLDER.glob("*.js"):
        if source.stem != "lab":  # what shows them in JupyterLab
            (static / source.name).write_text(script(source.stem), encoding="utf-8")


def picture(png: str, name: str, static: Path, metadata: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Write a picture of a notebook into ``static/figures``; its address on a page, and its attributes."""
    raw = base64.b64decode(png)
    width, height = (int.from_bytes(raw[i : i + 4], "big") for i in (16, 20))
    target = static / "figures" / f"{name}.png"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(raw)
    return f"../_static/figures/{name}.png", {
        "width": metadata.get("width", width),
        "height": metadata.get("height", height),
        "alt": metadata.get("alt", ""),
    }


def shown(output: NotebookNode, name: str, static: Path) -> NotebookNode:
    """An output as it stands on its page: pictures become files with their alt text, what moves a place that live.js fills."""
    data = output.get("data", {})
    if LIVE in data:
        fragment = _fragment(data[LIVE], _still(output, name, static), name, static)
    elif "image/png" in data:
        fragment = _still(output, name, static)
    else:
        return output  # a fragment of HTML stays; all else is left to the theme
    return nbformat.v4.new_output("display_data", {"text/html": fragment, "text/plain": data.get("text/plain", "")})


def _still(output: NotebookNode, name: str, static: Path) -> str:
    if "image/png" not in output.data:
        return f'<div class="highlight"><pre>{html.escape(output.data["text/plain"])}</pre></div>'
    address, found = picture(output.data["image/png"], name, static, output.metadata.get("image/png", {}))
    return (
        f'<img src="{address}" width="{found["width"]}" height="{found["height"]}" loading="lazy" '
        f'style="max-width:100%;height:auto" alt="{html.escape(found["alt"])}">'
    )


def _fragment(live: dict[str, Any], still: str, name: str, static: Path) -> str:
    """The place of a piece on a page; its state goes into a script of its own, its pictures into files."""
    state = dict(live["state"])
    if "frames" in state:
        state["frames"] = {
            at: [_item(item, f"{name}-{at.replace(',', '-')}-{i}", static) for i, item in enumerate(items)]
            for at, items in state["frames"].items()
        }
    target = static / "live" / f"{name}.js"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f'courseLive.states["{name}"] = {json.dumps(state, ensure_ascii=False)};\n', encoding="utf-8")
    return f'<div class="live" data-live="{live["kind"]}" data-state="{name}" data-needs="{" ".join(needs(live["kind"]))}">{still}</div>'


def _item(item: dict[str, Any], name: str, static: Path) -> dict[str, Any]:
    if "text" in item:
        return {"text": item["text"]}
    address, found = picture(item["png"], name, static, item)
    return {"src": address, **found}
