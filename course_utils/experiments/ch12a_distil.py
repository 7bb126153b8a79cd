"""Chapter 12a teaches a small BERT with the probabilities of a larger one.

Stored results: ``python benchmarks/family_encoders.py --only distil``.
Source: Hinton et al. 2015, section 2; used for BERT by Sanh et al. 2019 (DistilBERT), section 2.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..models.bert import IGNORED, BertForPretraining
from ..text.pretraining import make_batch, next_sentence_pairs
from ..training.loop import History, fit
from ..training.mini_bert import Corpus
from ..training.schedules import warmup_linear


def distillation_loss(student: Tensor, teacher: Tensor, temperature: float = 2.0) -> Tensor:
    """``T² · KL(teacher ‖ student)`` of both logits ``(n, vocab_size)`` divided by T, mean over n; no gradient for the teacher.

    A higher temperature makes the teacher's small probabilities count; the factor T² keeps the size of the gradient.
    ValueError for shapes that differ or a temperature that is not positive.
    """
    if student.shape != teacher.shape or temperature <= 0:
        shapes = f"student {tuple(student.shape)}, teacher {tuple(teacher.shape)}"
        raise ValueError(f"{shapes}, temperature={temperature}: the shapes must be the same and the temperature positive")
    taught = (teacher.detach() / temperature).log_softmax(-1)
    return temperature**2 * F.kl_div((student / temperature).log_softmax(-1), taught, reduction="batchmean", log_target=True)


def cut(teacher: BertForPretraining, kept: Sequence[int]) -> BertForPretraining:
    """A student that begins with the teacher's embeddings, head, and the blocks ``kept`` (counted from 0), as DistilBERT does."""
    stack = teacher.bert.encoder.blocks
    if not kept or not all(0 <= number < len(stack) for number in kept):
        raise ValueError(f"kept={list(kept)} must name blocks of 0 to {len(stack) - 1}, at least one")
    student = copy.deepcopy(teacher)
    student.bert.encoder.blocks = nn.ModuleList(student.bert.encoder.blocks[number] for number in kept)
    student.bert.config = replace(teacher.bert.config, num_layers=len(kept))
    return student


def teach(
    student: BertForPretraining,
    teacher: BertForPretraining,
    corpus: Corpus,
    steps: int,
    share: float = 0.5,
    temperature: float = 2.0,
    lr: float = 5e-4,
    batch: int = 16,
    seed: int = 0,
    loss: Callable[..., Tensor] | None = None,
) -> History:
    """Hidden tokens of the corpus: ``share`` of the loss is the teacher's distribution, the rest the tokens themselves; 0: no teacher.

    ``loss(student, teacher, labels, temperature, share)`` from logits takes the place of ours.
    """
    g, pairs = torch.Generator().manual_seed(seed), next_sentence_pairs(corpus.training, teacher.bert.config.max_len, seed)

    def step() -> Tensor:
        rows = torch.randint(len(pairs), (batch,), generator=g).tolist()
        b = make_batch([pairs[row] for row in rows], corpus.tokenizer, g)
        chosen = b.labels != IGNORED
        logits = student.tokens(student.bert(b.ids, b.segments, b.mask)[chosen])
        hard = F.cross_entropy(logits, b.labels[chosen])
        if not share:
            return hard
        with torch.no_grad():
            taught = teacher.tokens(teacher.bert(b.ids, b.segments, b.mask)[chosen])
        if loss:
            return loss(logits, taught, b.labels[chosen], temperature, share)
        return share * distillation_loss(logits, taught, temperature) + (1 - share) * hard

    optimizer = torch.optim.AdamW(student.parameters(), lr=lr, weight_decay=0.01)
    student.train()
    history = fit(student, step, steps, lr, "teaching", optimizer=optimizer, clip=1.0, schedule=warmup_linear(steps))
    student.eval()
    return history


@torch.no_grad()
def hidden_score(model: BertForPretraining, corpus: Corpus, passes: int = 6, seed: int = 9) -> tuple[float, float]:
    """Mean nats of a hidden token on the held-out pages, and the share guessed right; the same tokens for every model."""
    g, n = torch.Generator().manual_seed(seed), model.bert.config.max_len
    pairs = [pair for number in range(passes) for pair in next_sentence_pairs(corpus.held_out, n, number)]
    nats, right = [], []
    for start in range(0, len(pairs), 64):
        b = make_batch(pairs[start : start + 64], corpus.tokenizer, g)
        chosen = b.labels != IGNORED
        logits = model.tokens(model.bert(b.ids, b.segments, b.mask)[chosen])
        nats.append(F.cross_entropy(logits, b.labels[chosen], reduction="none"))
        right.append(logits.argmax(-1) == b.labels[chosen])
    return torch.cat(nats).mean().item(), torch.cat(right).double().mean().item()
