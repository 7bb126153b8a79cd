"""What a benchmark has stored: figures with the command, the hardware and the commit they came from."""

from __future__ import annotations

import json
from typing import Any

from ..paths import ROOT

RESULTS = ROOT / "benchmarks" / "results"


def recorded(name: str) -> dict[str, Any]:
    """The content of ``benchmarks/results/NAME.json``; empty where the course was installed without it."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def on_a_card(key: str) -> str:
    """The line that a cell for a graphics card shows where there is none: what was recorded, when, and on what.

    ``key`` names a figure of ``benchmarks/on_a_card.py``. Raises KeyError for one that was never measured.
    """
    record = recorded("on_a_card")
    if not record:
        return "The figures recorded on a graphics card are in the course's folder benchmarks/results, which is missing here."
    return f"{record['figures'][key]}\n(recorded on an {record['card']} with PyTorch {record['torch']}, by {record['command']})"
