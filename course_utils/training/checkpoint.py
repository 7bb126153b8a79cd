"""The file from which an interrupted training goes on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from ..text.files import replacing

if TYPE_CHECKING:  # the loop imports this file
    from .loop import EarlyStopping, History


class Checkpoint:
    """For ``fit``: weights, optimizer, losses and random numbers, those of ``generators`` too."""

    def __init__(self, path: str | Path, generators: Sequence[torch.Generator] = ()) -> None:
        self.path, self.generators = Path(path), list(generators)

    def save(self, module: nn.Module, optimizer: torch.optim.Optimizer, history: History, stop: EarlyStopping | None) -> None:
        state = {
            "module": module.state_dict(),
            "optimizer": optimizer.state_dict(),
            "losses": history.losses,
            "validation": history.validation,
            "best_step": history.best_step,
            "best": stop.best if stop else {},
            "cpu": torch.get_rng_state(),
            "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
            "generators": [generator.get_state() for generator in self.generators],
        }
        with replacing(self.path) as beside:
            torch.save(state, beside)

    def load(self, module: nn.Module, optimizer: torch.optim.Optimizer, history: History, stop: EarlyStopping | None) -> None:
        """Put everything back; nothing happens without a file. ValueError for a file that does not fit."""
        if not self.path.exists():
            return
        state = self._read(module)
        module.load_state_dict(state["module"])
        optimizer.load_state_dict(state["optimizer"])
        history.losses, history.best_step = state["losses"], state["best_step"]
        history.validation = [tuple(pair) for pair in state["validation"]]
        if stop is not None:
            stop.best = state["best"]
        torch.set_rng_state(state["cpu"])
        if state["cuda"] and torch.cuda.is_available():
            torch.cuda.set_rng_state_all(state["cuda"])
        for generator, saved in zip(self.generators, state["generators"], strict=True):
            generator.set_state(saved)

    def _read(self, module: nn.Module) -> dict[str, Any]:
        try:
            state = torch.load(self.path, map_location="cpu", weights_only=True)
            given = len(state["generators"])
        except Exception as error:
            kind = type(error).__name__
            raise ValueError(f"{self.path} is not a checkpoint of this loop ({kind}); delete it to start again") from None
        shapes = {name: tuple(t.shape) for name, t in module.state_dict().items()}
        if shapes != {name: tuple(t.shape) for name, t in state["module"].items()}:
            raise ValueError(f"{self.path} belongs to another model: its parameters have other names or shapes; delete it to start again")
        if given != len(self.generators):
            raise ValueError(f"{self.path} holds {given} random generators, {len(self.generators)} were given")
        return state
