"""Chapter 13a: the mini-GPT with weights, or a cache, of few bits. One committed model and one text: no seeds, no training."""

import copy
import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from ..models.gpt import GPT
from ..models.quantise import quantise
from ..text.bpe import ByteBPE
from ..training.mini_gpt import as_stream, nats, read_corpus


def held_out(tokenizer: ByteBPE) -> tuple[Tensor, int]:
    """The held-out pages of the language reference, ``(6673,)`` tokens, and how many characters they stand for."""
    stream = as_stream(tokenizer, read_corpus().held_out)
    return stream, len(tokenizer.decode(stream.tolist()))


def bits(model: GPT, text: tuple[Tensor, int]) -> float:
    """Bits a character of the text."""
    stream, characters = text
    return nats(model, stream) / (math.log(2) * characters)


def matrices(model: GPT) -> dict[str, nn.Parameter]:
    """The weights that are matrices, by name; the table of positions is not counted."""
    return {name: p for name, p in model.named_parameters() if p.dim() == 2 and not name.startswith("position")}


@torch.no_grad()
def rounded(model: GPT, number: int, kind: str) -> tuple[GPT, float]:
    """A copy whose matrices have been rounded to ``number`` bits, with a scale for each ``kind`` of part; and its bits a number."""
    model = copy.deepcopy(model)
    used = total = 0.0
    for p in matrices(model).values():
        packed = quantise(p, number, kind)
        p.copy_(packed.restore())
        used, total = used + packed.bits_used() * p.numel(), total + p.numel()
    return model, used / total


@torch.no_grad()
def with_outlier(model: GPT, factor: float, column: int = 7) -> GPT:
    """The same function: one input column of each ``w_1`` is ``factor`` times as large, and the norm before it gives as much less."""
    model = copy.deepcopy(model)
    for block in model.blocks:
        block.feed_forward.w_1.weight[:, column] *= factor
        block.norm_2.weight[column] /= factor
        block.norm_2.bias[column] /= factor
    return model


def with_cache(model: GPT, keys: Callable[[Tensor], Tensor], values: Callable[[Tensor], Tensor]) -> GPT:
    """A copy that changes its keys and values, each ``(batch, heads, tokens, head_dim)``, before it looks at them."""
    model = copy.deepcopy(model)
    for block in model.blocks:
        project = block.attention.project

        def changed(*inputs: Tensor | None, project: Callable = project) -> tuple[Tensor, Tensor, Tensor]:
            q, k, v = project(*inputs)
            return q, keys(k), values(v)

        block.attention.project = changed
    return model


def cache_rounding(number: int, kind: str) -> Callable[[Tensor], Tensor]:
    """Rounds keys or values to ``number`` bits; a scale for all ("tensor"), for each token of each head ("row"), for each feature of
    each head ("feature")."""

    def change(x: Tensor) -> Tensor:
        y = x.mT if kind == "feature" else x
        back = quantise(y.reshape(-1, y.shape[-1]), number, "tensor" if kind == "tensor" else "row").restore().view(y.shape)
        return back.mT if kind == "feature" else back

    return change
