"""Chapter 10: four heads on the gazette's body, trained from a few labels, graded on 400 texts (results: ``benchmarks/gazette.py``)."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..models.bert import IGNORED, Bert, SequenceClassifier, SpanClassifier, TokenClassifier, best_span
from ..text.gazette_tasks import LABELS
from ..text.spans import span_scores
from ..training.gazette_bert import WORDS
from .ch10_finetuning import collate, finetune

Head = Callable[[str, Bert], nn.Module]  # from a task and a body to the body with what the task puts on top
STEPS = {"opinions": 150, "names": 150, "answers": 200, "answers of two": 200, "pairs": 300}


class Data(NamedTuple):
    """A task as tensors: ids, segments and mask ``(text, n)``; labels ``(text,)``, for names ``(text, n)``, for answers ``(text, 2)``."""

    ids: Tensor
    segments: Tensor
    mask: Tensor
    labels: Tensor


def tensors(task: str, items: Sequence[Any]) -> Data:
    """What the model reads, ``[CLS] first [SEP]`` or ``[CLS] first [SEP] second [SEP]``, and what it has to say."""
    two = task in ("pairs", "answers", "answers of two")
    encoded = [WORDS.encode(item[0], item[1] if two else None) for item in items]
    ids, segments, mask = collate(encoded)
    if task in ("opinions", "pairs"):
        labels = torch.tensor([LABELS[task].index(item.label) for item in items])
    elif task == "names":
        labels = torch.full_like(ids, IGNORED)
        for row, item in zip(labels, items, strict=True):
            row[1 : 1 + len(item.tags)] = torch.tensor([LABELS["names"].index(tag) for tag in item.tags])
    else:
        before = torch.tensor([len(item.question) + 2 for item in items])[:, None]  # [CLS], the question, [SEP]
        labels = before + torch.tensor([[item.first, item.last] for item in items])
    return Data(ids, segments, mask, labels)


def head_for(task: str, body: Bert) -> nn.Module:
    """The body with the layer that this task puts on top."""
    if task == "names":
        return TokenClassifier(body, len(LABELS["names"]))
    return SequenceClassifier(body, len(LABELS[task])) if task in LABELS else SpanClassifier(body)


def loss_of(task: str, model: nn.Module, data: Data) -> Tensor:
    """Cross-entropy of one label, of every word's label, or the mean of that of start and end."""
    ids, segments, mask, labels = data
    if task in LABELS:
        scores = model(ids, segments, mask)  # (text, label) or (text, n, label)
        return F.cross_entropy(scores.flatten(0, -2), labels.flatten())
    start, end = model(ids, segments, mask, mask & (segments == 1))
    return (F.cross_entropy(start, labels[:, 0]) + F.cross_entropy(end, labels[:, 1])) / 2


@torch.no_grad()
def grade(task: str, model: nn.Module, data: Data) -> float:
    """Share of right labels; F1 of whole names; share of answers that are exactly right."""
    ids, segments, mask, labels = data
    if task not in LABELS:
        scores = model(ids, segments, mask, mask & (segments == 1))
        said = [best_span(start, end, 4)[:2] for start, end in zip(*scores, strict=True)]
        return sum(list(span) == wanted for span, wanted in zip(said, labels.tolist(), strict=True)) / len(said)
    guess = model(ids, segments, mask).argmax(-1)
    if task != "names":
        return (guess == labels).double().mean().item()
    tags = [
        [[LABELS[task][t] for t in row[asked].tolist()] for row, asked in zip(part, labels != IGNORED, strict=True)]
        for part in (labels, guess)
    ]
    return span_scores(*tags)[2]


def fine_tune(
    task: str, body: Bert, train: Data, seed: int = 0, lr: float = 1e-3, steps: int | None = None, head: Head = head_for
) -> nn.Module:
    """A new head on this body, trained together with whatever in the body is not frozen, in batches of 16."""
    torch.manual_seed(seed)
    model = head(task, body)
    count = len(train.ids)
    epochs = max(1, (steps or STEPS[task]) // -(-count // 16))
    finetune(model, lambda rows: loss_of(task, model, Data(*(part[rows] for part in train))), count, epochs, lr, seed=seed)
    return model
