"""A GPT small enough to pre-train on a laptop, on the prose that Python itself carries (``text/prose.py``).

Chapter 11a trains one for a minute, and looks at and fine-tunes the committed one. Every eighth page (topic of the language
reference, module of the standard library) is held out.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from ..models.decoder import Decoder, DecoderConfig
from ..models.gpt import GPT, GPTConfig
from ..text import prose
from ..text.bpe import ByteBPE
from .loop import History, evaluating, fit
from .model_file import load_model, save_model
from .schedules import warmup_cosine

FILE = Path(__file__).with_name("mini_gpt.safetensors")


class Pages(NamedTuple):
    """Training and held-out pages, each a text whose paragraphs are lines."""

    training: list[str]
    held_out: list[str]


def read_corpus(docstrings: bool = False) -> Pages:
    """The language reference, with ``docstrings`` also those of the standard library."""
    return Pages(*(["\n".join(page) for page in pages] for pages in prose.training_and_held_out(docstrings)))


def as_stream(tokenizer: ByteBPE, pages: Sequence[str]) -> Tensor:
    """All pages as one row of ids ``(tokens,)``, the end-of-document token behind each."""
    return torch.tensor([i for page in pages for i in [*tokenizer.encode(page), tokenizer.end_id]])


def window_loss(model: GPT, stream: Tensor, batch: int, generator: torch.Generator) -> Callable[[], Tensor]:
    """A loss for ``fit``: the mean over ``batch`` windows of ``max_len`` tokens that begin anywhere in the stream."""
    reach = torch.arange(model.config.max_len + 1)

    def loss() -> Tensor:
        starts = torch.randint(len(stream) - len(reach) + 1, (batch, 1), generator=generator)
        return model.loss(stream[starts + reach])

    return loss


@torch.no_grad()
def nats(model: GPT, stream: Tensor, stride: int | None = None) -> float:
    """Sum of ``-ln p`` over every token of the stream but the first, each scored once.

    Windows of ``max_len`` advance by ``stride`` (half of it unless given); each scores only what no earlier window has scored.
    """
    size = model.config.max_len
    stride, total, done = stride or size // 2, 0.0, 0
    with evaluating(model):
        while done < len(stream) - 1:
            start = max(0, min(done + stride, len(stream) - 1) - size) if done else 0
            ids = stream[start : start + size + 1]
            losses = F.cross_entropy(model(ids[None, :-1])[0], ids[1:], reduction="none")
            total += losses[done - start :].sum().item()
            done = start + len(losses)
    return total


def bits_per_character(model: GPT, stream: Tensor, pages: Sequence[str]) -> float:
    """``nats / (ln 2 · characters)``; the end of a document counts as one character, which a text file needs as well."""
    return nats(model, stream) / (math.log(2) * sum(len(page) + 1 for page in pages))


def pretrain(
    stream: Tensor, config: GPTConfig, steps: int, lr: float = 3e-3, batch: int = 16, seed: int = 0, **options: Any
) -> tuple[GPT | Decoder, History]:
    """Train from scratch on windows drawn at random, the rate rising for a twentieth of the steps and then falling.

    A ``DecoderConfig`` makes a ``Decoder``, any other a ``GPT``. ``options`` go to ``fit``; there ``validate`` takes the model.
    """
    torch.manual_seed(seed)
    model = Decoder(config) if isinstance(config, DecoderConfig) else GPT(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.1, betas=(0.9, 0.95), fused=True)
    loss = window_loss(model, stream, batch, torch.Generator().manual_seed(seed))
    if "validate" in options:
        options["validate"] = partial(options["validate"], model)
    schedule = warmup_cosine(steps, max(1, steps // 20), floor=0.02)
    history = fit(model, loss, steps, lr, "pre-training", optimizer=optimizer, clip=1.0, schedule=schedule, **options)
    return model.eval(), history


def save(model: GPT, tokenizer: ByteBPE, path: Path = FILE) -> None:
    """Weights, configuration and merges in one safetensors file."""
    merges = [[part.hex() for part in pair] for pair in tokenizer.merges]
    save_model(path, model, model.config, "python benchmarks/stored_models.py mini_gpt", merges=merges)


def load_mini_gpt(path: str | Path = FILE) -> tuple[GPT, ByteBPE]:
    """The committed model, in evaluation mode, and its tokenizer. ValueError when the file holds something else."""
    model, facts = load_model(path, "mini-GPT", lambda config: GPT(GPTConfig(**config)), ("merges",))
    return model, ByteBPE([(bytes.fromhex(a), bytes.fromhex(b)) for a, b in facts["merges"]])
