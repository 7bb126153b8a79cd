"""WordPiece: learn a vocabulary of pieces, and split words into the longest pieces, from left to right.

Sources: Schuster and Nakajima 2012; Wu et al. 2016 (section 4.1), as BERT uses it. BERT's training program was never published;
``train`` knows both scores that are told of it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .merging import Merger

PAD, UNKNOWN, CLS, SEP, MASK = SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

# A vocabulary small enough to print: whole words first, then pieces that continue a word.
_WHOLE, _CONTINUED = "time fly flies like an a arrow fruit banana un kind play the", "s ing er ness kind ly a n"
TINY = (*SPECIAL, *_WHOLE.split(), *(f"##{piece}" for piece in _CONTINUED.split()))


def split_word(word: str, vocabulary: Collection[str]) -> list[str]:
    """The longest pieces of ``word``, those inside it with ``##``; ``["[UNK]"]`` where it cannot be split. ValueError for an empty word."""
    if not word:
        raise ValueError("cannot split an empty word")
    pieces: list[str] = []
    start = 0
    while start < len(word):
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            if prefix + word[start:end] in vocabulary:
                pieces.append(prefix + word[start:end])
                start = end
                break
        else:
            return [UNKNOWN]
    return pieces


def tokenize(text: str, vocabulary: Collection[str] = TINY, special: bool = False) -> list[str]:
    """Pieces of a lower-cased, space-separated text, with [CLS] and [SEP] around them if ``special``."""
    pieces = [piece for word in text.lower().split() for piece in split_word(word, vocabulary)]
    return [CLS, *pieces, SEP] if special else pieces


def basic_words(text: str) -> list[str]:
    """Words and single punctuation marks, in lower case and without accents, as BERT's uncased models want them."""
    text = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
    spaced = []
    for c in text:
        category = unicodedata.category(c)
        if category[0] == "C" and c not in "\t\n\r" or c == "\N{REPLACEMENT CHARACTER}":
            continue
        alone = category[0] == "P" or c in "$+<=>^`|~" or 0x3400 <= ord(c) <= 0x9FFF or 0xF900 <= ord(c) <= 0xFAFF or ord(c) >= 0x20000
        spaced.append(f" {c} " if alone and category[0] != "S" or c in "$+<=>^`|~" else c)
    return "".join(spaced).split()


def train(words: Mapping[str, int], size: int, score: str = "frequency", min_count: int = 2) -> list[str]:
    """A vocabulary of ``size`` pieces from words and how often each occurs: special tokens, characters, then merged pieces.

    Each step joins one pair of neighbouring pieces: for ``"frequency"`` the most frequent (as byte-pair encoding does), for
    ``"likelihood"`` the one with the highest ``count(ab) / (count(a) · count(b))``, which loves rare pieces that have no other
    company. Pairs seen fewer than ``min_count`` times are left alone, so the vocabulary may end smaller. Ties: alphabet.
    Raises ValueError when ``size`` cannot hold the special tokens and all characters, or for another score or min_count below 1.
    """
    if score not in ("frequency", "likelihood") or min_count < 1:
        raise ValueError(f"score={score!r} must be 'frequency' or 'likelihood', and min_count={min_count} at least 1")
    splits = {word: [word[0], *("##" + c for c in word[1:])] for word, n in words.items() if word and n > 0}
    vocabulary = [*SPECIAL, *sorted({piece for pieces in splits.values() for piece in pieces})]
    if size < len(vocabulary):
        letters = len(vocabulary) - len(SPECIAL)
        raise ValueError(f"size={size} is too small: {len(SPECIAL)} special tokens and {letters} characters need {len(vocabulary)}")
    merger = Merger(splits, words)

    def worth(pair: tuple[str, str]) -> float:
        together = merger.pairs[pair]
        return together if score == "frequency" else together / (merger.singles[pair[0]] * merger.singles[pair[1]])

    while len(vocabulary) < size and (pair := merger.best(min_count, worth)):
        joined = pair[0] + pair[1].removeprefix("##")
        if joined not in vocabulary:
            vocabulary.append(joined)
        merger.merge(pair, joined)
    return vocabulary


class Encoded(NamedTuple):
    """Ids, segments (0 for the first text, 1 for the second) and, for each piece, the number of its word (None: special)."""

    ids: list[int]
    segments: list[int]
    words: list[int | None]


class WordPiece:
    """A vocabulary with its ids. ValueError when a special token is missing or a piece occurs twice."""

    def __init__(self, vocabulary: Sequence[str] = TINY):
        self.pieces = tuple(vocabulary)
        self.ids = {piece: i for i, piece in enumerate(self.pieces)}
        if missing := [token for token in SPECIAL if token not in self.ids]:
            raise ValueError(f"the vocabulary lacks {', '.join(missing)}")
        if len(self.ids) < len(self.pieces):
            raise ValueError(f"{len(self.pieces) - len(self.ids)} pieces occur twice in the vocabulary")
        self.pad_id, self.unk_id, self.cls_id, self.sep_id, self.mask_id = (self.ids[token] for token in SPECIAL)
        self._known: dict[str, list[int]] = {token: [self.ids[token]] for token in SPECIAL}

    def __len__(self) -> int:
        return len(self.pieces)

    @classmethod
    def from_file(cls, path: str | Path) -> WordPiece:
        """Read BERT's ``vocab.txt``: one piece in each line."""
        return cls(Path(path).read_text(encoding="utf-8").splitlines())

    def word_ids(self, word: str) -> list[int]:
        """Ids of the pieces of one word; a special token such as ``[MASK]`` is one piece."""
        if word not in self._known:
            pieces = split_word(word, self.ids) if len(word) <= 100 else [UNKNOWN]
            self._known[word] = [self.ids[piece] for piece in pieces]
        return self._known[word]

    def encode(self, first: str | Sequence[str], second: str | Sequence[str] | None = None, max_len: int | None = None) -> Encoded:
        """``[CLS] first [SEP]`` or ``[CLS] first [SEP] second [SEP]``; a text is a string or a list of words.

        Too long? Pieces go from the end of the longer text until ``max_len`` fit. ValueError when not even the special tokens do.
        """
        texts = [self._pieces(text) for text in (first, second) if text is not None]
        room = float("inf") if max_len is None else max_len - 1 - len(texts)
        if room < 0:
            raise ValueError(f"max_len={max_len} has no room for [CLS] and {len(texts)} [SEP]")
        while sum(map(len, texts)) > room:
            max(texts, key=len).pop()
        found = Encoded([self.cls_id], [0], [None])
        for segment, text in enumerate(texts):
            found.ids.extend([*(i for i, _ in text), self.sep_id])
            found.segments.extend([segment] * (len(text) + 1))
            found.words.extend([*(word for _, word in text), None])
        return found

    def _pieces(self, text: str | Sequence[str]) -> list[tuple[int, int]]:
        words = _words(text) if isinstance(text, str) else text
        found = []
        for number, word in enumerate(words):
            parts = [word] if word in SPECIAL else basic_words(word)
            found += [(i, number) for part in parts for i in self.word_ids(part)]
        return found

    def decode(self, ids: Iterable[int]) -> str:
        """Pieces joined to words, special tokens left out (except [UNK] and [MASK])."""
        pieces = [self.pieces[i] for i in ids]
        return " ".join(p for p in pieces if p not in (PAD, CLS, SEP)).replace(" ##", "")


def _words(text: str) -> list[str]:
    """Words and punctuation, with special tokens written into the text kept whole."""
    for token in SPECIAL:
        text = text.replace(token, f" {token} ")
    return [word for part in text.split() for word in ([part] if part in SPECIAL else basic_words(part))]
