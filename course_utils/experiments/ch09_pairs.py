"""Chapter 09: does B follow A? Pairs from the town gazette, and a head on [CLS] (results: ``benchmarks/gazette.py --only follows``)."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..models.bert import Bert
from ..text import gazette
from ..text.vocabulary import pad
from ..training.gazette_bert import WORDS
from ..training.loop import History, fit
from ..training.schedules import warmup_linear


class Pair(NamedTuple):
    """Two spans of one or two sentences, as lists of words, and whether the second follows the first."""

    first: list[str]
    second: list[str]
    follows: bool


TASKS = ("next", "same topic", "other topic", "order")


def is_review(document: gazette.Document) -> bool:
    """Whether a document is a review; if not, it is about people."""
    return any(word in ("was", "found") for sentence in document for word in sentence)


def make_pairs(task: str, count: int, seed: int = 0) -> list[Pair]:
    """Spans A and B; in every second pair B follows A. In the others B is from another document (task "next"), from another one of the
    same topic or of the other topic (people, reviews), or A and B are exchanged ("order")."""
    if task not in TASKS:
        raise ValueError(f"task={task!r} is unknown; choose one of {TASKS}")
    documents, draw, found = gazette.documents(count, seed + 1_000), Random(seed), []
    for number, document in enumerate(documents):
        cut = draw.randrange(1, len(document))
        first, second = document[max(0, cut - 2) : cut], document[cut : cut + 2]
        if number % 2 and task == "order":
            first, second = second, first
        elif number % 2:
            other = document
            while other is document or task.endswith("topic") and (is_review(other) == is_review(document)) != (task == "same topic"):
                other = draw.choice(documents)
            start = draw.randrange(1, len(other))
            second = other[start : start + 2]
        found.append(Pair([w for s in first for w in s], [w for s in second for w in s], not number % 2))
    return found


class Data(NamedTuple):
    """Pairs as tensors: ids, segments and mask ``(pair, n)``, labels ``(pair,)``: 1 where B follows."""

    ids: Tensor
    segments: Tensor
    mask: Tensor
    labels: Tensor


def pair_tensors(found: Sequence[Pair]) -> Data:
    """``[CLS] A [SEP] B [SEP]``, padded to the longest."""
    encoded = [WORDS.encode(pair.first, pair.second) for pair in found]
    ids, segments = pad([row.ids for row in encoded]), pad([row.segments for row in encoded])
    return Data(ids, segments, ids != WORDS.pad_id, torch.tensor([int(pair.follows) for pair in found]))


class PairHead(nn.Module):
    """A body; on its state of [CLS] a linear layer and tanh, BERT's pooler, and a linear layer to two numbers."""

    def __init__(self, body: Bert):
        super().__init__()
        d = body.config.d_model
        self.bert, self.head = body, nn.Sequential(nn.Linear(d, d), nn.Tanh(), nn.Linear(d, 2))

    def forward(self, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        return self.head(self.bert(ids, segments, mask)[:, 0])  # (pair, 2)


def train_pairs(body: Bert, data: Data, seed: int = 0, lr: float = 5e-4, batch: int = 16) -> tuple[PairHead, History]:
    """Body and head, once through the pairs."""
    torch.manual_seed(seed)
    model = PairHead(body)
    order = torch.randperm(len(data.labels)).split(batch)
    waiting = list(order)

    def loss() -> Tensor:
        ids, segments, mask, labels = (part[waiting[-1]] for part in data)
        waiting.pop()
        n = int(mask.sum(1).max())  # no more pads than this batch needs
        return F.cross_entropy(model(ids[:, :n], segments[:, :n], mask[:, :n]), labels)

    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
    history = fit(model, loss, len(order), lr, "pairs", optimizer=optimizer, clip=1.0, schedule=warmup_linear(len(order)))
    return model.eval(), history


@torch.no_grad()
def judged(model: PairHead, data: Data) -> Tensor:
    """Which pairs are judged rightly, ``(pair,)``."""
    scores = torch.cat([model(*part) for part in zip(*(x.split(100) for x in data[:3]), strict=True)])
    return scores.argmax(-1) == data.labels


def shuffled(data: Data, seed: int = 0) -> Data:
    """The same pairs, and labels that have nothing to do with them."""
    return data._replace(labels=data.labels[torch.randperm(len(data.labels), generator=torch.Generator().manual_seed(seed))])
