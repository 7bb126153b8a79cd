"""A BERT small enough to pre-train on a laptop, on the prose that Python itself carries (``text/prose.py``).

Chapter 12a takes it as a teacher; the companions of 12a and 12b ask it, too. Every eighth page (topic of the
language reference, module of the standard library) is held out.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..models.bert import BertConfig, BertForPretraining
from ..text import prose
from ..text.wordpiece import WordPiece, basic_words
from ..text.wordpiece import train as train_vocabulary
from .model_file import load_model

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


def load_mini_bert(path: str | Path = FILE) -> tuple[BertForPretraining, WordPiece]:
    """The committed model, in evaluation mode, and its tokenizer. ValueError when the file holds something else."""
    model, facts = load_model(path, "mini-BERT", lambda config: BertForPretraining(BertConfig(**config)), ("pieces",))
    return model, WordPiece(facts["pieces"])
