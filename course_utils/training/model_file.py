"""A trained model as one safetensors file: weights in 16 bits, and what else is needed to use it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from torch import nn

from ..models.pretrained import check_shapes

Facts = dict[str, Any]
Model = TypeVar("Model", bound=nn.Module)


def load_model(
    path: str | Path, kind: str, make: Callable[[Facts], Model], described: tuple[str, ...] = (), shared: dict[str, str] | None = None
) -> tuple[Model, Facts]:
    """The model, in 32 bits and evaluation mode, and what describes it.

    ``make`` builds it from its configuration. ValueError when the file holds something else than a ``kind``, or
    parameters with other names or shapes; the first one is named.
    """
    from safetensors import safe_open

    shared = shared or {}
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata() or {}
        if not {"config", *described} <= set(metadata):
            raise ValueError(f"{path} holds no {kind}: its metadata are {sorted(metadata)}")
        weights = {name: file.get_tensor(name).float() for name in file.keys()}
    facts = {name: json.loads(metadata[name]) for name in ("config", *described)}
    model = make(facts["config"])
    check_shapes(str(path), {name: value for name, value in model.state_dict().items() if name not in shared}, weights)
    model.load_state_dict(weights | {name: weights[other] for name, other in shared.items()})
    return model.eval(), facts
