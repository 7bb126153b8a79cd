"""WordPiece, applied: split a word into the longest pieces of a vocabulary, from left to right.

Source: Wu et al. 2016 (section 4.1), as BERT uses it. Training a vocabulary is the business of chapter 09.
"""

from __future__ import annotations

from collections.abc import Collection

UNKNOWN = "[UNK]"

# A vocabulary small enough to print: whole words first, then pieces that continue a word.
TINY = ("[PAD]", UNKNOWN, "[CLS]", "[SEP]", "[MASK]", "time", "fly", "flies", "like", "an", "a", "arrow", "fruit", "banana", "un",
        "kind", "play", "the", "##s", "##ing", "##er", "##ness", "##kind", "##ly", "##a", "##n")


def split_word(word: str, vocabulary: Collection[str]) -> list[str]:
    """Pieces of ``word``, the longest first; pieces that continue the word start with ``##``.

    A word that cannot be split completely is ``["[UNK]"]`` as a whole. Raises ValueError for an empty word.
    """
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
    return ["[CLS]", *pieces, "[SEP]"] if special else pieces
