"""The small BERT of chapters 09 and 10."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from course_utils.models.bert import IGNORED, BertConfig, BertForPretraining
from course_utils.text.pretraining import Batch, make_batch, next_sentence_pairs
from course_utils.text.wordpiece import WordPiece
from course_utils.training.loop import History, fit
from course_utils.training.mini_bert import FILE, Corpus
from course_utils.training.schedules import warmup_linear

from .model_file import save_model


def pretrain(
    corpus: Corpus,
    config: BertConfig,
    steps: int,
    lr: float = 2e-3,
    batch: int = 32,
    seed: int = 0,
    shares: tuple[float, float, float] = (0.8, 0.1, 0.1),
) -> tuple[BertForPretraining, History]:
    """Train both heads from scratch: fresh pairs every epoch, tokens hidden anew in every batch."""
    torch.manual_seed(seed)
    model, generator = BertForPretraining(config), torch.Generator().manual_seed(seed)
    waiting: list = []
    epoch = 0

    def loss() -> Tensor:
        nonlocal waiting, epoch
        if len(waiting) < batch:
            pairs = next_sentence_pairs(corpus.training, config.max_len, seed * 1_000 + epoch)
            waiting, epoch = [pairs[i] for i in torch.randperm(len(pairs), generator=generator)], epoch + 1
        chosen, waiting = waiting[:batch], waiting[batch:]
        tokens, following = model.loss(*make_batch(chosen, corpus.tokenizer, generator, shares))
        return tokens + following

    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
    history = fit(model, loss, steps, lr, "pre-training", optimizer=optimizer, clip=1.0, schedule=warmup_linear(steps))
    return model.eval(), history


class Score(NamedTuple):
    """Shares of right answers: hidden tokens, next sentences, and the most frequent token as everybody's guess; and counts."""

    tokens: float
    most_frequent: float
    next_sentence: float
    selected: int
    pairs: int


@torch.no_grad()
def score(model: BertForPretraining, corpus: Corpus, epochs: int = 2, seed: int = 99) -> Score:
    """How well the held-out pages are filled in, at the 15 % of tokens selected as in training."""
    generator = torch.Generator().manual_seed(seed)
    counts = Counter(i for page in corpus.training for sentence in page for i in sentence)
    usual = counts.most_common(1)[0][0]
    right = guessed = selected = follows = 0
    pairs = [p for e in range(epochs) for p in next_sentence_pairs(corpus.held_out, model.bert.config.max_len, seed + e)]
    for i in range(0, len(pairs), 64):
        b: Batch = make_batch(pairs[i : i + 64], corpus.tokenizer, generator)
        tokens, following = model(b.ids, b.segments, b.mask)
        chosen = b.labels != IGNORED
        right += int((tokens[chosen].argmax(-1) == b.labels[chosen]).sum())
        guessed += int((b.labels[chosen] == usual).sum())
        selected += int(chosen.sum())
        follows += int((following.argmax(-1) == b.is_next).sum())
    return Score(right / selected, guessed / selected, follows / len(pairs), selected, len(pairs))


def save(model: BertForPretraining, tokenizer: WordPiece, path: Path = FILE) -> None:
    """Weights, configuration and vocabulary in one safetensors file."""
    save_model(path, model, model.bert.config, "python benchmarks/stored_models.py mini_bert", pieces=tokenizer.pieces)
