"""One training loop for every chapter, and one way to choose a device."""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn


def best_device() -> torch.device:
    """CUDA if there is one, else Apple's MPS, else the CPU."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def gains_from_bfloat16(device: torch.device) -> bool:
    """Whether this device computes faster in bfloat16: a GPU that supports it, a CPU with instructions for it."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return device.type == "cpu" and bool(torch.cpu._is_avx512_bf16_supported())


class History(list):
    """The loss of every step. ``validation`` holds ``(step, loss)`` pairs, ``best_step`` the step whose weights were kept."""

    def __init__(self, losses: Sequence[float] = ()):
        super().__init__(losses)
        self.validation: list[tuple[int, float]] = []
        self.best_step: int | None = None


def fit(module: nn.Module, loss: Callable[[], Tensor], steps: int, lr: float, label: str = "training", *,
        optimizer: torch.optim.Optimizer | None = None, schedule: Callable[[int], float] | None = None,
        clip: float | None = None, accumulate: int = 1, mixed: bool = False, validate: Callable[[], Tensor | float] | None = None,
        every: int = 100, patience: int | None = None, checkpoint: str | Path | None = None,
        generators: Sequence[torch.Generator] = ()) -> History:
    """Minimise ``loss()`` over the parameters of ``module``; returns the loss of every step.

    ``optimizer`` is Adam unless given; step ``t = 1, 2, …`` uses the rate ``lr * schedule(t)``. ``clip`` bounds the norm of all
    gradients together, ``accumulate`` averages that many calls of ``loss`` before a step, ``mixed`` computes in bfloat16 where
    the device gains from it. ``validate()`` is called in evaluation mode every ``every`` steps; after ``patience`` calls without
    a new minimum training ends. With ``patience`` the weights of the minimum are put back at the end.
    ``checkpoint`` names a file written every ``every`` steps and at the end. If it exists training goes on from it and arrives
    where it would have arrived: weights, optimizer and random numbers (also those of ``generators``) are in it.
    Shows a progress bar, except while notebooks are built. Raises ValueError for numbers that make no sense or a checkpoint of
    another model, FloatingPointError, with the step and the likely cause, when the loss stops being a number.
    """
    _check(steps, lr, clip, accumulate, every, patience, validate)
    from tqdm.auto import tqdm

    optimizer = optimizer or torch.optim.Adam(module.parameters(), lr=lr)
    history, waited, best = History(), 0, None
    path = None if checkpoint is None else Path(checkpoint)
    if path is not None and path.exists():
        history, waited, best = _load(path, module, optimizer, generators)
    device = next(module.parameters()).device
    low = torch.autocast(device.type, torch.bfloat16) if mixed and gains_from_bfloat16(device) else nullcontext()
    quiet = os.environ.get("COURSE_BUILD") == "1"
    bar = tqdm(total=steps, initial=len(history), desc=label, leave=False, file=sys.stdout, disable=quiet)
    with bar:
        while len(history) < steps and not (patience and waited >= patience):
            step = len(history) + 1
            for group in optimizer.param_groups:
                group["lr"] = lr * (schedule(step) if schedule else 1.0)
            optimizer.zero_grad()
            total = 0.0
            for _ in range(accumulate):
                with low:
                    value = loss()
                if value.dim():
                    raise ValueError(f"a loss must be one number, got shape {tuple(value.shape)}: average it")
                number = value.item()
                if not abs(number) < float("inf"):  # true for NaN as well
                    raise FloatingPointError(_why(module, number, step, lr))
                (value / accumulate).backward()
                total += number / accumulate
            if clip is not None:
                nn.utils.clip_grad_norm_(module.parameters(), clip)
            optimizer.step()
            history.append(total)
            bar.update()
            if step % 10 == 0:
                bar.set_postfix(loss=f"{total:.3f}", refresh=False)
            if step % every and step != steps:
                continue
            if validate is not None:
                history.validation.append((step, _measure(module, validate)))
                if history.validation[-1][1] <= min(value for _, value in history.validation):
                    waited, history.best_step = 0, step
                    best = copy.deepcopy(module.state_dict()) if patience else None
                else:
                    waited += 1
            if path is not None:
                _save(path, module, optimizer, generators, history, waited, best)
    if best is not None:
        module.load_state_dict(best)
    return history


def _check(steps: int, lr: float, clip: float | None, accumulate: int, every: int, patience: int | None, validate: Any) -> None:
    if steps < 1 or not lr > 0:
        raise ValueError(f"steps={steps} must be at least 1 and lr={lr} positive")
    if accumulate < 1 or every < 1 or (patience is not None and patience < 1):
        raise ValueError(f"accumulate={accumulate}, every={every} and patience={patience} must be at least 1")
    if clip is not None and not clip > 0:
        raise ValueError(f"clip={clip} must be positive")
    if patience is not None and validate is None:
        raise ValueError(f"patience={patience} needs validate, the loss that is watched")


@torch.no_grad()
def _measure(module: nn.Module, validate: Callable[[], Tensor | float]) -> float:
    training = module.training
    module.eval()
    try:
        return float(validate())
    finally:
        module.train(training)


def _why(module: nn.Module, number: float, step: int, lr: float) -> str:
    """What a learner should look at when the loss is not a number any more."""
    broken = [name for name, p in module.named_parameters() if not torch.isfinite(p).all()]
    if broken:
        return (f"the loss is {number} at step {step}, because the weights are not finite any more ({broken[0]}): the update of "
                f"step {step - 1} was too large, or its gradient was. Lower lr={lr}, warm up, or clip the gradients.")
    huge = max(p.detach().abs().max().item() for p in module.parameters())
    if huge > 1e4:
        return f"the loss is {number} at step {step} and the largest weight {huge:.1e}: training diverges. Lower lr={lr} or clip."
    return (f"the loss is {number} at step {step}, although all weights are finite: look for log(0), a division by zero, an overflow "
            "in 16 bits, or a softmax over a fully masked row.")


def _random(generators: Sequence[torch.Generator]) -> dict[str, Any]:
    return {"cpu": torch.get_rng_state(), "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
            "generators": [g.get_state() for g in generators]}


def _save(path: Path, module: nn.Module, optimizer: torch.optim.Optimizer, generators: Sequence[torch.Generator],
          history: History, waited: int, best: dict[str, Tensor] | None) -> None:
    """Write beside the old file, then take its place: a kill in the middle costs nothing."""
    state = {"module": module.state_dict(), "optimizer": optimizer.state_dict(), "random": _random(generators),
             "losses": list(history), "validation": history.validation, "best_step": history.best_step, "waited": waited, "best": best}
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        torch.save(state, beside)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def _load(path: Path, module: nn.Module, optimizer: torch.optim.Optimizer,
          generators: Sequence[torch.Generator]) -> tuple[History, int, dict[str, Tensor] | None]:
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        random = state["random"]
    except Exception as error:
        raise ValueError(f"{path} is not a checkpoint of this loop ({type(error).__name__}); delete it to start again") from None
    shapes = {name: tuple(t.shape) for name, t in module.state_dict().items()}
    if shapes != {name: tuple(t.shape) for name, t in state["module"].items()}:
        raise ValueError(f"{path} belongs to another model: its parameters have other names or shapes; delete it to start again")
    if len(random["generators"]) != len(generators):
        raise ValueError(f"{path} holds {len(random['generators'])} random generators, {len(generators)} were given")
    module.load_state_dict(state["module"])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(random["cpu"])
    if random["cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(random["cuda"])
    for generator, saved in zip(generators, random["generators"], strict=True):
        generator.set_state(saved)
    history = History(state["losses"])
    history.validation = [tuple(pair) for pair in state["validation"]]
    history.best_step = state["best_step"]
    return history, state["waited"], state["best"]
