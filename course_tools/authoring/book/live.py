"""Pictures that move without a kernel: the frames and widget states of a solved notebook, as files beside the pages."""

from __future__ import annotations

import base64
import html
import json
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from course_utils.paths import PACKAGE

from ..errors import AuthoringError
from ..outputs import LIVE

SHOW = PACKAGE / "show"
WIDGETS = ("viewer", "family")  # their JavaScript and CSS in `show`
EXPORT = "\nexport default { render };\n"
TYPED = '<p class="live-note">The text is fixed on this page. In the lab you can type your own, and the answer changes with it.</p>'


def live_outputs(path: Path) -> dict[str, list[NotebookNode]]:
    """The outputs of each cell of a solved notebook that carries frames or a widget; none where there is no such notebook."""
    cells = nbformat.read(path, as_version=4).cells if path.exists() else []
    return {cell.id: cell.outputs for cell in cells if any(LIVE in output.get("data", {}) for output in cell.get("outputs", []))}


def stage_widgets(static: Path) -> None:
    """Copy the widgets for the pages; a page opened from a disk may load scripts, but not modules."""
    static.mkdir(parents=True, exist_ok=True)
    for name in WIDGETS:
        source = (SHOW / f"{name}.js").read_text(encoding="utf-8")
        if source.count("export ") != 1 or not source.endswith(EXPORT):
            raise AuthoringError(f"{name}.js has to end in{EXPORT}and to export nothing else")
        script = f'courseLive.widgets["{name}"] = (() => {{\n{source.removesuffix(EXPORT)}\nreturn render;\n}})();\n'
        (static / f"{name}.js").write_text(script, encoding="utf-8")
        (static / f"{name}.css").write_bytes((SHOW / f"{name}.css").read_bytes())


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
    """Pictures become files with their alt text; a fragment of HTML stays; all else is left to the theme."""
    data = output.get("data", {})
    if "image/png" not in data:
        return output
    return nbformat.v4.new_output("display_data", {"text/html": _tag(output, name, static), "text/plain": data.get("text/plain", "")})


def _tag(output: NotebookNode, name: str, static: Path) -> str:
    address, found = picture(output.data["image/png"], name, static, output.metadata.get("image/png", {}))
    return (
        f'<img src="{address}" width="{found["width"]}" height="{found["height"]}" loading="lazy" '
        f'style="max-width:100%;height:auto" alt="{html.escape(found["alt"])}">'
    )


def with_live(outputs: list[NotebookNode], name: str, static: Path) -> list[NotebookNode]:
    """The outputs of a cell as they stand on its page; those that move are joined to one fragment, which live.js brings to life."""
    found: list[NotebookNode] = []
    for place, output in enumerate(outputs):
        live = output.get("data", {}).get(LIVE)
        found.append(output)
        if live:
            parts = found[-live["outputs"] :]
            del found[-live["outputs"] :]
            still = "".join(
                _tag(part, f"{name}-{place}-{i}", static)
                if "image/png" in part.data
                else f'<div class="highlight"><pre>{html.escape(part.data["text/plain"])}</pre></div>'
                for i, part in enumerate(parts)
            )
            fragment = _fragment(live, still, f"{name}-{place}", static)
            found.append(nbformat.v4.new_output("display_data", {"text/html": fragment, "text/plain": ""}))
    return [shown(output, f"{name}-{place}", static) for place, output in enumerate(found)]


def _fragment(live: dict[str, Any], still: str, name: str, static: Path) -> str:
    stage = f'<div class="live-stage">{still}</div>'
    if live["kind"] != "frames":
        target = static / "live" / f"{name}.js"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f'courseLive.states["{name}"] = {json.dumps(live["state"], ensure_ascii=False)};\n', encoding="utf-8")
        return (
            f'<div class="live" data-live="{live["kind"]}" data-state="{name}" data-replaces="{str(live["replaces"]).lower()}">'
            f"{stage}</div>"
        )
    note = TYPED if live.get("typed") else ""
    if not live["frames"]:
        return f"{stage}{note}"
    frames = {
        key: [_item(item, f"{name}-{key.replace(',', '-')}-{i}", static) for i, item in enumerate(items)]
        for key, items in live["frames"].items()
    }
    told = {**{key: live[key] for key in ("names", "values", "start", "together")}, "frames": frames}
    script = json.dumps(told, ensure_ascii=False).replace("</", "<\\/")
    return f'<div class="live" data-live="frames">{stage}<script type="application/json">{script}</script></div>{note}'


def _item(item: dict[str, Any], name: str, static: Path) -> dict[str, Any]:
    if "text" in item:
        return {"text": item["text"]}
    address, found = picture(item["png"], name, static, item)
    return {"src": address, **found}
