"""Exercise 04.5: our masks in the form that nn.MultiheadAttention expects."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator
from ..common import sizes


def _loop_mask(mask: Tensor, num_heads: int) -> Tensor:
    """Entry by entry: row b·num_heads + head of the result is sentence b seen by that head."""
    batch, n, m = mask.shape
    out = torch.zeros(batch * num_heads, n, m, dtype=torch.bool)
    for b in range(batch):
        for head in range(num_heads):
            out[b * num_heads + head] = mask[b] == False  # noqa: E712
    return out


def _mask(mask: Tensor, num_heads: int, how: str = "right") -> Tensor:
    batch, n, m = mask.shape
    match how:
        case "not inverted":
            return mask.repeat_interleave(num_heads, dim=0)
        case "heads outside":
            return ~mask.repeat(num_heads, 1, 1)
        case "both":
            return mask.repeat(num_heads, 1, 1)
        case "four axes":
            return ~mask[:, None].expand(batch, num_heads, n, m)
        case "one copy":
            return ~mask
        case "transposed":
            return ~mask.mT.repeat_interleave(num_heads, dim=0)
        case "queries":
            return ~mask.repeat_interleave(num_heads, dim=1)
        case "flat":
            return ~mask.repeat_interleave(num_heads)
        case "opened":
            return (~mask & mask.any(-1, keepdim=True)).repeat_interleave(num_heads, dim=0)
        case "infinity":
            return torch.zeros(mask.shape).masked_fill(~mask, -torch.inf).repeat_interleave(num_heads, dim=0)
        case "numbers":
            return (~mask).float().repeat_interleave(num_heads, dim=0)
        case "any query":
            return ~mask.any(1, keepdim=True).expand(batch, n, m).repeat_interleave(num_heads, dim=0)
    return ~mask.repeat_interleave(num_heads, dim=0)


def _boolean(mask: Tensor) -> Tensor:
    """What is compared: numbers in place of booleans count as different, because PyTorch *adds* them to the scores."""
    return mask.double() if mask.dtype == torch.bool else mask.double() + 2


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    n, m, heads = sizes(g, 3, 3, 8)
    mask = torch.rand(2, n, m, generator=g) < 0.6
    mask[..., -1] |= ~mask.any(-1)  # a row that is hidden everywhere has a case of its own
    mask[0, 0], mask[0, 1, 0], mask[1, 0, 0], mask[1, 1] = True, False, False, True  # no two copies alike
    mask[0, 1, 1] = mask[1, 0, 1] = True
    return [Case(f"2 sentences, {n} queries, {m} keys, {heads} heads", {"mask": mask, "num_heads": heads},
                 shape="(batch·num_heads, query, key)")]


MASK = Exercise(
    id="04.5", title="The other convention", name="mask_for_pytorch", kind="function", stars=2, minutes=8,
    signature="mask_for_pytorch(mask, num_heads) -> (batch·num_heads, n, m)", oracle=_loop_mask, reference=_mask, draw=_draw, raw=_boolean,
    compared="False counted as 0, True as 1",
    parts={"values": 2, "edges": 1},
    fixed=lambda: [
        Case("one sentence, two heads", {"mask": torch.ones(3, 4).tril().bool()[None], "num_heads": 2}, part="edges"),
        Case("one head", {"mask": torch.rand(2, 3, 4, generator=generator(5)) < 0.5, "num_heads": 1}, part="edges"),
        Case("a row that may attend to nothing", {"mask": torch.tensor([[[True, False], [False, False], [True, True]]]),
             "num_heads": 4}, part="edges")],
    twins=(
        Twin("not inverted", partial(_mask, how="not inverted"),
             "The order of the copies is right, but the meaning is not: in PyTorch True hides a pair. Every permitted pair must be False."),
        Twin("heads in the outer loop", partial(_mask, how="heads outside"),
             "Your list runs through all sentences for head 0, then for head 1. PyTorch takes all heads of sentence 0 first: with two "
             "sentences, some masks go to the wrong sentence."),
        Twin("not inverted, heads outside", partial(_mask, how="both"),
             "Two things are wrong: in PyTorch True hides, and all heads of the first sentence come before the second sentence."),
        Twin("heads on an axis of their own", partial(_mask, how="four axes"),
             "The values are right, the shape is not: nn.MultiheadAttention wants batch and heads on one axis, three axes in all."),
        Twin("one copy for all heads", partial(_mask, how="one copy"),
             "nn.MultiheadAttention does not broadcast over the heads: it expects one matrix for each head of each sentence."),
        Twin("queries and keys swapped", partial(_mask, how="transposed"),
             "Rows of a mask belong to queries, here and there. Nothing needs transposing."),
        Twin("queries repeated", partial(_mask, how="queries"),
             "You repeated along the axis of the queries. The copies go along the first axis."),
        Twin("repeated without an axis", partial(_mask, how="flat"),
             "Without an axis, repeating flattens the tensor and repeats its single entries. Name the axis."),
        Twin("hidden rows opened", partial(_mask, how="opened"),
             "You open the rows in which everything is hidden. That is not part of this task: the same pairs stay hidden, only written "
             "in the other convention."),
        Twin("minus infinity instead of True", partial(_mask, how="infinity"),
             "PyTorch adds a mask of numbers to the scores, so yours would work. But the docstring asks for booleans."),
        Twin("numbers instead of booleans", partial(_mask, how="numbers"),
             "PyTorch adds a mask of numbers to the scores, so your ones would hide nothing. Keep the mask boolean."),
        Twin("taken for a padding mask", partial(_mask, how="any query"),
             "You gave all queries of a sentence the same row. A padding mask is like that, but this one says something for each pair."),
    ),
)
