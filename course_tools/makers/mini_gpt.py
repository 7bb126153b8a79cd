"""The small GPT of chapter 11a."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from course_utils.models.decoder import Decoder, DecoderConfig
from course_utils.models.gpt import GPT, GPTConfig
from course_utils.text.bpe import ByteBPE
from course_utils.training.loop import History, fit
from course_utils.training.mini_gpt import FILE, nats, window_loss
from course_utils.training.schedules import warmup_cosine

from .model_file import save_model
from .stopping import fit_until_best


def bits_per_character(model: GPT, stream: Tensor, pages: Sequence[str]) -> float:
    """``nats / (ln 2 · characters)``; the end of a document counts as one character, which a text file needs as well."""
    return nats(model, stream) / (math.log(2) * sum(len(page) + 1 for page in pages))


def pretrain(
    stream: Tensor, config: GPTConfig, steps: int, lr: float = 3e-3, batch: int = 16, seed: int = 0, patience: int = 0, **options: Any
) -> tuple[GPT | Decoder, History]:
    """Train from scratch on windows drawn at random, the rate rising for a twentieth of the steps and then falling.

    A ``DecoderConfig`` makes a ``Decoder``, any other a ``GPT``. ``options`` go to ``fit``; there ``validate`` takes the model. With
    ``patience`` training ends early, as in ``fit_until_best``.
    """
    torch.manual_seed(seed)
    model = Decoder(config) if isinstance(config, DecoderConfig) else GPT(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.1, betas=(0.9, 0.95), fused=True)
    loss = window_loss(model, stream, batch, torch.Generator().manual_seed(seed))
    if "validate" in options:
        options["validate"] = partial(options["validate"], model)
    schedule = warmup_cosine(steps, max(1, steps // 20), floor=0.02)
    train: Callable[..., History] = partial(fit_until_best, patience=patience) if patience else fit
    history = train(model, loss, steps, lr, "pre-training", optimizer=optimizer, clip=1.0, schedule=schedule, **options)
    return model.eval(), history


def save(model: GPT, tokenizer: ByteBPE, path: Path = FILE) -> None:
    """Weights, configuration and merges in one safetensors file."""
    merges = [[part.hex() for part in pair] for pair in tokenizer.merges]
    save_model(path, model, model.config, "python benchmarks/stored_models.py mini_gpt", merges=merges)
