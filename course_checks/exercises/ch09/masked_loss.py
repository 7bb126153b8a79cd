"""Exercise 09.5: the loss of the selected tokens alone. The oracle walks over single tokens in double precision."""

from collections.abc import Callable

import torch
from torch import Tensor

from ...case import Case, Registered, generator
from ...exercise import FunctionExercise
from ..common import IGNORED, integers, randn
from .callables import VOCAB, toy_head


def masked_loss(hidden: Tensor, labels: Tensor, head: Callable) -> tuple[Tensor, Tensor]:
    chosen = labels != IGNORED
    wanted = labels[chosen]
    rows = hidden[chosen]
    logits = head(rows)
    scores = logits
    log_p = torch.log_softmax(scores, -1)
    losses = -log_p[torch.arange(len(wanted)), wanted]
    return (losses.sum() / max(len(losses), 1), logits)


def _oracle(hidden: Tensor, labels: Tensor, head: Callable) -> tuple[Tensor, Tensor]:
    total, rows = hidden.sum().double() * 0, []
    for b in range(len(labels)):
        for t in range(labels.shape[1]):
            if labels[b, t] != IGNORED:
                rows.append(toy_head(hidden[b, t][None])[0])
                total = total + torch.logsumexp(rows[-1].double(), 0) - rows[-1][labels[b, t]].double()
    logits = torch.stack(rows) if rows else hidden.new_zeros(0, VOCAB)
    return (total / max(len(rows), 1)).float(), logits


def _args(g: torch.Generator, batch: int, n: int, counts: list[int], d: int = 6, head: str = "toy_head") -> dict:
    labels = torch.full((batch, n), IGNORED)
    for row, count in zip(labels, counts, strict=True):
        row[torch.randperm(n, generator=g)[:count]] = integers(g, 1, VOCAB, count)
    if counts[0]:
        labels[0, (labels[0] != IGNORED).nonzero()[0, 0]] = 0  # an id like any other
    return {"hidden": randn(g, batch, n, d), "labels": labels, "head": Registered(head)}


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        Case("2 inputs of 7 tokens, 2 and 4 of them selected", _args(g, 2, 7, [2, 4]), gradients=("hidden",), shape="()"),
        Case("3 inputs of 9 tokens, 4, 0 and 1 of them selected", _args(g, 3, 9, [4, 0, 1], 5), gradients=("hidden",), shape="()"),
    ]


def _fixed() -> list[Case]:
    g = generator(9)
    return [
        Case("a single selected token", _args(g, 1, 4, [1]), gradients=("hidden",), shape="()"),
        Case(
            "a head that takes the 5 selected tokens alone, in one call",
            _args(g, 3, 6, [2, 0, 3], 4, "head_for_five"),
            gradients=("hidden",),
            shape="()",
            calls={"head": 1},
        ),
        Case("nothing is selected", _args(g, 2, 5, [0, 0]), part="nothing selected", shape="()"),
    ]


EXERCISE = FunctionExercise(
    file=__file__,
    right=masked_loss,
    oracle=_oracle,
    draw=_draw,
    fixed=_fixed,
    outputs=("loss", "logits"),
    forbidden=("course_utils.models.bert.BertForPretraining.loss",),
)
