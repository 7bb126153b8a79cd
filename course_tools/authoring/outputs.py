"""Outputs as they are stored: cleaned, the same on every build, fit to be shown to a reader."""

from __future__ import annotations

import base64
import json
import re
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from course_utils.show.pieces import LIVE

WIDGET = "application/vnd.jupyter.widget-view+json"
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_TEXT = {b"tEXt", b"iTXt", b"zTXt", b"tIME"}
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_WARNING = re.compile(r"\b[A-Z]\w*Warning: ")
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{6,}")
_FOREIGN_PATH = re.compile(r"/home/\w+/|/Users/\w+/|[A-Za-z]:\\+Users\\|site-packages|ipykernel_\d+|(?<![\w.])/(?:tmp|root)/")


def clean_outputs(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Drop live widgets, join neighbouring streams, strip what differs between builds."""
    kept: list[NotebookNode] = []
    for output in outputs:
        data = output.get("data", {})
        if WIDGET in data:
            continue
        if "image/png" in data:
            data["image/png"] = stable_png(data["image/png"])
        before = kept[-1] if kept else None
        if output.output_type == "stream" and before and before.get("name") == output.name:
            before["text"] += output["text"]
        else:
            kept.append(output)
    for output in kept:
        if output.output_type == "stream":
            output["text"] = _overwritten("".join(output["text"]))
    return [output for output in kept if output.get("text") != ""]


def number(cell: NotebookNode, count: int | None) -> None:
    """Give a code cell and its results the number of the run; None looks as if nobody had run it."""
    cell.execution_count = count
    for output in cell.outputs:
        if output.output_type == "execute_result":
            output.execution_count = count


def _overwritten(text: str) -> str:
    """What a terminal shows after the carriage returns of a progress bar."""
    return "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n"))


def stable_png(encoded: str) -> str:
    """The same picture without its text chunks, which name the program's version."""
    raw = base64.b64decode(encoded)
    if not raw.startswith(_PNG_SIGNATURE):
        return encoded
    parts, position = [_PNG_SIGNATURE], len(_PNG_SIGNATURE)
    while position + 12 <= len(raw):
        (length,) = struct.unpack(">I", raw[position : position + 4])
        end = position + 12 + length  # length, type, data, checksum
        if raw[position + 4 : position + 8] not in _PNG_TEXT:
            parts.append(raw[position:end])
        position = end
    return base64.b64encode(b"".join(parts)).decode("ascii")


def readable(output: dict[str, Any]) -> str:
    """All text of an output, without pictures and colours; the frames of a live output count with their texts."""
    if output["output_type"] == "error":
        return _ANSI.sub("", "\n".join(output.get("traceback", [])))
    if output["output_type"] == "stream":
        return _ANSI.sub("", "".join(output["text"]))
    texts = []
    for mime, value in output.get("data", {}).items():
        if mime.startswith("image/") and mime != "image/svg+xml":
            continue
        if mime == LIVE:
            texts += [item["text"] for items in value["state"].get("frames", {}).values() for item in items if "text" in item]
            continue
        texts.append(value if isinstance(value, str) else json.dumps(value))
    return "\n".join(texts)


def machine_paths(root: Path) -> list[str]:
    """Folders that say on whose machine a notebook ran."""
    folders = {Path.home(), root, root.resolve(), Path(tempfile.gettempdir()), Path(sys.prefix)}
    return sorted(str(folder) for folder in folders if len(str(folder)) > 3)


def output_problem(output: dict[str, Any], folders: list[str]) -> str | None:
    """Why this output may not be stored, in one line, or None."""
    text = readable(output)
    if output["output_type"] == "error":
        return f"a traceback: {output.get('ename')}: {output.get('evalue')}"
    if output.get("name") == "stderr":
        return f"output on stderr: {_first_line(text)}"
    if WIDGET in output.get("data", {}):
        return "a live widget, which no stored page can show"
    warning = _WARNING.search(text)
    if warning:
        return f"a Python warning: {_line_around(text, warning.start())}"
    address = _ADDRESS.search(text)
    if address:
        return f"a memory address, different in every run: {_line_around(text, address.start())}"
    for folder in folders:
        if re.search(rf"(?<![\w.]){re.escape(folder)}(?!\w)", text):
            return f"a path of this machine: {folder}"
    foreign = _FOREIGN_PATH.search(text)
    if foreign:
        return f"a path of a machine: {_line_around(text, foreign.start())}"
    return None


def _first_line(text: str) -> str:
    return next((line.strip()[:160] for line in text.splitlines() if line.strip()), "")


def _line_around(text: str, position: int) -> str:
    start = text.rfind("\n", 0, position) + 1
    return text[start:].split("\n", 1)[0].strip()[:160]
