"""A small BERT for the town gazette (``text/gazette.py``), pre-trained by filling gaps, and tables of neighbours to compare it with.

Chapter 09 pre-trains one for a short time, and chapter 10 fine-tunes the committed one.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ..models.bert import IGNORED, Bert, BertConfig, BertForPretraining
from ..models.positions import sinusoidal
from ..text import gazette
from ..text.pretraining import Batch, Shares, mask_tokens
from ..text.vocabulary import pad
from ..text.wordpiece import WordPiece
from .loop import History, fit
from .model_file import load_model
from .schedules import warmup_linear

FILE = Path(__file__).with_name("gazette_bert.safetensors")
RATE = 0.25  # of the words are gaps
WORDS = gazette.tokenizer()
_SIZES: dict[str, Any] = {"vocab_size": len(WORDS), "d_model": 96, "num_heads": 4, "d_ff": 384, "num_layers": 3, "max_len": 64}
CONFIG = BertConfig(**_SIZES, dropout=0.0, norm_eps=1e-5, pooler=False, init_std=0.02 * (768 / 96) ** 0.5, norm_place="pre")
SMALL = replace(CONFIG, d_model=64, d_ff=256, num_layers=2, init_std=0.02 * (768 / 64) ** 0.5)  # for a quarter of a minute


def new_model(seed: int = 0, config: BertConfig = CONFIG) -> BertForPretraining:
    """A body that has read nothing, and its heads. Positions start as sinusoids, so that near places have similar vectors."""
    torch.manual_seed(seed)
    model = BertForPretraining(config)
    embeddings = model.bert.embeddings
    with torch.no_grad():
        nn.init.normal_(embeddings.token.weight, std=0.3)
        embeddings.position.weight.copy_(0.3 * 2**0.5 * sinusoidal(config.max_len, config.d_model))
    return model


def rows_of(documents: Sequence[gazette.Document], draw: Random) -> list[tuple[list[int], list[int]]]:
    """Ids and segments: every second document in one segment, the others cut into two at a random sentence."""
    rows = []
    for document in documents:
        cut = draw.randrange(1, len(document)) if draw.random() < 0.5 else len(document)
        ids, segments = [WORDS.cls_id], [0]
        for segment, part in enumerate((document[:cut], document[cut:])):
            if part:
                words = [WORDS.ids[word] for sentence in part for word in sentence]
                ids += [*words, WORDS.sep_id]
                segments += [segment] * (len(words) + 1)
        rows.append((ids, segments))
    return rows


def gaps(
    rows: Sequence[tuple[list[int], list[int]]], generator: torch.Generator, rate: float = RATE, shares: Shares = (0.8, 0.1, 0.1)
) -> Batch:
    """A padded batch with new gaps; full stops and special tokens are never asked. Its last part, ``is_next``, is empty."""
    ids, segments = (pad([row[part] for row in rows]) for part in (0, 1))
    maskable = (ids > WORDS.mask_id) & (ids != WORDS.ids["."])
    inputs, labels = mask_tokens(ids, maskable, len(WORDS), WORDS.mask_id, generator, rate, shares)
    return Batch(inputs, segments, ids != WORDS.pad_id, labels, torch.empty(0, dtype=torch.long))


def gap_loss(model: BertForPretraining, batch: Batch) -> Tensor:
    """Cross-entropy at the gaps, in nats."""
    chosen = batch.labels != IGNORED
    hidden = model.bert(batch.ids, batch.segments, batch.mask)[chosen]  # (gap, d_model)
    return nn.functional.cross_entropy(model.tokens(hidden), batch.labels[chosen])


def pretrain(
    documents: Sequence[gazette.Document],
    steps: int,
    seed: int = 0,
    lr: float = 3e-3,
    batch: int = 16,
    rate: float = RATE,
    shares: Shares = (0.8, 0.1, 0.1),
    config: BertConfig = CONFIG,
) -> tuple[BertForPretraining, History]:
    """Fill gaps for ``steps`` batches: new gaps whenever a document is shown again. AdamW, 10 % warm-up, then down in a line."""
    return pretrain_on(gap_batches(documents, seed, batch, rate, shares), steps, seed, lr, config)


def gap_batches(
    documents: Sequence[gazette.Document], seed: int = 0, batch: int = 16, rate: float = RATE, shares: Shares = (0.8, 0.1, 0.1)
) -> Callable[[], Batch]:
    """Gives the next batch: all documents in random order, then again, with other gaps."""
    generator, draw = torch.Generator().manual_seed(seed), Random(seed)
    waiting: list = []

    def next_batch() -> Batch:
        if len(waiting) < batch:
            waiting[:] = rows_of(draw.sample(documents, len(documents)), draw)
        return gaps([waiting.pop() for _ in range(batch)], generator, rate, shares)

    return next_batch


def pretrain_on(
    next_batch: Callable[[], Batch], steps: int, seed: int = 0, lr: float = 3e-3, config: BertConfig = CONFIG
) -> tuple[BertForPretraining, History]:
    """The same with batches that somebody else makes."""
    model = new_model(seed, config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
    schedule = warmup_linear(steps)
    history = fit(model, lambda: gap_loss(model, next_batch()), steps, lr, "pre-training", optimizer=optimizer, clip=1.0, schedule=schedule)
    return model.eval(), history


def test_gaps(documents: Sequence[gazette.Document] | None = None, rate: float = 0.15, seed: int = 0) -> Batch:
    """One batch of held-out documents; all gaps are [MASK]."""
    rows = rows_of(gazette.held_out() if documents is None else documents, Random(seed))
    return gaps(rows, torch.Generator().manual_seed(seed), rate, (1.0, 0.0, 0.0))


class Score(NamedTuple):
    """Share of gaps filled with the right word, and the mean loss in nats."""

    accuracy: float
    loss: float


@torch.no_grad()
def score(model: BertForPretraining, batch: Batch) -> Score:
    """How a model fills the gaps of a batch."""
    chosen = batch.labels != IGNORED
    hidden = torch.cat([model.bert(*part) for part in zip(*(x.split(64) for x in batch[:3]), strict=True)])
    logits, wanted = model.tokens(hidden[chosen]), batch.labels[chosen]
    return Score((logits.argmax(-1) == wanted).double().mean().item(), nn.functional.cross_entropy(logits, wanted).item())


def score_by_shown(model: BertForPretraining, rate: float = 0.15) -> dict[str, float]:
    """Share of gaps filled rightly on held-out documents when all gaps show [MASK], all show another word, all show the word itself."""
    rows, found = rows_of(gazette.held_out(), Random(0)), {}
    for name, shares in (("[MASK]", (1.0, 0.0, 0.0)), ("another word", (0.0, 1.0, 0.0)), ("the word", (0.0, 0.0, 1.0))):
        found[name] = score(model, gaps(rows, torch.Generator().manual_seed(0), rate, shares)).accuracy
    return found


class Neighbours:
    """A table of the training text: the most frequent word between the same neighbours; fewer of them where they were never seen.

    ``left`` and ``right``: how many words on either side. ``accuracy(batch)`` is the share of gaps it fills rightly; gaps among the
    neighbours stay gaps, as they do for a model, unless ``true_neighbours`` asks for the true words. ``echo``: how many times a
    count is taken for a word that the row shows elsewhere; 20 was best of 1, 5, 20 and 100 on the held-out gaps.
    """

    def __init__(self, documents: Sequence[gazette.Document], left: int, right: int, echo: int = 1):
        self.echo = echo
        self.sizes = sorted({(min(left, k), min(right, k)) for k in range(max(left, right) + 1)}, key=sum, reverse=True)
        self.counts: dict[tuple, Counter] = defaultdict(Counter)
        for ids, _ in rows_of(documents, Random(0)):
            for place, word in enumerate(ids):
                if word > WORDS.mask_id and word != WORDS.ids["."]:
                    for size in self.sizes:
                        self.counts[self._key(ids, place, size)][word] += 1

    @staticmethod
    def _key(ids: Sequence[int], place: int, size: tuple[int, int]) -> tuple:
        left, right = size
        return size, tuple(ids[max(0, place - left) : place]), tuple(ids[place + 1 : place + 1 + right])

    def guess(self, ids: Sequence[int], place: int) -> int:
        """The word for the gap at ``place`` of a row of ids."""
        found = next(self.counts[key] for size in self.sizes if (key := self._key(ids, place, size)) in self.counts)
        shown = {*ids[:place], *ids[place + 1 :]}
        return max(found, key=lambda word: found[word] * (self.echo if word in shown else 1))

    def accuracy(self, batch: Batch, true_neighbours: bool = False) -> float:
        """Share of the gaps of a batch filled rightly."""
        ids = torch.where(batch.labels != IGNORED, batch.labels, batch.ids) if true_neighbours else batch.ids
        places = (batch.labels != IGNORED).nonzero().tolist()
        rows = [row[: int(mask.sum())] for row, mask in zip(ids.tolist(), batch.mask, strict=True)]
        return sum(self.guess(rows[r], place) == int(batch.labels[r, place]) for r, place in places) / len(places)


def gazette_model(path: str | Path = FILE) -> tuple[BertForPretraining, WordPiece]:
    """The committed model with its heads, in evaluation mode, and the words. ValueError when the file holds something else."""
    model, _ = load_model(path, "BERT of the gazette", lambda config: BertForPretraining(BertConfig(**config)))
    return model, gazette.tokenizer()


def gazette_body(path: str | Path = FILE) -> tuple[Bert, WordPiece]:
    """A fresh copy of the committed body, without heads, and the words."""
    model, words = gazette_model(path)
    return model.bert, words
