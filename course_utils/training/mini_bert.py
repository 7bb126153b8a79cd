"""A BERT small enough to pre-train on a laptop, on the prose that Python itself carries (``text/prose.py``).

Chapter 09 compares it with counting, and chapter 10 asks it to write. Every eighth page (topic of the
language reference, module of the standard library) is held out.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from ..models.bert import IGNORED, BertConfig, BertForPretraining
from ..text import prose
from ..text.pretraining import Batch, make_batch, next_sentence_pairs
from ..text.wordpiece import WordPiece, basic_words
from ..text.wordpiece import train as train_vocabulary
from .loop import History, fit
from .model_file import load_model, save_model
from .schedules import warmup_linear

FILE = Path(__file__).with_name("mini_bert.safetensors")
Documents = list[list[list[int]]]


class Corpus(NamedTuple):
    """A tokenizer made from the training pages, and the pages as ids: documents of sentences."""

    tokenizer: WordPiece
    training: Documents
    held_out: Documents


def read_corpus(vocab_size: int = 1_000, docstrings: bool = False, tokenizer: WordPiece | None = None) -> Corpus:
    """The language reference, with ``docstrings`` also those of the standard library; a tokenizer is trained unless one is given."""
    training, held_out = prose.training_and_held_out(docstrings)
    if tokenizer is None:
        words = Counter(word for page in training for paragraph in page for word in basic_words(paragraph))
        tokenizer = WordPiece(train_vocabulary(words, vocab_size))

    def as_ids(page: Sequence[str]) -> list[list[int]]:
        return [tokenizer.encode(sentence).ids[1:-1] for paragraph in page for sentence in prose.sentences(paragraph)]

    return Corpus(tokenizer, *([as_ids(page) for page in part] for part in (training, held_out)))


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


@torch.no_grad()
def fill_in(model: BertForPretraining, tokenizer: WordPiece, text: str, top: int = 5) -> list[list[tuple[str, float]]]:
    """For each ``[MASK]`` in the text the ``top`` pieces and their probabilities. ValueError without a [MASK], or too long a text."""
    ids = torch.tensor([tokenizer.encode(text).ids])
    places = (ids[0] == tokenizer.mask_id).nonzero().flatten().tolist()
    if not places:
        raise ValueError("there is no [MASK] in the text; put one where a word should be guessed")
    best = model(ids)[0][0].softmax(-1).topk(min(top, len(tokenizer)), dim=-1)
    return [
        [(tokenizer.pieces[i], p) for i, p in zip(best.indices[place].tolist(), best.values[place].tolist(), strict=True)]
        for place in places
    ]


def save(model: BertForPretraining, tokenizer: WordPiece, path: Path = FILE) -> None:
    """Weights, configuration and vocabulary in one safetensors file."""
    save_model(path, model, model.bert.config, "python benchmarks/stored_models.py mini_bert", pieces=tokenizer.pieces)


def load_mini_bert(path: str | Path = FILE) -> tuple[BertForPretraining, WordPiece]:
    """The committed model, in evaluation mode, and its tokenizer. ValueError when the file holds something else."""
    model, facts = load_model(path, "mini-BERT", lambda config: BertForPretraining(BertConfig(**config)), ("pieces",))
    return model, WordPiece(facts["pieces"])
