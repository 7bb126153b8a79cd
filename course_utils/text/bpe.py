"""Byte-pair encoding on bytes, as GPT-2 does it: no text is unknown, and every text comes back exactly.

Sources: Sennrich et al. 2016 (section 3.2); Radford et al. 2019 (section 2.2), whose pattern first cuts text into words.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import regex

from .merging import Merger, join

END = "<|endoftext|>"
# Endings such as 's, then letters, digits, other marks, each with at most one space in front, then white space.
WORDS = regex.compile(r"'(?:s|t|re|ve|m|ll|d)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")


def _printable() -> dict[int, str]:
    """How GPT-2's files show a byte: printable ones as themselves, the others as characters from U+0100 on."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    return {b: chr(b) for b in plain} | {b: chr(256 + n) for n, b in enumerate(sorted(set(range(256)) - set(plain)))}


SHOWN = _printable()


class ByteBPE:
    """Text <-> ids. ``tokens`` lists the bytes of each id, ``merges`` pairs in the order in which they are to be joined.

    The 256 single bytes and the result of every merge need an id; ValueError otherwise, or for a token that occurs twice.
    ``END``, which separates documents, is the last id; it stands for no bytes and text never encodes to it.
    """

    def __init__(self, merges: Sequence[tuple[bytes, bytes]], tokens: Sequence[bytes] | None = None) -> None:
        self.merges = list(merges)
        self.tokens = [bytes([i]) for i in range(256)] + [a + b for a, b in self.merges] if tokens is None else list(tokens)
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        if len(self.ids) < len(self.tokens):
            raise ValueError(f"{len(self.tokens) - len(self.ids)} of {len(self.tokens)} tokens occur twice")
        if lacking := [t for t in [*(bytes([i]) for i in range(256)), *(a + b for a, b in self.merges)] if t not in self.ids]:
            raise ValueError(f"{len(lacking)} tokens have no id, the first is {lacking[0]!r}")
        self.end_id = len(self.tokens)
        self._rank = {pair: i for i, pair in enumerate(self.merges)}
        self._known: dict[str, list[int]] = {}

    def __len__(self) -> int:
        return len(self.tokens) + 1

    def encode(self, text: str) -> list[int]:
        """Ids of a text; words (with the space before them) are split on their own."""
        return [i for word in WORDS.findall(text) for i in self._word(word)]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids; bytes that are not UTF-8 (half a character) show as U+FFFD. ValueError for an id that does not exist."""
        return self.decode_bytes(ids).decode("utf-8", errors="replace")

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The exact bytes of ids; the end of a document has none."""
        found = []
        for i in ids:
            if not 0 <= i <= self.end_id:
                raise ValueError(f"id {i} is outside the vocabulary of {len(self)} tokens")
            if i != self.end_id:
                found.append(self.tokens[i])
        return b"".join(found)

    def _word(self, word: str) -> list[int]:
        if word not in self._known:
            parts = [bytes([b]) for b in word.encode("utf-8", errors="surrogatepass")]
            while len(parts) > 1:
                pair = min(zip(parts, parts[1:], strict=False), key=lambda p: self._rank.get(p, len(self._rank)))
                if pair not in self._rank:
                    break
                parts = join(parts, pair, pair[0] + pair[1])
            if len(self._known) > 100_000:  # bounded, however long the text
                self._known.clear()
            self._known[word] = [self.ids[part] for part in parts]
        return self._known[word]

    @classmethod
    def train(cls, texts: Iterable[str], vocab_size: int, min_count: int = 2) -> ByteBPE:
        """Join the most frequent pair until there are ``vocab_size`` ids, or none occurs ``min_count`` times. ValueError below 257."""
        if vocab_size < 257:
            raise ValueError(f"vocab_size={vocab_size} must be at least 257: 256 bytes and the end of a document")
        counts = Counter(word for text in texts for word in WORDS.findall(text))
        merger = Merger({word: [bytes([b]) for b in word.encode("utf-8", errors="surrogatepass")] for word in counts}, counts)
        merges: list[tuple[bytes, bytes]] = []
        made: set[bytes] = set()
        while len(made) < vocab_size - 257 and (pair := merger.best(min_count, lambda p: merger.pairs[p])):
            merger.merge(pair, pair[0] + pair[1])
            if pair[0] + pair[1] not in made:  # two ways to the same bytes: one id would have two merges
                made.add(pair[0] + pair[1])
                merges.append(pair)
        return cls(merges)

    @classmethod
    def from_files(cls, folder: str | Path) -> ByteBPE:
        """Read GPT-2's ``vocab.json`` and ``merges.txt``, where each byte is written as a printable character."""
        folder, back = Path(folder), {shown: byte for byte, shown in SHOWN.items()}
        vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
        lines = (folder / "merges.txt").read_text(encoding="utf-8").splitlines()
        pairs = [line.split(" ") for line in lines if line and not line.startswith("#version")]
        merges = [(bytes(back[c] for c in a), bytes(back[c] for c in b)) for a, b in pairs]
        names = sorted((name for name in vocabulary if name != END), key=vocabulary.get)
        if [vocabulary[name] for name in names] != list(range(len(names))) or vocabulary.get(END, len(names)) != len(names):
            raise ValueError(f"{folder.name}: the ids in vocab.json must be 0, 1, 2 …, with {END} last")
        return cls(merges, [bytes(back[c] for c in name) for name in names])

    def save(self, folder: str | Path) -> None:
        """Write ``vocab.json`` and ``merges.txt`` as GPT-2 and the libraries that read it expect them."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        names = ["".join(SHOWN[b] for b in token) for token in self.tokens]
        ids = {name: i for i, name in enumerate([*names, END])}
        (folder / "vocab.json").write_text(json.dumps(ids, ensure_ascii=False), encoding="utf-8")
        lines = [" ".join("".join(SHOWN[b] for b in part) for part in pair) for pair in self.merges]
        (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *lines, ""]), encoding="utf-8")
