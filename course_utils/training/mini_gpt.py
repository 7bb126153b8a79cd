"""A GPT small enough to pre-train on a laptop, on the prose that Python itself carries (``text/prose.py``).

Chapter 11a trains one for a minute, and looks at and fine-tunes the committed one. Every eighth page (topic of the language
reference, module of the standard library) is held out.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from ..models.gpt import GPT, GPTConfig
from ..text import prose
from ..text.bpe import ByteBPE
from .loop import evaluating
from .model_file import load_model

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


def load_mini_gpt(path: str | Path = FILE) -> tuple[GPT, ByteBPE]:
    """The committed model, in evaluation mode, and its tokenizer. ValueError when the file holds something else."""
    model, facts = load_model(path, "mini-GPT", lambda config: GPT(GPTConfig(**config)), ("merges",))
    return model, ByteBPE([(bytes.fromhex(a), bytes.fromhex(b)) for a, b in facts["merges"]])
