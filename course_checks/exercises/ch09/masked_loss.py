"""Exercise 09.5: the loss of the selected tokens alone. The oracle walks over single tokens in double precision."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..common import IGNORED, Case, FunctionExercise, Registered, generator, integers, randn
from .callables import VOCAB, toy_head


def masked_loss(hidden: Tensor, labels: Tensor, head: Callable) -> tuple[Tensor, Tensor]:
    chosen = labels != -100  # (batch, n)
    wanted = labels[chosen]
    logits = head(hidden[chosen])  # (selected, vocab)
    log_p = torch.log_softmax(logits, dim=-1)
    losses = -log_p[torch.arange(len(wanted)), wanted]
    return losses.sum() / max(len(losses), 1), logits


def oracle(hidden: Tensor, labels: Tensor, head: Callable) -> tuple[Tensor, Tensor]:
    total, rows = hidden.sum().double() * 0 + 0, []  # -0 + 0 = 0
    for b, t in (labels != IGNORED).nonzero().tolist():
        rows.append(toy_head(hidden[b, t][None])[0])
        total = total + torch.logsumexp(rows[-1].double(), 0) - rows[-1][labels[b, t]].double()
    logits = torch.stack(rows) if rows else hidden.new_zeros(0, VOCAB)
    return (total / max(len(rows), 1)).float(), logits


def arguments(g: torch.Generator, n: int, counts: list[int], d: int = 6, head: str = "toy_head") -> dict:
    labels = torch.full((len(counts), n), IGNORED)
    for row, count in zip(labels, counts, strict=True):
        row[torch.randperm(n, generator=g)[:count]] = integers(g, 1, VOCAB, count)
    if counts[0]:
        labels[0, (labels[0] != IGNORED).nonzero()[0, 0]] = 0  # an id like any other
    return {"hidden": randn(g, len(counts), n, d), "labels": labels, "head": Registered(head)}


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    two, three = arguments(g, 7, [2, 4]), arguments(g, 9, [4, 0, 1], 5)
    return [
        Case("2 inputs of 7 tokens, 2 and 4 of them selected", two, gradients=("hidden",), shape="()"),
        Case("3 inputs of 9 tokens, 4, 0 and 1 of them selected", three, gradients=("hidden",), shape="()"),
    ]


def fixed() -> list[Case]:
    g = generator(9)
    one, five, none = arguments(g, 4, [1]), arguments(g, 6, [2, 0, 3], 4, "head_for_five"), arguments(g, 5, [0, 0])
    label = "a head that takes the 5 selected tokens alone, in one call"
    return [
        Case("a single selected token", one, gradients=("hidden",), shape="()"),
        Case(label, five, gradients=("hidden",), shape="()", calls={"head": 1}),
        Case("nothing is selected", none, "nothing selected", shape="()"),
    ]


NAMES, FORBIDDEN = ("loss", "logits"), ("course_utils.models.bert.BertForPretraining.loss",)
EXERCISE = FunctionExercise(right=masked_loss, oracle=oracle, draw=draw, fixed=fixed, outputs=NAMES, forbidden=FORBIDDEN)
