"""One process of a pre-training run: its windows of the text, its steps, its checkpoint."""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
from collections.abc import Sequence
from importlib import util
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn

from ..models.gpt import GPT, GPTConfig
from ..text.files import replacing
from .schedules import warmup_cosine
from .token_file import Tokens


class NextTokenLoss(nn.Module):
    """Model and loss as one module, which is what DDP and torch.compile wrap: ids ``(batch, n + 1)``."""

    def __init__(self, model: GPT):
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor) -> Tensor:
        return self.model.loss(ids)


def windows(ids: np.ndarray, starts: Sequence[int], n: int, device: torch.device) -> Tensor:
    """Windows of n tokens that begin at these places, ``(batch, n)``."""
    return torch.from_numpy(np.stack([ids[s : s + n] for s in starts]).astype(np.int64)).to(device)


def make_optimizer(model: nn.Module, lr: float) -> torch.optim.Optimizer:
    """AdamW; matrices and embeddings shrink, biases and norms do not."""
    parameters = list(model.parameters())
    groups = [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": 0.1},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.95), fused=True)


class Trainer:
    """One process of a run: the texts, the model, the optimizer, and ``done``, how many steps lie behind.

    Windows and dropout of a step depend on the seed and the step alone, so that nothing else has to be kept.
    """

    def __init__(self, options: argparse.Namespace, device: torch.device, rank: int, processes: int) -> None:
        self.options, self.device, self.rank, self.processes = options, device, rank, processes
        tokens = Tokens(**json.loads((options.out / "tokens.json").read_text()))
        self.training, self.validation = tokens.open(options.out)
        torch.manual_seed(options.seed)
        self.model = GPT(
            GPTConfig(
                vocab_size=tokens.vocab_size,
                d_model=options.width,
                num_heads=options.heads,
                num_layers=options.layers,
                max_len=options.context,
                dropout=options.dropout,
            )
        ).to(device)
        self.model.train()
        self.optimizer = make_optimizer(self.model, options.lr)
        self.rate = warmup_cosine(options.steps, min(options.steps - 1, options.steps // 20))
        self.done = 0
        self.loss = self._wrapped(NextTokenLoss(self.model))

    def _wrapped(self, loss: nn.Module) -> nn.Module:
        """The loss, compiled where there is a GPU and a compiler, and averaged over all processes."""
        gpu = self.device.type == "cuda"
        if gpu and util.find_spec("triton") and any(map(shutil.which, ("cc", "gcc", "clang"))):
            loss.compile()
        if self.processes > 1:
            loss = nn.parallel.DistributedDataParallel(loss, device_ids=[self.device.index] if gpu else None)
        return loss

    def low_precision(self) -> contextlib.AbstractContextManager:
        """bfloat16 on a GPU."""
        return torch.autocast("cuda", torch.bfloat16) if self.device.type == "cuda" else contextlib.nullcontext()

    def own_windows(self, step: int) -> Tensor:
        """This process's part of the windows of a step, ``(batch / processes, context + 1)``."""
        draw = torch.Generator().manual_seed(self.options.seed * 1_000_003 + step)
        last = len(self.training) - self.options.context
        starts = torch.randint(last, (self.options.batch,), generator=draw).chunk(self.processes)[self.rank]
        return windows(self.training, starts.tolist(), self.options.context + 1, self.device)

    def step(self, step: int) -> Tensor:
        """Change the weights once; returns the loss of the windows of this process."""
        ids = self.own_windows(step)
        if self.options.dropout:
            torch.manual_seed((self.options.seed * 1_000_003 + step) * 4_099 + self.rank)
        for group in self.optimizer.param_groups:
            group["lr"] = self.options.lr * self.rate(step)
        self.optimizer.zero_grad()
        with self.low_precision():
            loss = self.loss(ids)
        loss.backward()  # DDP averages the gradients; each process has the same number of windows
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.done = step
        return loss.detach()

    def mean(self, losses: Sequence[Tensor]) -> float:
        """The mean over these steps and over all processes. ValueError when it is not a number any more."""
        total = sum(losses, torch.zeros((), device=self.device))
        if self.processes > 1:
            dist.all_reduce(total)
        mean = total.item() / self.processes / len(losses)
        if not np.isfinite(mean):
            raise ValueError(f"the loss is {mean} at step {self.done}: lower --lr {self.options.lr}")
        return mean

    @torch.no_grad()
    def held_out_loss(self) -> float:
        """Mean loss on at most 64 windows of the held-out text, always the same ones."""
        n, ids = self.options.context, self.validation
        starts = np.linspace(0, len(ids) - n - 1, min(64, len(ids) // n), dtype=int)
        self.model.eval()
        with self.low_precision():
            losses = [
                self.model.loss(windows(ids, part, n + 1, self.device)).item() * len(part)
                for part in np.array_split(starts, -(-len(starts) // 16))
            ]
        self.model.train()
        return sum(losses) / len(starts)

    def save(self, path: Path) -> None:
        """All that the rest of the run depends on."""
        with replacing(path) as beside:
            parts = {
                "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "step": self.done,
            }
            torch.save(parts, beside)

    def load(self, path: Path) -> None:
        """What :meth:`save` wrote."""
        parts = torch.load(path, map_location=self.device, weights_only=True)
        self.model.load_state_dict(parts["model"])
        self.optimizer.load_state_dict(parts["optimizer"])
        self.done = parts["step"]
