"""Weights and what describes them, written into one file."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from torch import nn


def save_model(path: Path, model: nn.Module, config: Any, command: str, shared: Mapping[str, str] | None = None, **described: Any) -> None:
    """Write weights, the configuration (a dataclass), ``described`` (as JSON) and the command that makes the file.

    ``shared`` maps the name of a parameter that is another one as well, and is left out, to that other one.
    """
    from safetensors.torch import save_file

    weights = {name: value.half().contiguous() for name, value in model.state_dict().items() if name not in (shared or {})}
    facts = {name: json.dumps(value) for name, value in {"config": asdict(config), **described}.items()}
    save_file(weights, path, {**facts, "command": command})
